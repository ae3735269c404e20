// A program that reads the database in one transaction for hours: SQLite can then shorten its log for nobody. The
// daemon's clocks run ten times as fast.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { feedOf, preload, Site } from '../../helpers/site.ts'

it('status warns of a database log that a reader keeps large, until the reader is gone and the log shrinks', async () => {
  await using site = await Site.open()
  site.env = preload('fast-time.ts')
  await site.daemonProcess()
  site.drop('jobs.xml', feedOf(2))
  await site.until('jobs.xml', 'uploaded')
  const file = join(site.root, 'state', 'feedsyncd.db')
  const reader = new Database(file, { readonly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM versions').get()
  const writer = new Database(file)
  writer.exec('CREATE TABLE ballast (bytes BLOB); INSERT INTO ballast VALUES (zeroblob(300000000))')
  writer.close()
  const problem = () => statusOf(site).problems.find(({ code }) => code === 'database-log-large')
  const peak = statSync(`${file}-wal`).size

  const told = await eventually(() => problem() ?? expect.fail('not told yet'))
  reader.close()
  await eventually(() => expect(statSync(`${file}-wal`).size).toBeLessThan(16 * 2 ** 20))
  await eventually(() => expect(problem()).toBeUndefined())
  site.drop('jobs.xml', feedOf(3))
  await eventually(() => expect(site.uploads()[0]?.postings).toBe(3))

  expect(peak).toBeGreaterThan(256 * 2 ** 20)
  expect(told).toMatchObject({ severity: 'warning' })
  expect(told.says).toContain('another program reads the database in one long transaction')
})
