// Exports with dates in their names are versions of one feed, in the order of the dates.

import { createHash } from 'node:crypto'
import { readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { DAY } from '../../../src/lib/clock.ts'
import { eventually } from '../../helpers/eventually.ts'
import { pathReportOf, statusOf } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

const FEED = 'jobs-{date}.xml'

/** versions returns the path and the state of each version, the oldest first. */
function versions(site: Site): string[] {
  const all = site.uploads({ feed: FEED, all: true }).toReversed()
  return all.map(({ path, state }) => `${path} ${state}`)
}

const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex')
const stored = (site: Site) => site.sandbox.objects().map((object) => object.sha256)

function touch(site: Site, path: string, at = new Date()): void {
  utimesSync(join(site.inbox, path), at, at)
}

it('holds an export that has lost most postings since the day before', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  await site.daemon()
  site.drop('jobs-2026-11-22.xml', feedOf(100))
  await site.until(FEED, 'uploaded')

  site.drop('jobs-2026-11-23.xml', feedOf(10))
  const held = await site.until(FEED, 'held')

  expect(held).toMatchObject({ guard: 'drop', path: 'jobs-2026-11-23.xml' })
  expect(held.reason).toContain('from 100 postings to 10')
})

it('supersedes an older export that is touched, says why in show and upload, and sends it only with restore', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  await site.daemon()
  site.drop('jobs-2026-11-22.xml', feedOf(10))
  await site.until(FEED, 'uploaded')
  site.drop('jobs-2026-11-23.xml', feedOf(9))
  const newest = await site.until(FEED, 'uploaded', sha256(feedOf(9)))

  touch(site, 'jobs-2026-11-22.xml')
  const older = await site.passed(FEED, 'superseded')
  const after = site.uploads({ feed: FEED })
  const why = await pathReportOf(site, 'jobs-2026-11-22.xml')
  const shown = await site.run('show', FEED)
  touch(site, 'jobs-2026-11-22.xml', new Date(1))
  await site.passed(FEED, 'seen')
  const uploaded = await site.run('upload', join(site.inbox, 'jobs-2026-11-22.xml'))
  const sent = stored(site)
  await site.run('restore', String(older.id))
  const restored = await site.until(FEED, 'uploaded', sha256(feedOf(10)))

  expect(older.reason).toBe(`it is older than version ${newest.id} (jobs-2026-11-23.xml)`)
  expect(after).toMatchObject([{ id: newest.id, state: 'uploaded' }])
  expect(why.because).toBe(`its version ${older.id} is superseded: ${older.reason}`)
  expect(shown.stdout).toContain('\njobs-2026-11-23.xml: its version 2 is uploaded\n')
  expect([uploaded.code, uploaded.stderr]).toEqual([
    3,
    expect.stringMatching(
      new RegExp(
        `error: ${RegExp.escape(older.reason ?? '')}\ntry: feedsyncd restore ${older.id} --config `,
      ),
    ),
  ])
  expect(sent).toHaveLength(2)
  expect(versions(site)).toEqual([
    'jobs-2026-11-22.xml uploaded',
    'jobs-2026-11-23.xml uploaded',
    'jobs-2026-11-22.xml superseded',
    'jobs-2026-11-22.xml uploaded',
  ])
  expect(restored.path).toBe('jobs-2026-11-22.xml')
})

it('does not send an older export again while the newest is held', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  await site.daemon()
  site.drop('jobs-2026-11-22.xml', feedOf(100))
  await site.until(FEED, 'uploaded')
  site.drop('jobs-2026-11-23.xml', feedOf(10))
  const { id } = await site.until(FEED, 'held')

  touch(site, 'jobs-2026-11-22.xml')
  await site.passed(FEED, 'superseded')

  expect(site.uploads({ feed: FEED })).toMatchObject([{ id, state: 'held' }])
  expect(stored(site)).toHaveLength(1)
})

it('sends only the newest of several exports at the first start', async () => {
  await using site = await Site.open()
  const days = ['20', '23', '21', '22']
  for (const [n, day] of days.entries()) {
    site.drop(`jobs-2026-11-${day}.xml`, feedOf(10 + n))
    touch(site, `jobs-2026-11-${day}.xml`, new Date(Date.UTC(2026, 0, 1 + n)))
  }
  site.drop('other.xml', feedOf(3))

  const { code } = await site.run('run', '--once')

  expect(code).toBe(0)
  expect(versions(site).toSorted()).toEqual([
    'jobs-2026-11-20.xml superseded',
    'jobs-2026-11-21.xml superseded',
    'jobs-2026-11-22.xml superseded',
    'jobs-2026-11-23.xml uploaded',
  ])
  expect(site.uploads({ feed: FEED })).toMatchObject([{ path: 'jobs-2026-11-23.xml' }])
  expect(stored(site)).toHaveLength(2)
})

it('names the files of one feed in status, show and doctor', async () => {
  await using site = await Site.open()
  const files = ['22', '21', '20'].map((day) => `jobs-2026-11-${day}.xml`)
  for (const file of files) site.drop(file, feedOf(10))
  await site.run('run', '--once')

  const status = await site.run('status')
  const json = JSON.parse((await site.run('status', '--json')).stdout)
  const shown = await site.run('show', FEED)
  const doctor = await site.run('doctor', '--offline')

  expect(status.stdout).toContain(`3 files are one feed, ${FEED}: ${files.join(', ')}\n`)
  expect(json.uploads).toMatchObject([{ feed: FEED, files: { count: 3, paths: files } }])
  expect(shown.stdout).toContain(`\n3 files are this feed: ${files.join(', ')}\n`)
  expect(doctor.stdout).toContain(`${FEED} (3 files, the last ${files[0]})`)
})

it('sends the newest good export and shows the newer broken one', async () => {
  await using site = await Site.open()
  site.drop('jobs-20261122.xml', feedOf(10))
  site.drop('jobs-20261123.xml', '<a></b>')
  site.drop('jobs-20261121.xml', '<a></b>')

  const { code } = await site.run('run', '--once')

  expect(code).toBe(3)
  expect(versions(site).toSorted()).toEqual([
    'jobs-20261121.xml superseded',
    'jobs-20261122.xml uploaded',
    'jobs-20261123.xml rejected',
  ])
  expect(site.uploads()).toMatchObject([{ path: 'jobs-20261123.xml', state: 'rejected' }])
})

it('moves an older file out of the folder together with the newer file that was sent', async () => {
  await using site = await Site.open({ inbox: { afterUpload: 'archive' } }, { clock: quickClock() })
  site.drop('jobs-20261122.xml', feedOf(10))
  site.drop('jobs-20261121.xml', feedOf(11))
  await site.daemon()

  await eventually(() => expect(readdirSync(site.inbox)).toEqual([]))

  expect(versions(site).toSorted()).toEqual([
    'jobs-20261121.xml superseded',
    'jobs-20261122.xml uploaded',
  ])
})

it('keeps the date in the feed name if a rule says so', async () => {
  await using site = await Site.open({ feeds: [{ match: '*.xml', dated: false }] })
  site.drop('jobs-20261122.xml', feedOf(10))
  site.drop('jobs-20261123.xml', feedOf(11))

  await site.run('run', '--once')

  expect(
    site
      .uploads()
      .map(({ feed, state }) => `${feed} ${state}`)
      .sort(),
  ).toEqual(['jobs-20261122.xml uploaded', 'jobs-20261123.xml uploaded'])
})

it('sends no older day after the newest bytes were seen under a later date', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  await site.daemon()
  site.drop('jobs-2026-11-20.xml', feedOf(10))
  await site.until(FEED, 'uploaded')
  // The export did not change over the weekend.
  site.drop('jobs-2026-11-23.xml', feedOf(10))
  await site.passed(FEED, 'seen')

  site.drop('jobs-2026-11-20.xml', feedOf(11))
  const older = await site.passed(FEED, 'superseded')

  expect(older.reason).toContain('it is older than version 1')
  expect(stored(site)).toEqual([sha256(feedOf(10))])
})

it.each([
  ['by name', [{ match: '{1}/*.xml', name: '{1}' }], 'acme'],
  ['without a name', [{ match: '{1}/*.xml', records: '/source/job' }], 'acme/jobs-{date}.xml'],
])('orders the dates of files that a rule matches %s', async (_, feeds, feed) => {
  await using site = await Site.open({ feeds }, { clock: quickClock() })
  await site.daemon()
  site.drop('acme/jobs-2026-11-23.xml', feedOf(10))
  await site.until(feed, 'uploaded')

  site.drop('acme/jobs-2026-11-22.xml', feedOf(11))
  const older = await site.passed(feed, 'superseded')

  expect(older.reason).toContain('it is older than version 1 (acme/jobs-2026-11-23.xml)')
  expect(stored(site)).toEqual([sha256(feedOf(10))])
})

it('sends no older day over a file without a date that a person uploaded for the feed', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  await site.daemon()
  site.drop('jobs-2026-11-22.xml', feedOf(10))
  site.drop('jobs-2026-11-23.xml', feedOf(11))
  await site.until(FEED, 'uploaded', sha256(feedOf(11)))
  const mended = join(site.root, 'mended.xml')
  writeFileSync(mended, feedOf(12))
  await site.run('upload', mended, '--feed', FEED)

  site.drop('jobs-2026-11-22.xml', feedOf(9))
  const older = await site.passed(FEED, 'superseded', { nth: 2 })

  expect(older.reason).toMatch(/^it is older than version \d+ \(.*mended.xml\)$/)
  expect(stored(site).at(-1)).toBe(sha256(feedOf(12)))
})

it('holds a collapse after a rule gave a name to a feed with dates', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  const before = await site.daemon()
  site.drop('jobs-2026-11-22.xml', feedOf(40))
  await site.until(FEED, 'uploaded')
  await before.stop()
  site.configure({ feeds: [{ match: '*.xml', name: 'acme' }] })
  await site.daemon()

  site.drop('jobs-2026-11-23.xml', feedOf(2))
  const held = await site.until('acme', 'held')

  expect(held.reason).toMatch(/^the feed dropped from 40 postings to 2/)
})

it('takes what was written last under one name, whatever its time', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  await site.daemon()
  site.drop('jobs-20261122.xml', feedOf(10))
  await site.until(FEED, 'uploaded')

  // `cp -p`, `rsync -t` and WinSCP keep the time of the file that they copy.
  writeFileSync(join(site.inbox, 'earlier.part'), feedOf(11))
  touch(site, 'earlier.part', new Date(1000))
  renameSync(join(site.inbox, 'earlier.part'), join(site.inbox, 'jobs-20261122.xml'))

  await site.until(FEED, 'uploaded', sha256(feedOf(11)))
})

it('lets no date that lies far ahead make the next exports older', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  await site.daemon()
  site.drop('jobs-2062-11-22.xml', feedOf(10))
  await site.until(FEED, 'uploaded')

  site.drop('jobs-2026-11-23.xml', feedOf(11))

  await site.until(FEED, 'uploaded', sha256(feedOf(11)))
})

it('sends at the next start what was older only by a rule that has changed', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  const before = await site.daemon()
  // Two customers whose numbers look like dates.
  site.drop('20261123.xml', feedOf(10))
  await site.until('{date}.xml', 'uploaded')
  site.drop('20261122.xml', feedOf(11))
  await site.passed('{date}.xml', 'superseded')
  await before.stop()

  site.configure({ feeds: [{ match: '*.xml', dated: false }] })
  await site.daemon()
  await site.until('20261122.xml', 'uploaded')

  expect(stored(site)).toContain(sha256(feedOf(11)))
})

it('warns of a date that shuts out three exports, and names its file, until a person restores a later export', async () => {
  await using site = await Site.open()
  await site.daemon()
  const next = new Date(Date.now() + 200 * DAY).toISOString().slice(0, 10)
  site.drop(`jobs-${next}.xml`, feedOf(10))
  const { id: wrong } = await site.until(FEED, 'uploaded')
  const says = `its last three exports count as older than version ${wrong} (jobs-${next}.xml), by the dates in their names`

  for (const [n, day] of ['21', '22'].entries()) {
    site.drop(`jobs-2026-11-${day}.xml`, feedOf(11 + n))
    await site.passed(FEED, 'superseded', { nth: n + 1 })
  }
  const before = statusOf(site).problems
  site.drop('jobs-2026-11-23.xml', feedOf(13))
  const { id } = await site.passed(FEED, 'superseded', { nth: 3 })
  const { problems } = statusOf(site)
  const { stdout } = await site.run('status')
  await site.run('restore', String(id))
  await site.until(FEED, 'uploaded', sha256(feedOf(13)))

  expect(before).toEqual([])
  expect(problems).toMatchObject([{ code: 'always-older', severity: 'warning', says }])
  expect(stdout).toContain('write dated: false into the rule of this feed')
  expect(stdout).toContain(`    feedsyncd restore ${id} --config`)
  expect(statusOf(site).problems).toEqual([])
  site.drop('jobs-2026-11-24.xml', feedOf(14))
  await site.until(FEED, 'uploaded', sha256(feedOf(14)))
})

it('does not warn of old files that a person copies into the folder', async () => {
  await using site = await Site.open()
  await site.daemon()
  site.drop('jobs-2026-11-25.xml', feedOf(10))
  await site.until(FEED, 'uploaded')

  for (const [n, day] of ['20', '21', '22'].entries()) {
    const path = `jobs-2026-11-${day}.xml`
    writeFileSync(join(site.root, path), feedOf(11 + n))
    utimesSync(join(site.root, path), new Date(0), new Date(0))
    renameSync(join(site.root, path), join(site.inbox, path))
    await site.passed(FEED, 'superseded', { nth: n + 1 })
  }

  expect(statusOf(site).problems).toEqual([])
})
