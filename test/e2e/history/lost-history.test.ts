// The database is lost or replaced by an older one, while the folder of feeds is unchanged. Feeds that were held must
// not be sent as if they were new.

import { createHash } from 'node:crypto'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { pathReportOf } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex')
const stored = (site: Site) => site.sandbox.objects().map((object) => object.sha256)
const database = (site: Site) => join(site.root, 'state', 'feedsyncd.db')

/** loseDatabase does what the hint of a damaged database says. */
function loseDatabase(site: Site): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(database(site) + suffix, { force: true })
}

it('after a lost history each feed of the folder is held with its counts, until a person releases all plausible feeds together, and a collapsed feed by itself', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  const daemon = await site.daemon()
  site.drop('jobs.xml', feedOf(10))
  site.drop('other.xml', feedOf(20))
  await site.until('other.xml', 'uploaded')
  await site.until('jobs.xml', 'uploaded')
  site.drop('jobs.xml', feedOf(1))
  await site.until('jobs.xml', 'held')
  await daemon.stop()

  loseDatabase(site)
  await site.daemon()
  const held = await site.until('jobs.xml', 'held')
  await site.until('other.xml', 'held')
  const sent = stored(site)
  const status = await site.run('status')
  const why = await site.run('show', 'jobs.xml')
  const { because } = await pathReportOf(site, 'jobs.xml')
  const unasked = await site.run('release', '--lost-history')
  const released = await site.run('release', '--lost-history', '--yes')
  await site.until('other.xml', 'uploaded')
  const left = site.uploads({ feed: 'jobs.xml' })[0]
  await site.run('release', String(left?.id))
  await site.until('jobs.xml', 'uploaded')
  site.drop('new.xml', feedOf(3))
  await site.until('new.xml', 'uploaded')

  expect(held).toMatchObject({
    guard: 'history-lost',
    reason:
      'the history was lost, so it is unknown what the service has of this feed, or whether this was held before',
  })
  expect(sent.toSorted()).toEqual([feedOf(10), feedOf(20)].map(sha256).toSorted())
  const command = `feedsyncd release --lost-history --config ${site.configFile}`
  const look = 'look at it: 1 posting now, 10 in the largest kept copy'
  expect(status.stdout).toContain(`  ${look}\n    feedsyncd show ${held.id} --config`)
  expect(status.stdout).toContain('look at it: 20 postings now, 20 in the largest kept copy')
  expect(status.stdout.indexOf(command)).toBeGreaterThan(status.stdout.lastIndexOf('look at it'))
  expect(why.stdout).toContain(look)
  expect(because).toContain('the history was lost')
  expect(unasked).toMatchObject({ code: 64, stderr: expect.stringContaining('--yes') })
  expect(released.code).toBe(0)
  expect(released.stdout).toMatch(/^version \d of other\.xml is queued$/m)
  expect(released.stdout).toMatch(
    /^left held: version \d of jobs\.xml: 1 posting now, 10 in its largest kept copy$/m,
  )
  expect(left).toMatchObject({ state: 'held', keptPostings: null, postings: 1 })
})

it('an older database counts as a lost history until a person releases the feed, because its versions are too old for a comparison', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  const first = await site.daemon()
  site.drop('jobs.xml', feedOf(10))
  await site.until('jobs.xml', 'uploaded')
  await first.stop()
  copyFileSync(database(site), join(site.root, 'backup.db'))
  const second = await site.daemon()
  site.drop('jobs.xml', feedOf(1000))
  await site.until('jobs.xml', 'uploaded', sha256(feedOf(1000)))
  site.drop('jobs.xml', feedOf(8))
  await site.until('jobs.xml', 'held')
  await second.stop()

  loseDatabase(site)
  copyFileSync(join(site.root, 'backup.db'), database(site))
  await site.daemon()
  const held = await site.until('jobs.xml', 'held', sha256(feedOf(8)))
  const sent = stored(site)
  const { code } = await site.run('release', String(held.id))
  await site.until('jobs.xml', 'uploaded', sha256(feedOf(8)))
  site.drop('jobs.xml', feedOf(9))
  await site.until('jobs.xml', 'uploaded', sha256(feedOf(9)))

  expect(held.guard).toBe('history-lost')
  expect(sent).toEqual([sha256(feedOf(10)), sha256(feedOf(1000))])
  expect(code).toBe(0)
})

it('a version that waits in an older database is superseded by the held file, because it might be out of date', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  const first = await site.daemon()
  site.drop('jobs.xml', feedOf(10))
  await site.until('jobs.xml', 'uploaded')
  const down = site.sandbox.faults.add({
    ...({ at: 'service', kind: 'answer', status: 503, retryAfter: '600' } as const),
  })
  site.drop('jobs.xml', feedOf(8))
  const waiting = await site.until('jobs.xml', 'queued', sha256(feedOf(8)))
  await first.stop()
  copyFileSync(database(site), join(site.root, 'backup.db'))
  down.remove()
  const second = await site.daemon()
  await site.run('retry', String(waiting.id))
  await site.until('jobs.xml', 'uploaded', sha256(feedOf(8)))
  site.drop('jobs.xml', feedOf(1000))
  await site.until('jobs.xml', 'uploaded', sha256(feedOf(1000)))
  await second.stop()

  loseDatabase(site)
  copyFileSync(join(site.root, 'backup.db'), database(site))
  await site.daemon()
  await site.run('retry', String(waiting.id))
  const held = await site.until('jobs.xml', 'held', sha256(feedOf(1000)))
  const replaced = await site.passed('jobs.xml', 'superseded')

  expect(held.guard).toBe('history-lost')
  expect(replaced.id).toBe(waiting.id)
  expect(stored(site)).toEqual([10, 8, 1000].map((postings) => sha256(feedOf(postings))))
})

it('releasing a lost history ends the loss, and does not release a version that another guard holds', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  const daemon = await site.daemon()
  site.drop('jobs.xml', feedOf(10))
  await site.until('jobs.xml', 'uploaded')
  site.drop('jobs.xml', '<source></source>')
  await site.until('jobs.xml', 'held')
  await daemon.stop()
  loseDatabase(site)
  await site.daemon()
  await site.until('jobs.xml', 'held')

  const released = await site.run('release', '--lost-history', '--yes')
  const again = await site.run('release', '--lost-history', '--yes')

  expect(released).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('nothing was released'),
  })
  expect(site.uploads()).toMatchObject([{ state: 'held', guard: 'empty' }])
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('no history was lost') })
})

it('a fresh install sends its first feeds, and a crash does not count as a lost history', async () => {
  await using site = await Site.open()
  site.drop('jobs.xml', feedOf(10))
  const daemon = await site.daemonProcess()
  await site.until('jobs.xml', 'uploaded')
  daemon.kill('SIGKILL')
  await new Promise((resolve) => daemon.once('exit', resolve))
  await site.daemon()
  site.drop('first.xml', feedOf(3))

  await site.until('first.xml', 'uploaded')

  expect(stored(site)).toHaveLength(2)
})

it('a release without an id and without --lost-history is a usage error', async () => {
  await using site = await Site.open()
  await site.run('run', '--once')

  expect((await site.run('release')).code).toBe(64)
})
