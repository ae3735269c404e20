// What becomes of files whose story is over, and of what the daemon still owed to a person when it died.

import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { feedOf, preload, Site } from '../../helpers/site.ts'

const BROKEN = '<source><job>&nbsp;</job></source>'

const files = (site: Site, folder = 'inbox') =>
  readdirSync(join(site.root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)

const receiptOf = (site: Site) =>
  JSON.parse(readFileSync(join(site.inbox, 'jobs.xml.receipt.json'), 'utf8'))

const owed = (site: Site) => {
  const db = new Database(join(site.root, 'state', 'feedsyncd.db'), { readonly: true })
  try {
    return db.prepare("SELECT name FROM notes WHERE name LIKE 'receipt %'").pluck().all()
  } finally {
    db.close()
  }
}

it('a rejected file that its vendor removes is gone, with its reason, and is a new version when it comes back', async () => {
  await using site = await Site.open()
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
  expect(gone?.reason).toMatch(/^it is not there any more; it was rejected: line 1, column \d+: /)
  expect(after.stdout).not.toMatch(/rejected/)
  expect(back).toMatchObject({ id: 2, state: 'rejected' })
})

it('an older file of a feed is archived with the one that took its place', async () => {
  await using site = await Site.open({
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

  await eventually(() => expect(files(site)).toEqual([]))
  daemon.kill('SIGTERM')

  expect(site.uploads({ all: true }).map(({ state }) => state)).toEqual(['uploaded', 'superseded'])
  expect(files(site, 'archive')).toHaveLength(2)
})

it.each(['delete', 'archive'])(
  'a file that is taken out (%s) after a listing saw it there is not detected again',
  async (afterUpload) => {
    await using site = await Site.open({ inbox: { afterUpload } })
    site.env = { ...preload('held-folder.ts'), FEEDSYNCD_TEST_HOLD: site.root }
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
])(
  'files that cannot be moved (%s) go back, and are no new versions',
  async (disposition, monday, tuesday, state) => {
    await using site = await Site.open({
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

    await site.logged(
      daemon,
      `file.not-${disposition === 'archive' ? 'archived' : 'quarantined'}`,
      7,
    )

    const versions = site.uploads({ all: true }).map(({ id, state }) => ({ id, state }))
    expect(versions).toEqual([
      { id: 2, state },
      { id: 1, state },
    ])
    expect(site.events('acme').filter(({ to }) => to === 'seen')).toEqual([])
    expect(files(site).sort()).toEqual(['monday.xml', 'tuesday.xml'])
  },
)

it.each(['was put back', 'is under both names', 'is under its temporary name'])(
  'a file that could not be moved, and %s when the daemon was killed, is no new version',
  async (where) => {
    await using site = await Site.open({ feeds: [{ match: '{1}/*.xml', name: '{1}' }] })
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
    // As the crash would have left it.
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(join(site.inbox, 'acme/monday.xml'), {
      bigint: true,
    })
    const identity = { dev: `${dev}`, ino: `${ino}`, size: Number(size) }
    const departure = {
      path: 'acme/monday.xml',
      identity: { ...identity, mtimeNs: `${mtimeNs}`, ctimeNs: `${ctimeNs}` },
      ...{ disposition: 'archive', token: '0a1b2c3d4e5f' },
    }
    const db = new Database(join(site.root, 'state', 'feedsyncd.db'))
    db.prepare('INSERT INTO notes VALUES (?, ?)').run(
      'leaving 0a1b2c3d4e5f',
      JSON.stringify(departure),
    )
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
    expect(files(site).sort()).toEqual(['monday.xml', 'tuesday.xml'])
  },
)

it('a file that could not be archived is tried again after a regular scan, not after each change', async () => {
  await using site = await Site.open({
    inbox: { afterUpload: 'archive', archiveDirectory: './archive', rescan: '1h' },
  })
  mkdirSync(join(site.root, 'archive'))
  writeFileSync(join(site.root, 'archive', 'acme'), 'in the way')
  site.drop('acme/jobs.xml', feedOf(3))
  await site.run('run', '--once')
  const daemon = await site.daemon()
  await site.logged(daemon, 'file.not-archived')

  for (const name of ['a.xml', 'b.xml', 'c.xml']) {
    site.drop(name, feedOf(4))
    await site.until(name, 'uploaded')
  }

  await site.logged(daemon, '"file.archived"', 2)
  expect(daemon.output.match(/file\.not-archived/g)).toHaveLength(1)
})

it.each(['quarantine', 'keep'])(
  'a rejected file that is being quarantined while a reload says %s is not gone',
  async (afterReject) => {
    const inbox = {
      ...{ incompleteAfter: '1s', rescan: '1s', quietPeriod: '100ms', directory: './inbox' },
      ...{ afterReject: 'quarantine', quarantineDirectory: './quarantine' },
    }
    await using site = await Site.open({ inbox })
    site.env = { ...preload('held-folder.ts'), FEEDSYNCD_TEST_HOLD: site.root }
    const place = (name: string) => join(site.root, name)
    for (const hold of ['hold-move', 'hold-archive']) writeFileSync(place(hold), '')
    site.drop('jobs.xml', BROKEN)
    const daemon = await site.daemonProcess()
    await eventually(() => expect(existsSync(place('moving'))).toBe(true))
    site.configure({ inbox: { ...inbox, afterReject } })
    daemon.kill('SIGHUP')
    await site.logged(daemon, 'config.reloaded')
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
    expect(files(site, 'quarantine')).toHaveLength(1)
  },
)

it('a discarded file is quarantined after a while, and never deleted', async () => {
  await using site = await Site.open({
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

  await eventually(() => expect(files(site)).toEqual([]))

  expect(files(site, 'quarantine')).toHaveLength(1)
  expect(site.uploads()).toMatchObject([{ state: 'discarded' }])
})

it('a receipt that a crash kept from being written is written at the next start', async () => {
  await using site = await Site.open({ inbox: { receipts: true } })
  site.drop('jobs.xml', BROKEN)
  await site.run('run', '--once')
  const receipt = join(site.inbox, 'jobs.xml.receipt.json')
  const written = readFileSync(receipt, 'utf8')
  unlinkSync(receipt)

  // As the crash would have left it: the state is written, and so is what is owed.
  const db = new Database(join(site.root, 'state', 'feedsyncd.db'))
  const owed = () => db.prepare("SELECT name FROM notes WHERE name LIKE 'receipt %'").pluck().all()
  const paid = owed()
  db.prepare("INSERT INTO notes VALUES ('receipt owed 1', '')").run()
  await site.run('run', '--once')
  const left = owed()
  db.close()

  const withoutTime = (text: string) => ({ ...JSON.parse(text), at: null })
  expect(withoutTime(readFileSync(receipt, 'utf8'))).toEqual(withoutTime(written))
  expect([paid, left]).toEqual([[], []])
})

it('a receipt that a person removed after it was written is not written again', async () => {
  await using site = await Site.open({ inbox: { receipts: true } })
  site.drop('jobs.xml', feedOf(3))
  await site.run('run', '--once')
  unlinkSync(join(site.inbox, 'jobs.xml.receipt.json'))

  await site.run('run', '--once')

  expect(files(site)).toEqual(['jobs.xml'])
})

it('beside a file is the receipt of its newest version, also when an older one is uploaded later', async () => {
  await using site = await Site.open({ inbox: { receipts: true } })
  site.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503, retryAfter: '600' })
  const daemon = await site.daemon()
  site.drop('jobs.xml', feedOf(3))
  await site.passed('jobs.xml', 'uploading')
  site.drop('jobs.xml', BROKEN)
  await site.until('jobs.xml', 'rejected')
  site.sandbox.faults.clear()
  daemon.kill('SIGHUP')

  await site.passed('jobs.xml', 'uploaded')
  daemon.kill('SIGTERM')
  await daemon.ended

  expect(receiptOf(site)).toMatchObject({ state: 'rejected', line: 1 })
  expect(owed(site)).toEqual([])
})

it('after a crash the receipt beside a file is that of its newest version, too', async () => {
  await using site = await Site.open({ inbox: { receipts: true } })
  for (let n = 1; n <= 8; n++) site.drop(`${n}.xml`, feedOf(3))
  await site.run('run', '--once')
  for (const content of [feedOf(3), BROKEN]) {
    site.drop('jobs.xml', content)
    await site.run('run', '--once')
  }
  expect(site.uploads({ feed: 'jobs.xml', all: true }).map(({ id }) => id)).toEqual([10, 9])
  const db = new Database(join(site.root, 'state', 'feedsyncd.db'))
  db.prepare("INSERT INTO notes VALUES ('receipt owed 9', ''), ('receipt owed 10', '')").run()
  db.close()

  await site.run('run', '--once')

  expect(receiptOf(site)).toMatchObject({ state: 'rejected', line: 1 })
  expect(owed(site)).toEqual([])
})

it('a receipt is not owed any more once its vendor has taken the whole directory away', async () => {
  await using site = await Site.open({ inbox: { receipts: true } })
  const gate = site.sandbox.faults.add({ at: 'storage', kind: 'gate', point: 'answer' })
  await site.daemon()
  site.drop('monday/jobs.xml', feedOf(3))
  await gate.held()
  renameSync(join(site.inbox, 'monday'), join(site.root, 'monday'))
  gate.release()
  await site.until('monday/jobs.xml', 'uploaded')
  let [scans, lastScanAt] = [0, '']
  await eventually(() => {
    const { daemon } = statusOf(site)
    if (daemon.lastScanAt !== lastScanAt) scans++
    lastScanAt = daemon.lastScanAt ?? ''
    expect(scans).toBeGreaterThan(3)
  })

  expect(statusOf(site).daemon.conditions).toEqual([])
  expect(owed(site)).toEqual([])
})
