// The end of finished files: moves that fail, and files that leave.

import {
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { HOUR } from '../../../src/lib/clock.ts'
import { eventually } from '../../helpers/eventually.ts'
import { filesIn } from '../../helpers/inbox/files-in.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, lettersOf, preload, Site } from '../../helpers/site.ts'

const BROKEN = '<source><job>&nbsp;</job></source>'

/** quickSite opens a site whose commands in this process wait a tenth of the time. */
const quickSite = (config: Record<string, unknown> = {}) =>
  Site.open(config, { clock: quickClock() })

it('a rejected file that its vendor removes is gone with its reason, no longer a problem, and returns as a new version', async () => {
  await using site = await quickSite()
  site.drop('jobs.xml', BROKEN)
  await site.run('run', '--once')
  const before = await site.run('status', '--check')

  unlinkSync(join(site.inbox, 'jobs.xml'))
  await site.run('run', '--once')
  const [gone] = site.uploads({ feed: 'jobs.xml' })
  const after = await site.run('status', '--check')
  site.drop('jobs.xml', BROKEN)
  await site.run('run', '--once')
  const [back] = site.uploads({ feed: 'jobs.xml' })

  expect(before.stdout).toMatch(/rejected/)
  expect(gone).toMatchObject({ id: 1, state: 'gone' })
  expect(gone?.reason).toMatch(
    /^its file left the folder after it was rejected: line 1, column \d+: /,
  )
  expect(after.stdout).not.toMatch(/rejected/)
  expect(back).toMatchObject({ id: 2, state: 'rejected' })
})

it('an older file of a feed is archived with the file that took its place', async () => {
  await using site = await quickSite({
    inbox: { afterUpload: 'archive', archiveDirectory: './archive' },
    feeds: [{ match: '{1}/*.xml', name: '{1}' }],
  })
  mkdirSync(join(site.inbox, 'acme'))
  site.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503, retryAfter: '600' })
  site.drop('acme/monday.xml', feedOf(3))
  await site.run('run', '--once')
  site.sandbox.faults.clear()
  site.drop('acme/tuesday.xml', feedOf(4))
  const daemon = await site.daemon()

  await eventually(() => expect(filesIn(site.inbox)).toEqual([]))
  daemon.kill('SIGTERM')

  expect(site.uploads({ all: true }).map(({ state }) => state)).toEqual(['uploaded', 'superseded'])
  expect(filesIn(join(site.root, 'archive'))).toHaveLength(2)
})

it.each(['delete', 'archive'])(
  'a file that is moved away (%s) during a listing is not detected again',
  async (afterUpload) => {
    await using site = await quickSite({ inbox: { afterUpload } })
    site.env = { ...preload('held-folder.ts', 'fast-time.ts'), FEEDSYNCD_TEST_HOLD: site.root }
    const place = (name: string) => join(site.root, name)
    const known = () => {
      const db = new Database(join(site.root, 'state', 'feedsyncd.db'), { readonly: true })
      try {
        return db.prepare('SELECT path FROM files').pluck().all()
      } finally {
        db.close()
      }
    }
    writeFileSync(place('hold-move'), '')
    site.drop('jobs.xml', feedOf(3))
    await site.daemonProcess()
    await eventually(() => expect(existsSync(place('moving'))).toBe(true))
    writeFileSync(place('hold-listing'), '')
    await eventually(() => expect(existsSync(place('listed'))).toBe(true))
    unlinkSync(place('hold-move'))
    await eventually(() => expect(known()).toEqual([]))

    unlinkSync(place('hold-listing'))
    site.drop('later.xml', feedOf(4))
    await eventually(() => expect(site.uploads({ feed: 'later.xml' })[0]?.state).toBe('uploaded'))

    const versions = site.uploads({ feed: 'jobs.xml', all: true })
    expect(versions).toMatchObject([{ id: 1, state: 'uploaded' }])
  },
)

it.each([
  ['archive', feedOf(3), feedOf(4), 'uploaded'],
  ['quarantine', BROKEN, `${BROKEN}<!-- later -->`, 'rejected'],
] as const)(
  'files that cannot be moved (%s) go back, make no new versions and are not read again',
  async (disposition, monday, tuesday, state) => {
    await using site = await quickSite({
      inbox: {
        ...{ incompleteAfter: '1s', afterUpload: 'archive', afterReject: 'quarantine' },
        ...{ archiveDirectory: './archive', quarantineDirectory: './quarantine' },
      },
      feeds: [{ match: '{1}/*.xml', name: '{1}' }],
    })
    mkdirSync(join(site.root, disposition))
    writeFileSync(join(site.root, disposition, 'acme'), 'in the way')
    site.drop('acme/monday.xml', monday)
    await site.run('run', '--once')
    site.drop('acme/tuesday.xml', tuesday)
    const daemon = await site.daemon()

    await site.until('acme', state)
    for (const name of ['monday', 'tuesday'])
      await site.logged(daemon, `"path":"acme/${name}.xml","kind":"problem"`, 3)

    const versions = site.uploads({ all: true }).map(({ id, state }) => ({ id, state }))
    expect(versions).toEqual([
      { id: 2, state },
      { id: 1, state },
    ])
    expect(site.events('acme').filter(({ to }) => to === 'seen')).toEqual([])
    expect(filesIn(site.inbox)).toEqual(['monday.xml', 'tuesday.xml'])
  },
)

it.each(['was put back', 'is under both names', 'is under its temporary name'])(
  'a file that could not be moved and %s when the daemon was killed makes no new version and is not read again',
  async (where) => {
    await using site = await quickSite({ feeds: [{ match: '{1}/*.xml', name: '{1}' }] })
    for (const [n, name] of ['monday', 'tuesday'].entries()) {
      site.drop(`acme/${name}.xml`, feedOf(3 + n))
      await site.run('run', '--once')
    }
    site.configure({
      inbox: { afterUpload: 'archive', archiveDirectory: './archive' },
      feeds: [{ match: '{1}/*.xml', name: '{1}' }],
    })
    mkdirSync(join(site.root, 'archive'))
    writeFileSync(join(site.root, 'archive', 'acme'), 'in the way')
    // The state that a crash leaves.
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(join(site.inbox, 'acme/monday.xml'), {
      bigint: true,
    })
    const identity = [dev, ino, size, mtimeNs, ctimeNs].map(String)
    const db = new Database(join(site.root, 'state', 'feedsyncd.db'))
    db.prepare(
      `INSERT INTO departures (token, path, dev, ino, size, mtime_ns, ctime_ns, disposition)
         VALUES ('0a1b2c3d4e5f', 'acme/monday.xml', ?, ?, ?, ?, ?, 'archive')`,
    ).run(...identity)
    db.close()
    const [name, taken] = ['monday.xml', '.monday.xml.0a1b2c3d4e5f.taken'].map((each) =>
      join(site.inbox, 'acme', each),
    ) as [string, string]
    renameSync(name, taken)
    if (where !== 'is under its temporary name') linkSync(taken, name)
    if (where === 'was put back') unlinkSync(taken)

    for (let start = 0; start < 2; start++) await site.run('run', '--once')

    expect(site.uploads({ all: true }).map(({ id, state }) => ({ id, state }))).toEqual([
      { id: 2, state: 'uploaded' },
      { id: 1, state: 'uploaded' },
    ])
    expect(site.events('acme').filter(({ to }) => to === 'seen')).toEqual([])
    expect(filesIn(site.inbox)).toEqual(['monday.xml', 'tuesday.xml'])
  },
)

it('the daemon tries a failed archive again after half of `inbox.rescan`, not after each change', async () => {
  const clock = quickClock()
  const inbox = { afterUpload: 'archive', archiveDirectory: './archive', rescan: '1h' }
  await using site = await Site.open({ inbox }, { clock })
  mkdirSync(join(site.root, 'archive'))
  writeFileSync(join(site.root, 'archive', 'acme'), 'in the way')
  site.drop('acme/jobs.xml', feedOf(3))
  await site.run('run', '--once')
  const daemon = await site.daemon()
  await site.logged(daemon, 'file.not-archived')

  const logged = (event: RegExp) => daemon.output.match(event)?.length ?? 0
  // A listing that ends while files are moved begins no second pass, so more changes might be needed on a slow disk.
  let n = 0
  const untilArchived = async (files: number) => {
    while (logged(/"file\.archived"/g) < files) {
      const name = `${lettersOf(n++)}.xml`
      site.drop(name, feedOf(4))
      await site.until(name, 'uploaded')
    }
  }

  await untilArchived(2)
  const afterChanges = logged(/file\.not-archived/g)
  clock.skip(HOUR / 2)
  await untilArchived(4)

  expect(afterChanges).toBe(1)
  expect(logged(/file\.not-archived/g)).toBe(2)
})

it('a rejected file that is moving into the quarantine is not gone', async () => {
  const inbox = {
    ...{ incompleteAfter: '1s', rescan: '1s', quietPeriod: '100ms', directory: './inbox' },
    ...{ afterReject: 'quarantine', quarantineDirectory: './quarantine' },
  }
  await using site = await quickSite({ inbox })
  site.env = { ...preload('held-folder.ts', 'fast-time.ts'), FEEDSYNCD_TEST_HOLD: site.root }
  const place = (name: string) => join(site.root, name)
  for (const hold of ['hold-move', 'hold-archive']) writeFileSync(place(hold), '')
  site.drop('jobs.xml', BROKEN)
  const daemon = await site.daemonProcess()
  await eventually(() => expect(existsSync(place('moving'))).toBe(true))
  unlinkSync(place('hold-move'))
  await eventually(() => expect(existsSync(place('archiving'))).toBe(true))
  for (const name of ['a.xml', 'b.xml']) {
    site.drop(name, feedOf(3))
    await site.until(name, 'uploaded')
  }
  unlinkSync(place('hold-archive'))

  await site.logged(daemon, '"file.quarantined"')

  expect(site.events('jobs.xml').map(({ to }) => to)).not.toContain('gone')
  expect(site.uploads({ feed: 'jobs.xml', all: true })).toMatchObject([{ state: 'rejected' }])
  expect(filesIn(join(site.root, 'quarantine'))).toHaveLength(1)
})

it('a discarded file is quarantined after a while, and never deleted', async () => {
  await using site = await quickSite({
    inbox: {
      incompleteAfter: '1s',
      afterUpload: 'delete',
      afterReject: 'quarantine',
      quarantineDirectory: './quarantine',
    },
    guards: { minPostings: 5 },
  })
  site.drop('jobs.xml', feedOf(3))
  await site.run('run', '--once')
  await site.run('discard', '1')
  await site.daemon()

  await eventually(() => expect(filesIn(site.inbox)).toEqual([]))

  expect(filesIn(join(site.root, 'quarantine'))).toHaveLength(1)
  expect(site.uploads()).toMatchObject([{ state: 'discarded' }])
})

describe('a broken file', () => {
  const ALL = { feeds: [{ match: '*.xml', name: 'all' }] }

  it('stays rejected while one of two files with its bytes exists, and is gone with the last one', async () => {
    await using site = await quickSite(ALL)
    const without = async (...left: string[]) => {
      for (const name of left) unlinkSync(join(site.inbox, name))
      await site.run('run', '--once')
      return site.uploads({ all: true }).map(({ state }) => state)
    }
    site.drop('a.xml', BROKEN)
    site.drop('b.xml', BROKEN)

    expect(await without()).toEqual(['rejected'])
    expect(await without('a.xml')).toEqual(['rejected'])
    expect((await site.run('status', '--check')).stdout).toMatch(/rejected/)
    expect(await without('b.xml')).toEqual(['gone'])
  })

  it('is gone when both files with its bytes leave at once', async () => {
    await using site = await quickSite(ALL)
    site.drop('a.xml', BROKEN)
    site.drop('b.xml', BROKEN)
    await site.run('run', '--once')

    for (const name of ['a.xml', 'b.xml']) unlinkSync(join(site.inbox, name))
    await site.run('run', '--once')

    expect(site.uploads({ all: true }).map(({ state }) => state)).toEqual(['gone'])
  })

  it('is gone and no longer a problem when a good file replaces it as a version of another feed by a new rule', async () => {
    await using site = await quickSite()
    site.drop('jobs.xml', BROKEN)
    await site.run('run', '--once')

    site.configure(ALL)
    site.drop('jobs.xml', feedOf(2))
    await site.run('run', '--once')
    const { code, stdout } = await site.run('status', '--check')

    expect(stdout).not.toMatch(/rejected/)
    expect(code).toBe(0)
    expect(site.uploads({ feed: 'jobs.xml' })[0]?.state).toBe('gone')
    expect(site.uploads({ feed: 'all' })[0]?.state).toBe('uploaded')
  })
})
