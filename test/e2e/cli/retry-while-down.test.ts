// With `retry` a person says that an attempt is worth it now. The probe leaves at once, in spite of the breaker and
// Retry-After, and the command prints the result.

import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { SECOND } from '../../../src/lib/clock.ts'
import { eventually } from '../../helpers/eventually.ts'
import { feedOf } from '../../helpers/feed.ts'
import { statusOf } from '../../helpers/look.ts'
import { Outlet } from '../../helpers/outlet.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { Site } from '../../helpers/site.ts'

const FEEDS = ['a.xml', 'b.xml', 'c.xml', 'd.xml', 'e.xml']

/** down opens a site whose service counts as down for an hour. The service refused each feed once. */
async function down() {
  const clock = quickClock()
  const site = await Site.open({}, { clock })
  const refusal = { at: 'service', kind: 'answer', status: 503, retryAfter: '3600' } as const
  const fault = site.sandbox.faults.add(refusal)
  await site.daemon()
  for (const [n, feed] of FEEDS.entries()) site.drop(feed, feedOf(n + 3))
  await eventually(() => expect(statusOf(site).service.state).toBe('down'))
  for (const feed of FEEDS) await site.until(feed, 'queued')
  const [first] = site.uploads({ feed: 'a.xml' })
  // On this clock a command never stops waiting for the daemon, even on a slow machine.
  site.clock = { ...clock, monotonic: () => 0 }
  return { site, fault, id: String(first?.id) }
}

it('retry sends the probe at once, and prints that the feed is uploaded', async () => {
  const { site, fault, id } = await down()
  await using _ = site
  fault.remove()

  const { code, stdout } = await site.run('retry', id)

  expect(stdout).toMatch(new RegExp(`^version ${id} of a\\.xml is uploaded`))
  expect(code).toBe(0)
})

it('retry makes one attempt, prints why it failed and when the next one follows, and exits 75', async () => {
  const { site, id } = await down()
  await using _ = site

  const { code, stdout, stderr } = await site.run('retry', id)

  expect(code).toBe(75)
  expect(stdout).toMatch(new RegExp(`^version ${id} of a\\.xml is queued`))
  expect(stderr).toMatch(/^error: .*503.*\ntry: next automatic attempt in /)
  expect(site.show(Number(id)).attempts).toHaveLength(2)
})

it('retry --all sends every version that waits', async () => {
  const { site, fault } = await down()
  await using _ = site
  fault.remove()

  const { code, stdout } = await site.run('retry', '--all')

  expect(stdout.match(/ is uploaded/g)).toHaveLength(FEEDS.length)
  expect(code).toBe(0)
})

it('retry --all goes on if one version was discarded after the listing', async () => {
  const { site, fault, id } = await down()
  await using _ = site
  fault.remove()
  const [other] = site.uploads({ feed: 'b.xml' })
  const database = new Database(join(site.root, 'state', 'feedsyncd.db'))
  database.exec(
    `CREATE TRIGGER meanwhile AFTER UPDATE ON versions WHEN new.id = ${id} AND new.reason_code = 'retried'
       BEGIN UPDATE versions SET state = 'discarded' WHERE id = ${other?.id}; END`,
  )
  database.close()

  const { code, stdout } = await site.run('retry', '--all')

  expect(stdout.match(/ is uploaded/g)).toHaveLength(FEEDS.length - 1)
  expect(code).toBe(0)
})

it('retry --all exits 1 with the error of the database if the retry cannot be written', async () => {
  const { site } = await down()
  await using _ = site
  const database = new Database(join(site.root, 'state', 'feedsyncd.db'))
  database.exec(
    `CREATE TRIGGER broken BEFORE UPDATE ON versions WHEN new.reason_code = 'retried'
       BEGIN SELECT RAISE(ABORT, 'a fault of the database'); END`,
  )
  database.close()

  const { code, stderr } = await site.run('retry', '--all')

  expect(stderr).toMatch(/^error: .*a fault of the database/)
  expect(code).toBe(1)
})

it('retry --all sends a failed version even while a newer file of its feed is incomplete', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  const refusal = site.sandbox.faults.add({ at: 'storage', kind: 'answer', status: 413 })
  await site.daemon()
  site.drop('jobs.xml', feedOf(3))
  await site.until('jobs.xml', 'failed')
  site.drop('jobs.xml', feedOf(4).slice(0, -20))
  await site.until('jobs.xml', 'incomplete')
  refusal.remove()

  const { code, stdout } = await site.run('retry', '--all')

  expect(stdout).toMatch(/ of jobs\.xml is uploaded/)
  expect(code).toBe(0)
})

it('retry of a version that fails again says so and exits 1', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  site.sandbox.faults.add({ at: 'storage', kind: 'answer', status: 413 })
  await site.daemon()
  site.drop('jobs.xml', feedOf(3))
  const { id } = await site.until('jobs.xml', 'failed')

  const { code, stdout } = await site.run('retry', String(id))

  expect(stdout).toMatch(/^version 1 of jobs\.xml is failed/)
  expect(code).toBe(1)
})

it('impatient retries do not lengthen the wait for the next automatic attempt', async () => {
  await using outlet = await Outlet.open()
  outlet.fault({ at: 'storage', kind: 'answer', status: 500 })
  const { id } = await outlet.take('jobs.xml')
  await outlet.run(5 * SECOND)
  const waits = () => [...outlet.logged.matchAll(/"waitMs":(\d+)/g)].map(([, ms]) => Number(ms))
  const automatic = waits()

  for (let n = 0; n < 3; n++) {
    outlet.carryOut('retry', id)
    await outlet.run(0)
  }

  const after = waits().slice(automatic.length)
  expect(automatic.length).toBeGreaterThanOrEqual(3)
  // The fifth failure in a row opens the breaker, and its first probe is after 5 s.
  expect(after).toHaveLength(3)
  expect(Math.max(...after)).toBeLessThanOrEqual(6 * SECOND)
})
