// The crash matrix: SIGKILL ends a real process before, in the middle of and after every durable step of every story.
// The process is started again, and everything must be right at the end. docs/crash-matrix.md is the result, and `-u`
// writes it again. FEEDSYNCD_CRASH=sample kills only at each 41st point, always the same ones.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { OPEN } from '../../src/domain/states.ts'
import type { FaultRule } from '../../src/sandbox/faults/fault-types.ts'
import { killed } from '../helpers/killed.ts'
import { waitForRequest } from '../helpers/sandbox/waiting.ts'
import { finished, Site } from '../helpers/site.ts'
import { SCENARIOS, type Scenario, settled } from './crash-scenarios.ts'
import { CrashTable, inOrder } from './crash-table.ts'

const DOCUMENT = join(import.meta.dirname, '../../docs/crash-matrix.md')
const EVERY = process.env.FEEDSYNCD_CRASH === 'sample' ? 41 : 1
const AT_ONCE = 2
const STORIES = SCENARIOS.map(({ name }) => name)

type Reached = Parameters<typeof waitForRequest>[1]
const FIRST = SCENARIOS[0]?.sent[0] ?? ''

const table = CrashTable.parse(readFileSync(DOCUMENT, 'utf8'))

describe('after a kill at any step, the next start puts everything right', () => {
  for (const [index, scenario] of SCENARIOS.entries()) {
    it(`in the story of ${scenario.name}`, async () => {
      const points = await pointsOf(scenario)

      // In each story a sample begins with a different point.
      const chosen = points.filter((_, n) => (n + 7 * index) % EVERY === 0)
      const outcomes = await eachOf(chosen, (point) => outcomeAt(scenario, point))

      const known = (point: string) => table.outcome(scenario.name, point) ?? 'not in the document'
      table.record(
        scenario.name,
        new Map(points.map((point) => [point, outcomes.get(point) ?? known(point)])),
      )
    })
  }

  it('with the outcomes in docs/crash-matrix.md', async () => {
    await expect(table.text(STORIES)).toMatchFileSnapshot(DOCUMENT)
  })
})

describe('after a kill during a request, the next start puts everything right', () => {
  const cases: { name: string; fault: FaultRule; reached: Reached; ends: string }[] = [
    {
      name: 'the form is requested',
      fault: { at: 'service', kind: 'slow', never: true },
      reached: ({ route }) => route === 'presign',
      ends: 'uploaded (stored)',
    },
    {
      name: 'half of the file was sent',
      fault: { at: 'storage', kind: 'gate-at-byte', fileByte: Buffer.byteLength(FIRST) / 2 },
      reached: ({ held }) => held,
      ends: 'uploaded (unknown, stored)',
    },
    {
      name: 'the last byte was sent, and nothing is stored',
      fault: { at: 'storage', kind: 'lose-answer', stored: false, how: 'silence' },
      reached: ({ fileBytes }) => fileBytes === Buffer.byteLength(FIRST),
      ends: 'uploaded (unknown, stored)',
    },
    {
      name: 'the file is stored, and the answer has not come',
      fault: { at: 'storage', kind: 'lose-answer', stored: true, how: 'silence' },
      reached: ({ stored }) => stored,
      ends: 'uploaded (unknown, stored), stored 2 times',
    },
  ]

  for (const { name, fault, reached, ends } of cases) {
    it(`when ${name}`, async () => {
      const scenario = SCENARIOS[0] as Scenario
      await using site = await Site.open()
      site.sandbox.faults.add({ ...fault, times: 1 })
      await scenario.prepare(site)
      const child = site.spawn('run', '--once')
      const ended = finished(child)

      await waitForRequest(site.sandbox, reached)
      child.kill('SIGKILL')
      await ended
      await settled(site, scenario)

      expect(examined(site, scenario)).toBe(ends)
    })
  }
})

/** pointsOf returns every point that a pass of this story reaches, in order. It checks the outcome without a kill. */
async function pointsOf(scenario: Scenario): Promise<string[]> {
  await using site = await Site.open(scenario.config)
  await scenario.prepare(site)
  const log = join(site.root, 'points.log')

  await killed(site, '', log)

  expect(examined(site, scenario)).toMatch(scenario.ends)
  return inOrder(readFileSync(log, 'utf8').trimEnd().split('\n'))
}

/** outcomeAt kills the story at this point, runs it to its end, and returns its outcome. */
async function outcomeAt(scenario: Scenario, point: string): Promise<string> {
  await using site = await Site.open(scenario.config)
  await scenario.prepare(site)

  expect([point, await killed(site, point)]).toEqual([point, true])
  await settled(site, scenario)

  return examined(site, scenario)
}

/** examined checks everything that is true after every crash, and returns the outcome, which can differ. */
function examined(site: Site, scenario: Scenario): string {
  const versions = site.uploads({ all: true })
  const objects = site.sandbox.objects()
  const shas = scenario.sent.map(sha256)
  const [newest] = site.uploads({ feed: scenario.feed })
  const owed = versions.filter(({ state }) => OPEN.includes(state))

  expect(newest?.state, `${newest?.reason}`).toBe(scenario.ends)
  expect(owed.filter(({ id }) => id !== newest?.id)).toEqual([])
  if (scenario.ends === 'uploaded') expect(newest?.sha256).toBe(shas.at(-1))
  for (const object of objects) expect(shas).toContain(object.sha256)
  for (const sha of shas) {
    const stored = objects.filter((object) => object.sha256 === sha).length
    const ends = versions
      .filter((version) => version.sha256 === sha)
      .flatMap(({ id }) => site.show(id).attempts.map(({ outcome }) => outcome))
    const known = ends.filter((outcome) => outcome === 'stored').length
    const unknown = ends.filter((outcome) => outcome === 'unknown').length
    expect(known, 'a version is stored knowingly once').toBe(1)
    expect(stored).toBeGreaterThanOrEqual(known)
    expect(stored).toBeLessThanOrEqual(known + unknown)
  }
  examineState(site)
  scenario.also?.(site)
  const last = objects.filter((object) => object.sha256 === newest?.sha256).length
  const attempts = newest === undefined ? [] : site.show(newest.id).attempts
  const ends = attempts.map(({ outcome }) => outcome).join(', ')
  return `${newest?.state}${ends && ` (${ends})`}${last > 1 ? `, stored ${last} times` : ''}`
}

/** examineState checks that the spool has exactly the copies that versions name, and that the database is sound. */
function examineState(site: Site): void {
  const state = join(site.root, 'state')
  using db = opened(join(state, 'feedsyncd.db'))
  const named = db.rows<{ spool: string; sha256: string }>(
    'SELECT spool, sha256 FROM versions WHERE spool IS NOT NULL',
  )
  const spooled = readdirSync(join(state, 'spool')).filter((name) => !name.endsWith('.index'))

  expect(db.rows('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
  expect(spooled.sort()).toEqual(named.map(({ spool }) => spool).sort())
  for (const { spool, sha256: expected } of named) {
    expect(sha256(readFileSync(join(state, 'spool', spool)))).toBe(expected)
  }
  const leftovers = readdirSync(site.inbox).filter((name) => name.startsWith('.'))
  expect(leftovers, 'left in the vendor’s folder').toEqual([])
}

function opened(file: string) {
  const db = new Database(file, { readonly: true })
  return {
    rows: <T>(sql: string) => db.prepare(sql).all() as T[],
    [Symbol.dispose]: () => void db.close(),
  }
}

/** eachOf examines `AT_ONCE` points at a time. */
async function eachOf(
  points: string[],
  work: (point: string) => Promise<string>,
): Promise<Map<string, string>> {
  const outcomes = new Map<string, string>()
  const waiting = [...points]
  const lane = async () => {
    for (let point = waiting.shift(); point !== undefined; point = waiting.shift()) {
      outcomes.set(point, await work(point))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  return outcomes
}

function sha256(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
