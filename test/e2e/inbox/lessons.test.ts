// What watched folders teach, lessons 1 to 5, each against a running daemon: detecting, settling and
// reading.

import { createHash } from 'node:crypto'
import { appendFileSync, renameSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openHistoryReader } from '../../../src/history/tables.ts'
import { type Clock, DAY, MINUTE, systemClock } from '../../../src/lib/clock.ts'
import { eventually } from '../../helpers/eventually.ts'
import { trail } from '../../helpers/look.ts'
import { feedOf, Site } from '../../helpers/site.ts'

/** More than the 16,384 events that the kernel keeps for us. */
const MANY = 20_000
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')
const LAST_YEAR = new Date(2001, 0, 1)

/** The number of versions that the history has, whatever their state. */
function versions(site: Site): number {
  using history = openHistoryReader({ file: join(site.root, 'state', 'feedsyncd.db') })
  return Object.values(history?.count() ?? {}).reduce((sum, count) => sum + count, 0)
}

/** Waits until the one version of `jobs.xml` was found incomplete so often. */
async function incompleteTimes(site: Site, times: number): Promise<void> {
  const found = () =>
    site.uploads({ all: true }).map(({ id }) => trail(site, id).filter((to) => to === 'incomplete'))
  await eventually(() => expect(found()).toEqual([Array(times).fill('incomplete')]))
}

describe('lesson 1: scan is truth, events are hints', () => {
  it.each([
    ['auto', MANY],
    ['poll', 2000],
  ])(
    'a burst of files written while the daemon is blocked is in the history as a whole (watch: %s)',
    async (watch, files) => {
      await using site = await Site.open({ inbox: { watch, quietPeriod: '10m' } })
      const daemon = await site.daemonProcess()

      daemon.kill('SIGSTOP')
      for (let n = 0; n < files; n++) writeFileSync(join(site.inbox, `${n}.xml`), feedOf(1))
      daemon.kill('SIGCONT')

      await eventually(() => expect(versions(site)).toBe(files))
    },
  )
})

describe('lesson 2: settle on observation, not on dates', () => {
  it('a slow writer that sets the date back after each chunk is taken once, whole', async () => {
    await using site = await Site.open()
    await site.daemon()
    const path = join(site.inbox, 'jobs.xml')
    const whole = feedOf(30)
    const chunk = Math.ceil(whole.length / 5)

    for (let n = 1; n <= 5; n++) {
      appendFileSync(path, whole.slice((n - 1) * chunk, n * chunk))
      utimesSync(path, LAST_YEAR, LAST_YEAR)
      await (n < 5 ? incompleteTimes(site, n) : site.until('jobs.xml', 'uploaded'))
    }

    expect(site.uploads({ all: true })).toHaveLength(1)
    expect(site.sandbox.objects().map((object) => object.sha256)).toEqual([sha256(whole)])
  })

  it('a file that is half written at start waits for its other half', async () => {
    await using site = await Site.open()
    const path = join(site.inbox, 'jobs.xml')
    const whole = feedOf(30)
    writeFileSync(path, whole.slice(0, 900))
    utimesSync(path, LAST_YEAR, LAST_YEAR)

    await site.daemon()
    await site.until('jobs.xml', 'incomplete')
    appendFileSync(path, whole.slice(900))
    await site.until('jobs.xml', 'uploaded')

    expect(site.sandbox.objects().map((object) => object.sha256)).toEqual([sha256(whole)])
  })

  it.each([1, -1])(
    'a system clock that jumps by %i day while a file settles is told, and changes nothing for the file',
    async (days) => {
      await using site = await Site.open({ inbox: { quietPeriod: '10m' } })
      let [jumped, passed] = [0, 0]
      const clock: Clock = {
        ...systemClock,
        now: () => systemClock.now() + jumped + passed,
        monotonic: () => systemClock.monotonic() + passed,
      }
      site.clock = clock
      const daemon = await site.daemon()
      site.drop('jobs.xml', feedOf(3))
      await site.passed('jobs.xml', 'settling')

      jumped = days * DAY
      passed = 10 * MINUTE
      await site.until('jobs.xml', 'uploaded')

      expect(site.sandbox.objects()).toHaveLength(1)
      for (const [, said] of daemon.output.matchAll(/^error: (.*)$/gm))
        expect(said).toContain('the clock of this machine')
    },
  )

  it('a writer that closes and reopens is not taken at its first close', async () => {
    await using site = await Site.open()
    await site.daemon()
    const path = join(site.inbox, 'jobs.xml')

    // Each piece is a well-formed end but for the last tag, which the next piece writes.
    writeFileSync(path, '<source><job><title>Nurse</title></job>')
    const first = await site.passed('jobs.xml', 'incomplete')
    appendFileSync(path, '<job><title>Doctor</title></job>')
    await site.passed('jobs.xml', 'incomplete', { after: first })
    appendFileSync(path, '</source>')
    const { postings } = await site.until('jobs.xml', 'uploaded')

    expect(postings).toBe(2)
    expect(site.sandbox.objects()).toHaveLength(1)
  })
})

it('lesson 3: settle in parallel: a growing file delays only itself', async () => {
  await using site = await Site.open({ inbox: { quietPeriod: '500ms' } })
  await site.daemon()
  const growing = join(site.inbox, 'growing.xml')
  writeFileSync(growing, '<source>')
  const uploaded = () => site.uploads({ states: ['uploaded'] })

  for (let n = 0; n < 40; n++) site.drop(`${n}.xml`, feedOf(2))
  await eventually(() => {
    appendFileSync(growing, '<job/>')
    expect(uploaded()).toHaveLength(40)
  })
  const [meanwhile] = site.uploads({ feed: 'growing.xml' })
  appendFileSync(growing, '</source>')
  await site.until('growing.xml', 'uploaded')

  expect(meanwhile?.state).not.toBe('uploaded')
  expect(site.uploads({ all: true })).toHaveLength(41)
})

describe('lesson 4: content decides completeness', () => {
  it('a feed cut at every 50th byte is never uploaded, and each once when it is completed', async () => {
    await using site = await Site.open()
    await site.daemon()
    const whole = Buffer.from(feedOf(30))
    const cuts: string[] = []

    for (let at = 0; at < whole.length - '</source>\n'.length; at += 50) {
      const name = `cut-at-${at}.xml`
      cuts.push(name)
      site.drop(name, whole.subarray(0, at))
    }
    const incomplete = () => site.uploads({ states: ['incomplete'] })
    await eventually(() => expect(incomplete()).toHaveLength(cuts.length))
    expect(site.sandbox.objects()).toEqual([])
    for (const name of cuts) writeFileSync(join(site.inbox, name), whole)
    const uploaded = () => site.uploads({ states: ['uploaded'] })
    await eventually(() => expect(uploaded()).toHaveLength(cuts.length))

    expect(cuts.length).toBeGreaterThan(60)
    expect(site.uploads({ all: true })).toHaveLength(cuts.length)
    expect(site.sandbox.objects().map((object) => object.sha256)).toEqual(
      cuts.map(() => sha256(whole)),
    )
  })

  it('a feed that grows by 50 bytes at a time is one version, uploaded once', async () => {
    await using site = await Site.open()
    await site.daemon()
    const whole = Buffer.from(feedOf(3))
    const path = join(site.inbox, 'jobs.xml')
    const last = whole.length - '</source>\n'.length

    for (let at = 0; at < last; at += 50) {
      writeFileSync(path, whole.subarray(0, at))
      await incompleteTimes(site, at / 50 + 1)
    }
    writeFileSync(path, whole)
    const { id } = await site.until('jobs.xml', 'uploaded')

    expect(site.uploads({ all: true }).map((upload) => upload.id)).toEqual([id])
    expect(site.sandbox.objects().map((object) => object.sha256)).toEqual([sha256(whole)])
  })

  it('a feed that is written again and again, but does not grow, is rejected at its deadline', async () => {
    await using site = await Site.open({ inbox: { incompleteAfter: '15m' } })
    let passed = 0
    const clock: Clock = {
      ...systemClock,
      now: () => systemClock.now() + passed,
      monotonic: () => systemClock.monotonic() + passed,
    }
    site.clock = clock
    await site.daemon()
    const path = join(site.inbox, 'jobs.xml')

    for (const nth of [1, 2, 3]) {
      writeFileSync(path, feedOf(9).slice(0, 500 - nth))
      await site.passed('jobs.xml', 'incomplete', { nth })
      passed += 4 * MINUTE
    }
    const deadline = site.uploads()[0]?.deadlineAt
    passed += 4 * MINUTE
    await site.until('jobs.xml', 'rejected')

    expect(Date.parse(deadline ?? '')).toBeLessThan(clock.now())
    expect(site.uploads()[0]?.hint).toMatch(/its writer stopped/)
    expect(site.uploads({ all: true })).toHaveLength(1)
  })

  it('what is broken in the middle, or declares entities, is rejected with its place', async () => {
    await using site = await Site.open()
    await site.daemon()

    site.drop('broken.xml', '<source>\n<job></title>\n<job/>\n</source>')
    site.drop('bomb.xml', '<!DOCTYPE a [\n<!ENTITY b "bb">\n<!ENTITY c "&b;&b;">\n]>\n<a>&c;</a>')
    const broken = await site.until('broken.xml', 'rejected')
    const bomb = await site.until('bomb.xml', 'rejected')

    expect(broken.reason).toMatch(/^line 2, column \d+: /)
    expect(bomb.reason).toMatch(/^line 1, column \d+: .*internal subset/i)
    expect(site.sandbox.requests()).toEqual([])
  })
})

it('lesson 5: what was hashed is what is sent, whatever happens to the file during its upload', async () => {
  await using site = await Site.open()
  const gate = site.sandbox.faults.add({ at: 'storage', kind: 'gate-at-byte', fileByte: 5000 })
  await site.daemon()
  const whole = feedOf(2000)
  const other = feedOf(2000, 'Doctor')
  const at = (name: string) => join(site.inbox, name)
  for (const name of ['truncated.xml', 'appended.xml', 'replaced.xml']) site.drop(name, whole)

  await gate.held(3)
  truncateSync(at('truncated.xml'), 5000)
  appendFileSync(at('appended.xml'), '<!-- more -->')
  writeFileSync(at('replaced.part'), other)
  renameSync(at('replaced.part'), at('replaced.xml'))
  gate.remove()
  await site.until('appended.xml', 'uploaded', sha256(`${whole}<!-- more -->`))
  await site.until('replaced.xml', 'uploaded', sha256(other))
  await site.until('truncated.xml', 'incomplete')
  await eventually(() => expect(site.uploads({ states: ['uploaded'], all: true })).toHaveLength(5))

  const stored = new Map(
    site.sandbox.objects().map((object) => [object.key, object.sha256] as const),
  )
  for (const { fileUrl, sha256: hash } of site.uploads({ states: ['uploaded'], all: true })) {
    const key = [...stored.keys()].find((name) => fileUrl?.endsWith(name))
    expect(stored.get(key ?? '')).toBe(hash)
  }
  expect(stored.size).toBe(5)
})
