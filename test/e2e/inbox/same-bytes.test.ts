// The bytes of a file decide whether it is a new version, not its date, size or inode.

import { createHash } from 'node:crypto'
import { copyFileSync, renameSync, rmSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')
const DATE = new Date(2026, 1, 3)

it('other bytes with the same size, date and first 4 KB are a new version, even with the same inode', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  await site.daemon()
  const path = join(site.inbox, 'jobs.xml')
  const draft = `${path}.part`
  const contents = ['Nurse', 'Baker', 'Clerk'].map((last) =>
    feedOf(60, 'Nurse').replace(/Nurse 59/, `${last} 59`),
  )
  const [first = '', second = '', third = ''] = contents
  const rename = (bytes: string) => {
    writeFileSync(draft, bytes)
    utimesSync(draft, DATE, DATE)
    renameSync(draft, path)
  }

  rename(first)
  await site.until('jobs.xml', 'uploaded', sha256(first))
  rename(second)
  const { bytes, changes } = await site.until('jobs.xml', 'uploaded', sha256(second))
  // A new file often gets the inode of a file that was just deleted.
  rmSync(path)
  writeFileSync(path, third)
  utimesSync(path, DATE, DATE)
  await site.until('jobs.xml', 'uploaded', sha256(third))

  expect(first.slice(0, 4096)).toBe(second.slice(0, 4096))
  expect(bytes).toBe(Buffer.byteLength(first))
  expect(changes).toEqual({ added: 0, removed: 0, changed: 1 })
  expect(site.sandbox.objects().map((object) => object.sha256)).toEqual(contents.map(sha256))
})

it.each([0, 4_102_444_800])('a file dated %i s after 1970 is uploaded', async (date) => {
  await using site = await Site.open({}, { clock: quickClock() })
  await site.daemon()
  const path = join(site.inbox, 'jobs.xml')

  for (const postings of [20, 21]) {
    writeFileSync(`${path}.part`, feedOf(postings))
    utimesSync(`${path}.part`, date, date)
    renameSync(`${path}.part`, path)
    await site.until('jobs.xml', 'uploaded', sha256(feedOf(postings)))
  }

  expect(site.sandbox.objects()).toHaveLength(2)
})

it('the same bytes are not sent again after any kind of write; status counts them', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  await site.daemon()
  const path = join(site.inbox, 'jobs.xml')
  site.drop('jobs.xml', feedOf(4))
  const { id } = await site.until('jobs.xml', 'uploaded')
  const seen = (times: number) =>
    eventually(() => {
      const seen = site.show(id).events.filter(({ to }) => to === 'seen')
      expect(seen.map(({ count = 1 }) => count)).toEqual([times])
    })

  // touch
  utimesSync(path, DATE, DATE)
  await seen(1)
  // rename over
  site.drop('jobs.xml', feedOf(4))
  await seen(2)
  // rsync -a: a dot name, the date of the source, a rename
  const draft = join(site.inbox, '.jobs.xml.AbC123')
  copyFileSync(path, draft)
  utimesSync(draft, DATE, DATE)
  renameSync(draft, path)
  await seen(3)
  // deleted and written again, often with the same inode
  unlinkSync(path)
  writeFileSync(path, feedOf(4))
  await seen(4)
  const { stdout } = await site.run('show', String(id))

  expect(stdout).toMatch(/the same bytes at jobs\.xml; 4 times since \d{4}-/)
  expect(site.uploads({ all: true })).toMatchObject([{ id, state: 'uploaded' }])
  expect(site.sandbox.objects()).toHaveLength(1)
})
