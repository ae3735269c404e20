// Changes of the file before and during its delivery. The daemon sends the checked copy in the spool, so no write in
// the folder reaches storage. The copy must keep its size.

import { createHash } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MINUTE } from '../../../src/lib/clock.ts'
import { feedOf } from '../../helpers/feed.ts'
import { largeFeed, Outlet } from '../../helpers/outlet.ts'

const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex')
const LARGE = largeFeed(16_000_000)

const CHANGES: Array<[string, (path: string) => void]> = [
  ['truncated', (path) => truncateSync(path, 100)],
  ['appended to', (path) => appendFileSync(path, '<more/>')],
  ['rewritten, same size', (path) => writeFileSync(path, 'x'.repeat(statSync(path).size))],
  ['touched', (path) => utimesSync(path, 1, 1)],
  [
    'replaced by rename',
    (path) => {
      writeFileSync(`${path}.new`, feedOf(9))
      renameSync(`${path}.new`, path)
    },
  ],
  ['deleted', (path) => unlinkSync(path)],
  ['made unreadable', (path) => chmodSync(path, 0)],
]

it.each(CHANGES)(
  'a file that is %s after it is queued is delivered as it was checked, also at a second attempt',
  async (...row) => {
    const [, change] = row
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 'answer', status: 500, times: 1 })
    await outlet.take('jobs.xml', feedOf(3))

    change(join(outlet.root, 'inbox', 'jobs.xml'))
    await outlet.run()

    expect(outlet.outcomes()).toEqual(['failed', 'stored'])
    expect(outlet.sandbox.objects().map((object) => object.sha256)).toEqual([sha256(feedOf(3))])
  },
)

it('a file that changes while it is sent is stored as it was checked', async () => {
  await using outlet = await Outlet.open()
  const gate = outlet.sandbox.faults.add({ at: 'storage', kind: 'gate-at-byte', fileByte: 1 })
  await outlet.take('jobs.xml', LARGE)
  const path = join(outlet.root, 'inbox', 'jobs.xml')

  const running = outlet.run()
  await gate.held()
  truncateSync(path, 10)
  gate.remove()
  await running

  expect(outlet.outcomes()).toEqual(['stored'])
  expect(outlet.sandbox.objects().map((object) => object.sha256)).toEqual([sha256(LARGE)])
})

it('an empty file is incomplete, and nothing is sent', async () => {
  await using outlet = await Outlet.open()

  const version = await outlet.take('jobs.xml', '')
  await outlet.run()

  expect(version.state).toBe('incomplete')
  expect(outlet.sandbox.requests()).toEqual([])
})

describe('our own copy', () => {
  const spool = (outlet: Outlet) => {
    const folder = join(outlet.root, 'state', 'spool')
    const [copy = ''] = readdirSync(folder).filter((name) => /^1-.*\.xml$/.test(name))
    return join(folder, copy)
  }

  const DAMAGES: Array<[string, (path: string) => void, string]> = [
    ['truncated', (path) => truncateSync(path, 100), 'spool-changed'],
    ['appended to', (path) => appendFileSync(path, '<more/>'), 'spool-changed'],
    ['deleted', (path) => rmSync(path), 'spool-gone'],
  ]

  it.each(DAMAGES)(
    'that is %s is not sent, has a hint, and is replaced when the file is dropped again',
    async (_, change, code) => {
      await using outlet = await Outlet.open()
      await outlet.take('jobs.xml')
      const copy = spool(outlet)
      chmodSync(copy, 0o600)
      change(copy)

      await outlet.run(10 * MINUTE)
      const version = outlet.version()
      const attempts = outlet.attempts()
      const posts = outlet.requests('storage')
      const again = await outlet.deliver(undefined, 10 * MINUTE)

      expect(version).toMatchObject({
        ...{ state: 'failed', hint: expect.stringContaining('disk of the state directory') },
      })
      expect(attempts).toMatchObject([{ code, bytesSent: 0 }])
      expect(posts).toEqual([])
      expect(again).toMatchObject({ state: 'uploaded', sha256: sha256(feedOf(3)) })
      expect(outlet.version().state).toBe('superseded')
    },
  )

  it('that is rewritten with the same size is detected by storage’s checksum, and fails the version', async () => {
    await using outlet = await Outlet.open()
    await outlet.take('jobs.xml')

    chmodSync(spool(outlet), 0o600)
    writeFileSync(spool(outlet), 'x'.repeat(statSync(spool(outlet)).size))
    await outlet.run(10 * MINUTE)

    expect(outlet.version()).toMatchObject({ state: 'failed', etagVerified: null })
    expect(outlet.attempts()).toMatchObject([{ code: 'spool-changed' }])
  })
})
