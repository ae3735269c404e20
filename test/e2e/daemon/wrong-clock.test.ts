// A wrong clock is corrected, while the daemon runs or while it is stopped.

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DAY, MINUTE, systemClock } from '../../../src/lib/clock.ts'
import { eventually, eventuallyTrue } from '../../helpers/eventually.ts'
import { type QuickClock, quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, preload, Site } from '../../helpers/site.ts'

const AHEAD = 400 * DAY
const BUSY = { at: 'service', kind: 'answer', status: 503, retryAfter: '600' } as const

let site: Site
let clock: QuickClock
let aheadMs = 0
beforeEach(async () => {
  aheadMs = 0
  site = await Site.open({ inbox: { incompleteAfter: '10m' } })
  // Only the wall clock is wrong; the monotonic clock is right.
  clock = quickClock()
  site.clock = { ...clock, now: () => clock.now() + aheadMs }
})
afterEach(() => site[Symbol.asyncDispose]())

/** untilMoved waits until the next attempt of the feed lies at most ten minutes after a clock that is `ahead`. */
function untilMoved(ahead: number) {
  return eventually(() => {
    const [version] = site.uploads({ feed: 'jobs.xml' })
    const left = Date.parse(version?.nextAttemptAt ?? '') - clock.now() - ahead
    if (version === undefined || !(left > 0 && left <= 10 * MINUTE))
      throw new Error(`it is ${version?.state} for ${left} ms`)
    return version
  })
}

/** setClock sets the wall clock of all commands of the site. */
function setClock(ahead: number): void {
  aheadMs = ahead
}

/** waiting starts a daemon with a clock that is 400 days ahead and a feed that waits for 10 minutes. */
async function waiting() {
  setClock(AHEAD)
  const busy = site.sandbox.faults.add(BUSY)
  const daemon = await site.daemon()
  site.drop('jobs.xml', feedOf(2))
  await eventuallyTrue(() => site.uploads()[0]?.nextAttemptAt)
  busy.remove()
  return daemon
}

describe('a feed that waits for its next attempt under a clock 400 days ahead', () => {
  it.each([
    ['corrected', 0],
    ['set forward by a day', AHEAD + DAY],
  ])('waits for what is left of its time after the clock was %s', async (_, ahead) => {
    await waiting()

    setClock(ahead)
    const { id } = await untilMoved(ahead)
    const before = site.show(id).attempts
    clock.skip(10 * MINUTE)
    await site.until('jobs.xml', 'uploaded')

    expect(before.map(({ outcome }) => outcome)).toEqual(['failed'])
    expect(site.show(id).attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'stored'])
  })

  it('waits no longer than its time after a restart under the right clock', async () => {
    const daemon = await waiting()
    await daemon.stop()

    setClock(0)
    await site.daemon()
    const { id } = await untilMoved(0)
    const before = site.show(id).attempts
    clock.skip(10 * MINUTE)
    await site.until('jobs.xml', 'uploaded')

    expect(before).toHaveLength(1)
  })

  it('is not sent too early while the clock stays wrong', async () => {
    const daemon = await waiting()
    const [before] = site.uploads()
    await daemon.stop()

    await site.daemon()
    site.drop('other.xml', feedOf(3))
    await site.until('other.xml', 'uploaded')

    expect(site.uploads({ feed: 'jobs.xml' })).toEqual([before])
  })
})

it.each([
  ['1970', -systemClock.now() + MINUTE],
  ['2100', 74 * 365 * DAY],
])('feeds are sent with a clock in the year %s, and after it was corrected', async (_, ahead) => {
  setClock(ahead)
  await site.daemon()
  site.drop('a.xml', feedOf(3))
  await site.until('a.xml', 'uploaded')

  setClock(0)
  site.drop('b.xml', feedOf(4))
  await site.until('b.xml', 'uploaded')

  expect(site.sandbox.objects()).toHaveLength(2)
})

it('an incomplete file does not wait for 400 days after a restart with the right clock', async () => {
  setClock(AHEAD)
  const daemon = await site.daemon()
  site.drop('jobs.xml', feedOf(3).slice(0, 200))
  await site.until('jobs.xml', 'incomplete')
  await daemon.stop()

  setClock(0)
  await site.daemon()

  await site.until('jobs.xml', 'rejected')
})

describe('status --check', () => {
  it('is critical while the last listing is dated ahead, until the daemon lists again', async () => {
    const file = join(site.root, 'clock')
    site.env = { ...preload('wrong-clock.ts'), FEEDSYNCD_CLOCK_FILE: file }
    writeFileSync(file, String(AHEAD))
    const daemon = await site.daemonProcess()
    site.drop('jobs.xml', feedOf(2))
    await site.until('jobs.xml', 'uploaded')

    daemon.kill('SIGSTOP')
    rmSync(file)
    const hung = await site.run('status', '--check')
    daemon.kill('SIGCONT')
    const listedNow = async () => expect((await site.run('status', '--check')).code).toBe(0)

    expect(hung.code).toBe(2)
    expect(hung.stdout).toMatch(/^CRITICAL - the last listing of the folder is dated \S+ ahead/)
    await eventually(listedNow)
  })
})

describe('the history', () => {
  const versions = () => site.uploads({ all: true, feed: 'jobs.xml' }).length

  async function old(): Promise<void> {
    site.configure({ state: { historyFor: '30d' }, upload: { keepVersions: 1 } })
    const daemon = await site.daemon()
    for (const postings of [2, 3, 4]) {
      site.drop('jobs.xml', feedOf(postings))
      await eventuallyTrue(() => site.sandbox.objects().length === postings - 1)
    }
    await site.until('jobs.xml', 'uploaded')
    await daemon.stop()
  }

  it('is not pruned while the clock is 400 days ahead of the service', async () => {
    await old()

    setClock(AHEAD)
    const daemon = await site.daemon()
    site.drop('other.xml', feedOf(2))
    await site.until('other.xml', 'uploaded')
    await daemon.stop()

    expect(versions()).toBe(3)
  })

  it('is pruned in time while both clocks agree', async () => {
    await old()

    const db = new Database(join(site.root, 'state', 'feedsyncd.db'))
    db.exec(`UPDATE versions SET detected_at = detected_at - ${40 * DAY}`)
    db.exec(`UPDATE events SET at = at - ${40 * DAY}`)
    db.close()
    const daemon = await site.daemon()
    site.drop('other.xml', feedOf(2))
    await site.logged(daemon, 'old history forgotten')

    expect(versions()).toBeLessThan(3)
  })
})
