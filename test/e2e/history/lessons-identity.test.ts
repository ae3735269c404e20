// What watched folders teach, lessons 6 to 8 and 12, each against a running daemon: names,
// identity, crashes, and the order of versions.

import { createHash } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { feedOf, finished, Site } from '../../helpers/site.ts'

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')

describe('lesson 6: the names of unfinished files', () => {
  it('are never uploaded, whatever is included; renamed, each is a feed', async () => {
    await using site = await Site.open({ inbox: { include: ['**'] } })
    await site.daemon()
    const names = [
      '.jobs.xml.AbC123',
      '.sftpgo-upload.d1e2.jobs.xml',
      '.syncthing.jobs.xml.tmp',
      '.ocTransferId123.part',
      'jobs.xml.filepart',
      'jobs.xml.part',
      'jobs.xml.partial',
      'jobs.xml.tmp',
      'jobs.xml.writing',
      'jobs.xml.camelLock',
      'jobs.xml~',
      'jobs.xml.swp',
      '.hidden/jobs.xml',
    ]
    mkdirSync(join(site.inbox, '.hidden'))

    for (const name of names) writeFileSync(join(site.inbox, name), feedOf(2))
    site.drop('later.xml', feedOf(2))
    await site.until('later.xml', 'uploaded')
    const before = site.uploads({ all: true }).map(({ path }) => path)
    names.forEach((name, n) => {
      renameSync(join(site.inbox, name), join(site.inbox, `${n}.xml`))
    })
    const uploaded = () => site.uploads({ states: ['uploaded'] })
    await eventually(() => expect(uploaded()).toHaveLength(names.length + 1))

    expect(before).toEqual(['later.xml'])
  })

  it('are mentioned in status when they are old, until they are renamed', async () => {
    await using site = await Site.open({ inbox: { incompleteAfter: '1h' } })
    const old = join(site.inbox, '.jobs.xml.AbC123')
    writeFileSync(old, feedOf(2))
    utimesSync(old, new Date(2001, 0, 1), new Date(2001, 0, 1))
    writeFileSync(join(site.inbox, 'fresh.xml.part'), feedOf(2))
    await site.daemon()

    const unfinished = () => statusOf(site).daemon.unfinished
    await eventually(() =>
      expect(unfinished().map(({ path }) => path)).toEqual(['.jobs.xml.AbC123']),
    )
    const { stdout } = await site.run('status')
    renameSync(old, join(site.inbox, 'jobs.xml'))
    await site.until('jobs.xml', 'uploaded')
    await eventually(() => expect(unfinished()).toEqual([]))

    expect(stdout).toMatch(/^unfinished: \.jobs\.xml\.AbC123: last written \d+d.* ago; rename it/m)
  })
})

describe('lesson 7: identity is the feed and the SHA-256 of the whole file', () => {
  it('other bytes of the same size, date and first 4 KB are a new version', async () => {
    await using site = await Site.open()
    await site.daemon()
    const first = feedOf(60, 'Nurse')
    const second = first.replace(/Nurse 59/, 'Baker 59')
    const date = new Date(2026, 1, 3)
    const write = (bytes: string) => {
      const draft = join(site.inbox, 'jobs.xml.part')
      writeFileSync(draft, bytes)
      utimesSync(draft, date, date)
      renameSync(draft, join(site.inbox, 'jobs.xml'))
    }

    write(first)
    await site.until('jobs.xml', 'uploaded', sha256(first))
    write(second)
    const upload = await site.until('jobs.xml', 'uploaded', sha256(second))

    expect(first.slice(0, 4096)).toBe(second.slice(0, 4096))
    expect(upload.bytes).toBe(first.length + 60)
    expect(upload.changes).toEqual({ added: 0, removed: 0, changed: 1 })
    expect(site.sandbox.objects()).toHaveLength(2)
  })

  it('the same bytes written in place with the same date are seen, not sent', async () => {
    await using site = await Site.open()
    await site.daemon()
    const path = join(site.inbox, 'jobs.xml')
    const date = new Date(2026, 1, 3)
    site.drop('jobs.xml', feedOf(4))
    const { id } = await site.until('jobs.xml', 'uploaded')
    const seen = (times: number) =>
      eventually(() => {
        const seen = site.show(id).events.filter(({ to }) => to === 'seen')
        expect(seen.map(({ count = 1 }) => count)).toEqual([times])
      })

    // touch
    utimesSync(path, date, date)
    await seen(1)
    // rename-over
    site.drop('jobs.xml', feedOf(4))
    await seen(2)
    // rsync -a: a dot name, the date of the source, a rename
    const draft = join(site.inbox, '.jobs.xml.AbC123')
    copyFileSync(path, draft)
    utimesSync(draft, date, date)
    renameSync(draft, path)
    await seen(3)
    // deleted and written again, often with the same inode
    unlinkSync(path)
    writeFileSync(path, feedOf(4))
    await seen(4)

    expect(site.uploads({ all: true })).toHaveLength(1)
    expect(site.show(id).state).toBe('uploaded')
    expect(site.sandbox.objects()).toHaveLength(1)
  })

  it('an inode that is used again for other bytes of the same size and date is news', async () => {
    await using site = await Site.open()
    await site.daemon()
    const path = join(site.inbox, 'jobs.xml')
    const date = new Date(2026, 1, 3)

    for (const content of [feedOf(4, 'Nurse'), feedOf(4, 'Baker')]) {
      rmSync(path, { force: true })
      writeFileSync(path, content)
      utimesSync(path, date, date)
      await site.until('jobs.xml', 'uploaded', sha256(content))
    }

    expect(site.sandbox.objects()).toHaveLength(2)
  })

  it('A, B, A is three versions and three objects', async () => {
    await using site = await Site.open()
    await site.daemon()
    const contents = [feedOf(6), feedOf(6, 'Baker'), feedOf(6)]

    for (const content of contents) {
      site.drop('jobs.xml', content)
      await site.until('jobs.xml', 'uploaded', sha256(content))
    }

    expect(
      site
        .uploads({ all: true })
        .map((upload) => upload.sha256)
        .reverse(),
    ).toEqual(contents.map(sha256))
    expect(site.sandbox.objects()).toHaveLength(3)
  })
})

it('lesson 8: kill -9 in every state: no file stuck, none lost, none sent twice', async () => {
  await using site = await Site.open()
  const first = await site.daemonProcess()
  const wait = { at: 'storage', kind: 'answer', status: 503, retryAfter: '600', times: 1 } as const
  site.drop('uploaded.xml', feedOf(10))
  site.drop('held.xml', '<source></source>')
  site.drop('rejected.xml', '<a></b>')
  site.drop('incomplete.xml', '<source><job><title>Nurse</title></job>')
  await site.until('uploaded.xml', 'uploaded')
  await site.until('held.xml', 'held')
  await site.until('rejected.xml', 'rejected')
  await site.until('incomplete.xml', 'incomplete')
  site.sandbox.faults.add(wait)
  site.drop('queued.xml', feedOf(11))
  await eventually(() => {
    expect(site.uploads({ feed: 'queued.xml' })[0]).toMatchObject({ state: 'queued', attempts: 1 })
  })
  first.kill('SIGKILL')
  await finished(first)
  // This one takes nothing.
  site.configure({ inbox: { quietPeriod: '1h' } })
  const second = await site.daemonProcess()
  site.drop('settling.xml', feedOf(12))
  await site.until('settling.xml', 'settling')
  site.configure({})
  const [queued] = site.uploads({ feed: 'queued.xml' })
  const idsBefore = site.uploads({ all: true }).map(({ id }) => id)

  second.kill('SIGKILL')
  await finished(second)
  await site.daemon()
  writeFileSync(join(site.inbox, 'incomplete.xml'), feedOf(13))
  await site.run('retry', String(queued?.id))
  for (const feed of ['uploaded', 'queued', 'settling', 'incomplete']) {
    await site.until(`${feed}.xml`, 'uploaded')
  }

  expect(site.uploads({ all: true }).map(({ id }) => id)).toEqual(idsBefore)
  await site.until('held.xml', 'held')
  await site.until('rejected.xml', 'rejected')
  expect(
    site.sandbox
      .objects()
      .map((object) => object.sha256)
      .sort(),
  ).toEqual([10, 11, 12, 13].map((postings) => sha256(feedOf(postings))).sort())
  // Marker files would be the vendor's to clean up.
  expect(readdirSync(site.inbox)).toHaveLength(6)
})

it('lesson 12: the newest wins, on the record, and other feeds are not affected', async () => {
  await using site = await Site.open()
  await site.daemon()
  const fail = () =>
    site.sandbox.faults.add({
      ...({ at: 'storage', kind: 'answer', status: 503, retryAfter: '600', times: 1 } as const),
    })
  const waits = (content: string) =>
    eventually(() => {
      const [newest] = site.uploads({ feed: 'jobs.xml' })
      expect(newest).toMatchObject({ state: 'queued', attempts: 1, sha256: sha256(content) })
      return newest?.id ?? 0
    })

  fail()
  site.drop('jobs.xml', feedOf(5))
  const v1 = await waits(feedOf(5))
  site.drop('other.xml', feedOf(9))
  await site.until('other.xml', 'uploaded')
  fail()
  site.drop('jobs.xml', feedOf(6))
  const v2 = await waits(feedOf(6))
  site.drop('jobs.xml', feedOf(7))
  const { id: v3 } = await site.until('jobs.xml', 'uploaded', sha256(feedOf(7)))

  expect(site.show(v1)).toMatchObject({
    state: 'superseded',
    reason: `version ${v2} took the place of version ${v1}`,
  })
  expect(site.show(v2)).toMatchObject({
    state: 'superseded',
    reason: `version ${v3} took the place of version ${v2}`,
  })
  expect(site.sandbox.objects().map((object) => object.sha256)).toEqual(
    [feedOf(9), feedOf(7)].map(sha256),
  )
})
