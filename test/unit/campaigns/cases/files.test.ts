import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  contentStampOf,
  readCampaignsFile,
  stableCampaignsFile,
  wantedOf,
} from '../../../../src/app/campaigns.ts'
import { readDesired } from '../../../../src/campaigns/desired.ts'
import type { Config } from '../../../../src/config/config.ts'
import { MINUTE, SECOND, systemClock } from '../../../../src/lib/clock.ts'
import { stampOf } from '../../../../src/lib/file-identity.ts'
import { forever } from '../../../helpers/campaigns/account.ts'
import { entry, fileOf, itemOf } from '../../../helpers/campaigns/reconciling.ts'
import { opened, World } from '../../../helpers/campaigns/world.ts'

function folder() {
  const directory = mkdtempSync(join(tmpdir(), 'feedsyncd-file-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'campaigns.yaml')
  const config = { campaigns: { file, explicit: true } } as Config
  return { file, config }
}

describe('the file is hostile input', () => {
  it('a fifo is refused at once', () => {
    const { file, config } = folder()
    execFileSync('mkfifo', [file])

    expect(readCampaignsFile(config)).toMatchObject({
      kind: 'unusable',
      lines: [expect.stringContaining('not a regular file')],
    })
  })

  it('150 MB are not read', () => {
    const { file, config } = folder()
    writeFileSync(file, '')
    truncateSync(file, 150_000_000)

    expect(readCampaignsFile(config)).toMatchObject({
      kind: 'unusable',
      lines: [expect.stringContaining('larger than 8 MiB')],
    })
  })

  it('NUL padding makes the whole file unusable', () => {
    const { file, config } = folder()
    writeFileSync(file, `${fileOf(entry('A'))}\0\0\0\0`)

    expect(readCampaignsFile(config)).toMatchObject({
      kind: 'unusable',
      lines: [expect.stringContaining(':7:1 a NUL byte')],
    })
  })

  it.each(['a: &x 1', 'a: *x', 'a: !!str 1', 'version: 1\nversion: 1'])('%j is refused', (text) => {
    expect(readDesired(text).kind).toBe('problems')
  })

  it('half a file, cut anywhere: never another budget, and never more', () => {
    const whole = fileOf(
      entry('A', 'endDate: 2027-03-31\ntargeting: { stateProvCodes: [MA] }'),
      entry('B'),
    )

    for (let at = 0; at < whole.length; at++) {
      const reading = readDesired(whole.slice(0, at))
      if (reading.kind === 'problems') continue
      for (const { values } of reading.desired.campaigns)
        expect(values.budget ?? 1_000_000).toBeLessThanOrEqual(1_000_000)
    }
  })

  it('a file that is still being written is waited for', async () => {
    const { file, config } = folder()
    writeFileSync(file, fileOf(entry('A')))
    let now = Date.now()
    const waits: number[] = []
    const sleep = async (ms: number) => {
      waits.push(ms)
      now += ms
      if (waits.length > 1) return
      writeFileSync(file, fileOf(entry('A'), entry('B')))
      utimesSync(file, now / SECOND, now / SECOND)
    }
    const clock = { ...systemClock, now: () => now, monotonic: () => now, sleep }

    const read = await stableCampaignsFile(config, clock, forever)

    expect(waits.length).toBeGreaterThanOrEqual(2)
    expect(read).toMatchObject({
      kind: 'read',
      desired: { campaigns: [{ key: 'A' }, { key: 'B' }] },
    })
  })

  it('a file that is only touched each second has rested once its text did', async () => {
    const { file, config } = folder()
    writeFileSync(file, fileOf(entry('A')))
    let now = Date.now()
    const sleep = async () => {
      now += SECOND
      utimesSync(file, now / SECOND, now / SECOND)
    }
    const clock = { ...systemClock, now: () => now, monotonic: () => now, sleep }

    const read = await stableCampaignsFile(config, clock, forever)

    expect(read.kind).toBe('read')
  })

  it('is looked at again before a write that raises', async () => {
    const { file, config } = folder()
    writeFileSync(file, fileOf(entry('A')))
    const read = readCampaignsFile(config)
    if (read.kind !== 'read') throw new Error('it cannot be read')
    const wanted = wantedOf(read)

    expect(wanted.isCurrent()).toBe(true)
    writeFileSync(file, fileOf(entry('B')))
    expect(wanted.isCurrent()).toBe(false)
  })

  it('written again with the same text is no change: a look goes on, and none begins', () => {
    const { file } = folder()
    const stamp = contentStampOf(file)
    const none = stamp()
    writeFileSync(file, fileOf(entry('A')))
    const [first, before] = [stamp(), stampOf(file)]
    utimesSync(file, 1, 1)
    const [again, after] = [stamp(), stampOf(file)]
    writeFileSync(file, fileOf(entry('B')))

    expect(none).toBeNull()
    expect(after?.text).not.toBe(before?.text)
    expect(again).toBe(first)
    expect(stamp()).not.toBe(first)
  })

  it('replaced between being read and the look: nothing of the older one is raised', () => {
    const { file, config } = folder()
    writeFileSync(file, fileOf(entry('A')))
    const read = readCampaignsFile(config)
    if (read.kind !== 'read') throw new Error('it cannot be read')
    writeFileSync(file, fileOf(entry('B')))

    expect(wantedOf(read).isCurrent()).toBe(false)
  })

  it('a file that changes while it is applied: nothing is raised any more', async () => {
    const { world, host } = opened(fileOf(entry('A'), entry('B'), entry('C')))
    world.trouble = ({ kind }) => {
      if (kind === 'create') host.file = fileOf(entry('A'))
      return null
    }

    const results = await host.apply()

    expect(world.all).toHaveLength(1)
    expect(results).toMatchObject([
      { key: 'A', outcome: 'created' },
      { key: 'B', outcome: 'stale', reason: expect.stringContaining('the file changed') },
    ])
  })

  it.each(['toString', 'constructor', '__proto__'])('%s is a key like any other', async (key) => {
    const { world, host } = opened(fileOf(entry(key)))
    host.feeds = () => ({
      latest: [
        {
          feed: 'f',
          path: 'f',
          version: 1,
          uploadedAt: world.now,
          postings: 3,
          records: '/a/b',
          spool: 'x',
          ids: JSON.parse('{"X":3}'),
        },
      ],
      absence: () => null,
      read: () => Promise.reject(new Error('not asked')),
    })

    await host.apply()
    const plan = await host.plan()

    expect(world.all).toHaveLength(1)
    expect(plan.items).toEqual([])
    expect(plan.feed.waiting).toEqual([{ key, startsSoon: false }])
  })

  it('an empty list in a new entry: it is not created before somebody says that this is meant', async () => {
    const world = World.open()
    const host = world.host(
      fileOf(
        entry('A', 'targeting: { stateProvCodes: [MA], jobTitles: [] }'),
        entry('B', 'targeting: {}'),
      ),
    )

    await host.apply()
    const plan = await host.plan()
    host.file = fileOf(
      entry('A', 'targeting: { stateProvCodes: [MA], jobTitles: [] }\nallPostings: true'),
    )
    await host.apply()

    expect(itemOf(plan, 'A')?.held?.reason).toContain('targeting.jobTitles is an empty list')
    expect(itemOf(plan, 'B')?.held?.reason).toContain('the entry has no targeting')
    expect(world.all).toHaveLength(1)
  })

  it.each<[string, (shown: Record<string, unknown>) => Record<string, unknown>]>([
    [
      'a date without zone',
      (shown) => ({ ...shown, endDate: String(shown.endDate).replace('Z', '') }),
    ],
    ['a date of another zone', (shown) => ({ ...shown, endDate: '2027-03-30T19:00:00' })],
    ['endDate not shown by the service', ({ endDate: _, ...shown }) => shown],
    ['rounded numbers', (shown) => ({ ...shown, budget: Math.round(Number(shown.budget)) })],
    [
      'values as text',
      (shown) => ({ ...shown, budget: Number(shown.budget).toFixed(2), status: 'Running' }),
    ],
    ['cut names', (shown) => ({ ...shown, name: String(shown.name).slice(0, 12) })],
    ['nothing but the id', ({ id }) => ({ id })],
  ])('%s: nothing is written at each look, and a reduction still goes', async (_, shape) => {
    const world = World.open()
    world.shape = shape
    const fields = 'endDate: 2027-03-31\nperiod: once'
    const host = world.host(fileOf(entry('A', fields).replace('100.00', '100.40')))
    await host.apply()
    for (let n = 0; n < 3; n++) {
      world.pass(MINUTE)
      await host.daemon()
    }
    const quiet = world.writes().length
    const plan = await host.plan()
    host.file = fileOf(entry('A', fields).replace('100.00', '100.30'))
    await host.daemon()

    expect(quiet).toBe(1)
    expect(plan.items).toEqual([])
    expect(plan.findings).toEqual([])
    expect(world.campaign('48001').budget).toBe(100.3)
  })
})
