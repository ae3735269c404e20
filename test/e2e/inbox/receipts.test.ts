// The receipts that the daemon writes beside the files of the folder.

import { mkdirSync, readFileSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { filesIn } from '../../helpers/inbox/files-in.ts'
import { pathReportOf, statusOf } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, lettersOf, Site } from '../../helpers/site.ts'

const BROKEN = '<source><job>&nbsp;</job></source>'

/** quickSite opens a site whose commands in this process wait a tenth of the time. */
const quickSite = (config: Record<string, unknown> = {}) =>
  Site.open(config, { clock: quickClock() })

const receiptOf = (site: Site) =>
  JSON.parse(readFileSync(join(site.inbox, 'jobs.xml.receipt.json'), 'utf8'))

const pending = (site: Site) => {
  const db = new Database(join(site.root, 'state', 'feedsyncd.db'), { readonly: true })
  try {
    return db.prepare('SELECT path FROM pending_receipts').pluck().all()
  } finally {
    db.close()
  }
}

it('each feed has a receipt with line and column, and a receipt is never a feed', async () => {
  await using site = await quickSite({ inbox: { receipts: true, include: ['**'] } })
  await site.daemon()
  const receipt = (name: string) =>
    JSON.parse(readFileSync(join(site.inbox, `${name}.receipt.json`), 'utf8'))

  site.drop('good.xml', feedOf(2))
  site.drop('bad.xml', '<a>\n<b></c>')
  const { sha256, fileUrl } = await site.until('good.xml', 'uploaded')
  await site.until('bad.xml', 'rejected')
  site.drop('later.xml', feedOf(3))
  await site.until('later.xml', 'uploaded')
  await eventually(() => {
    expect(['good.xml', 'later.xml', 'bad.xml'].map((name) => receipt(name).state)).toEqual([
      'uploaded',
      'uploaded',
      'rejected',
    ])
  })

  expect(receipt('good.xml')).toMatchObject({
    ...{ schemaVersion: 1, file: 'good.xml', state: 'uploaded', postings: 2, sha256, fileUrl },
  })
  expect(receipt('bad.xml')).toMatchObject({
    ...{ state: 'rejected', reasonCode: 'not-well-formed', line: 2, column: 4, fileUrl: null },
  })
  expect(receipt('good.xml')).toMatchObject({ reasonCode: null, line: null, column: null })
  expect(
    site
      .uploads({ all: true })
      .map(({ path }) => path)
      .sort(),
  ).toEqual(['bad.xml', 'good.xml', 'later.xml'])
})

it('a file with the bytes of another file has a receipt of its own after it was archived, and show names the other file', async () => {
  const inbox = { receipts: true, afterUpload: 'archive', archiveDirectory: './archive' }
  await using site = await quickSite({ inbox })
  await site.daemon()
  const [friday, saturday] = ['jobs-2026-11-20.xml', 'jobs-2026-11-21.xml']
  const receipt = (name: string) =>
    JSON.parse(readFileSync(join(site.inbox, `${name}.receipt.json`), 'utf8'))
  site.drop(friday, feedOf(3))
  const { id } = await site.until('jobs-{date}.xml', 'uploaded')
  await eventually(() => expect(filesIn(site.inbox)).not.toContain(friday))

  site.drop(saturday, feedOf(3))
  await site.passed('jobs-{date}.xml', 'seen')
  await eventually(() => expect(filesIn(join(site.root, 'archive'))).toHaveLength(2))
  const because = await eventually(async () => {
    const report = await pathReportOf(site, saturday)
    expect(report.because).toContain('archived')
    return report.because
  })
  const own = await pathReportOf(site, friday)
  const { stdout } = await site.run('show', saturday)

  const is = `it has the same bytes as version ${id} (${friday}), which is uploaded`
  expect(because).toBe(`it was archived; ${is}`)
  expect(stdout).toContain(`${saturday}: ${because}`)
  expect(own.because).toBe(`it was archived; its version ${id} is uploaded`)
  expect(receipt(saturday)).toMatchObject({ file: saturday, state: 'uploaded', postings: 3 })
  expect(receipt(friday)).toMatchObject({ file: friday, state: 'uploaded', postings: 3 })
})

it('a file with the bytes of a version that waits gets a receipt at the end of that version, not earlier', async () => {
  await using site = await quickSite({ inbox: { receipts: true } })
  const gate = site.sandbox.faults.add({ at: 'storage', kind: 'gate', point: 'answer' })
  await site.daemon()
  site.drop('jobs-2026-11-20.xml', feedOf(3))
  await gate.held()
  site.drop('jobs-2026-11-21.xml', feedOf(3))
  await site.passed('jobs-{date}.xml', 'seen')
  const before = filesIn(site.inbox)
  gate.release()

  await eventually(() =>
    expect(filesIn(site.inbox)).toEqual([
      'jobs-2026-11-20.xml',
      'jobs-2026-11-20.xml.receipt.json',
      'jobs-2026-11-21.xml',
      'jobs-2026-11-21.xml.receipt.json',
    ]),
  )
  expect(before).toEqual(['jobs-2026-11-20.xml', 'jobs-2026-11-21.xml'])
})

it('a superseded file and a discarded file have receipts, but a path whose newer content waits has none', async () => {
  await using site = await quickSite({ inbox: { receipts: true } })
  await site.daemon()
  const receipt = (name: string) =>
    JSON.parse(readFileSync(join(site.inbox, `${name}.receipt.json`), 'utf8'))
  site.drop('jobs-2026-11-22.xml', feedOf(9))
  await site.until('jobs-{date}.xml', 'uploaded')
  site.drop('jobs-2026-11-21.xml', feedOf(8))
  await site.passed('jobs-{date}.xml', 'superseded')
  await eventually(() => expect(receipt('jobs-2026-11-21.xml')).toBeDefined())

  await site.run('pause')
  site.drop('acme.xml', feedOf(5))
  await site.until('acme.xml', 'queued')
  site.drop('acme.xml', feedOf(6))
  await site.passed('acme.xml', 'superseded')
  const { id } = await site.until('acme.xml', 'queued')
  const replaced = filesIn(site.inbox)
  await site.run('discard', String(id))
  await eventually(() => expect(receipt('acme.xml').state).toBe('discarded'))

  expect(receipt('jobs-2026-11-21.xml')).toMatchObject({
    ...{ state: 'superseded', reasonCode: 'older', postings: 8 },
    reason: 'it is older than version 1 (jobs-2026-11-22.xml)',
  })
  expect(replaced).not.toContain('acme.xml.receipt.json')
  expect(receipt('acme.xml')).toMatchObject({ postings: 6, reasonCode: 'discarded' })
})

it('a receipt that could not be written is written once it can be written', async () => {
  await using site = await quickSite({ inbox: { receipts: true } })
  const receipt = join(site.inbox, 'jobs.xml.receipt.json')
  mkdirSync(receipt)
  const daemon = await site.daemon()
  site.drop('jobs.xml', feedOf(3))
  await site.logged(daemon, 'file.no-receipt')
  rmdirSync(receipt)

  const written = await eventually(() => JSON.parse(readFileSync(receipt, 'utf8')))

  expect(written).toMatchObject({ file: 'jobs.xml', state: 'uploaded' })
})

it('a receipt that was pending at a crash is written at the next start', async () => {
  await using site = await quickSite({ inbox: { receipts: true } })
  site.drop('jobs.xml', BROKEN)
  await site.run('run', '--once')
  const receipt = join(site.inbox, 'jobs.xml.receipt.json')
  const written = readFileSync(receipt, 'utf8')
  unlinkSync(receipt)

  // A crash leaves this: the new state and the note of the pending receipt.
  const db = new Database(join(site.root, 'state', 'feedsyncd.db'))
  const pending = () => db.prepare('SELECT path FROM pending_receipts').pluck().all()
  const before = pending()
  db.prepare("INSERT INTO pending_receipts VALUES (1, 'jobs.xml', '')").run()
  await site.run('run', '--once')
  const left = pending()
  db.close()

  const withoutTime = (text: string) => ({ ...JSON.parse(text), at: null })
  expect(withoutTime(readFileSync(receipt, 'utf8'))).toEqual(withoutTime(written))
  expect([before, left]).toEqual([[], []])
})

it('a receipt that a person removed after it was written is not written again', async () => {
  await using site = await quickSite({ inbox: { receipts: true } })
  site.drop('jobs.xml', feedOf(3))
  await site.run('run', '--once')
  unlinkSync(join(site.inbox, 'jobs.xml.receipt.json'))

  await site.run('run', '--once')

  expect(filesIn(site.inbox)).toEqual(['jobs.xml'])
})

it('a file has the receipt of its newest version, even if an older version is uploaded later', async () => {
  await using site = await quickSite({ inbox: { receipts: true } })
  site.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503, retryAfter: '600' })
  const daemon = await site.daemon()
  site.drop('jobs.xml', feedOf(3))
  await site.untilWaiting('jobs.xml')
  site.drop('jobs.xml', BROKEN)
  await site.until('jobs.xml', 'rejected')
  site.sandbox.faults.clear()
  await site.run('retry', '--all')

  await site.passed('jobs.xml', 'uploaded')
  daemon.kill('SIGTERM')
  await daemon.ended

  expect(receiptOf(site)).toMatchObject({ state: 'rejected', line: 1 })
  expect(pending(site)).toEqual([])
})

it('a file has the receipt of its newest version also after a crash', async () => {
  await using site = await quickSite({ inbox: { receipts: true } })
  for (let n = 1; n <= 8; n++) site.drop(`${lettersOf(n)}.xml`, feedOf(3))
  await site.run('run', '--once')
  for (const content of [feedOf(3), BROKEN]) {
    site.drop('jobs.xml', content)
    await site.run('run', '--once')
  }
  expect(site.uploads({ feed: 'jobs.xml', all: true }).map(({ id }) => id)).toEqual([10, 9])
  const db = new Database(join(site.root, 'state', 'feedsyncd.db'))
  db.prepare("INSERT INTO pending_receipts VALUES (9, 'jobs.xml', ''), (10, 'jobs.xml', '')").run()
  db.close()

  await site.run('run', '--once')

  expect(receiptOf(site)).toMatchObject({ state: 'rejected', line: 1 })
  expect(pending(site)).toEqual([])
})

it('a pending receipt is dropped without a condition after the vendor removed the whole directory', async () => {
  await using site = await quickSite({ inbox: { receipts: true } })
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
  expect(pending(site)).toEqual([])
})
