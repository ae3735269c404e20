// The configured end of uploaded and rejected files: archive, delete or quarantine.

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { filesIn } from '../../helpers/inbox/files-in.ts'
import { killed } from '../../helpers/killed.ts'
import { statusOf } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

/** quickSite opens a site whose commands in this process wait a tenth of the time. */
const quickSite = (config: Record<string, unknown> = {}) =>
  Site.open(config, { clock: quickClock() })

it('archive moves each uploaded file to a name of its own and overwrites nothing', async () => {
  await using site = await quickSite({
    inbox: { afterUpload: 'archive', archiveDirectory: './archive' },
  })
  await site.daemon()
  const archive = join(site.root, 'archive', 'acme')

  for (const [index, postings] of [4, 5].entries()) {
    site.drop('acme/jobs.xml', feedOf(postings))
    await eventually(() => expect(filesIn(archive)).toHaveLength(index + 1))
  }

  const contents = filesIn(archive).map((name) => readFileSync(join(archive, name), 'utf8'))
  expect(contents).toEqual([feedOf(4), feedOf(5)])
  await eventually(() => expect(filesIn(site.inbox)).toEqual([]))
  expect(site.uploads({ all: true }).map(({ state }) => state)).toEqual(['uploaded', 'uploaded'])
})

it('delete removes only the bytes that were uploaded', async () => {
  await using site = await quickSite({ inbox: { afterUpload: 'delete' } })
  // The small file is shorter than this byte position.
  const gate = site.sandbox.faults.add({ at: 'storage', kind: 'gate-at-byte', fileByte: 20_000 })
  await site.daemon()
  site.drop('plain.xml', feedOf(2))
  site.drop('replaced.xml', feedOf(3000))
  await gate.held()

  // Other bytes, which are held, so the file stays.
  site.drop('replaced.xml', feedOf(9))
  await site.until('replaced.xml', 'held')
  gate.remove()
  await eventually(() => {
    expect(site.uploads({ states: ['uploaded'], all: true })).toHaveLength(2)
    expect(filesIn(site.inbox)).toEqual(['replaced.xml'])
  })

  expect(readFileSync(join(site.inbox, 'replaced.xml'), 'utf8')).toBe(feedOf(9))
})

it('quarantine moves a rejected file that did not change for incompleteAfter, and not earlier', async () => {
  const inbox = { afterReject: 'quarantine', quarantineDirectory: './bad' }
  await using site = await quickSite({ inbox: { ...inbox, incompleteAfter: '1h' } })
  const daemon = await site.daemon()
  site.drop('broken.xml', '<a></b>')
  await site.until('broken.xml', 'rejected')
  const scan = () => statusOf(site).daemon.lastScanAt
  const before = scan()
  await eventually(() => expect(scan()).not.toBe(before))
  const kept = filesIn(site.inbox)

  await daemon.stop()
  site.configure({ inbox: { ...inbox, incompleteAfter: '1s' } })
  await site.daemon()
  await eventually(() => expect(filesIn(site.inbox)).toEqual([]))

  expect(kept).toEqual(['broken.xml'])
  expect(filesIn(join(site.root, 'bad'))).toEqual([expect.stringMatching(/^broken\..*\.xml$/)])
})

it('a file that a crash left partly archived is archived and never replaces a newer version', async () => {
  await using site = await quickSite()
  const [old, newer] = [feedOf(5, 'Old'), feedOf(6, 'Newer')]
  site.drop('jobs.xml', old)
  await site.run('run', '--once')
  site.configure({ inbox: { afterUpload: 'archive', archiveDirectory: './archive' } })
  const point = 'after rename inbox/jobs.xml to inbox/.jobs.xml.*.taken'
  const wasKilled = await killed(site, point)
  const half = filesIn(site.inbox)
  site.drop('jobs.xml', newer)

  for (let pass = 0; pass < 3; pass++) await site.run('run', '--once')

  expect(wasKilled).toBe(true)
  expect(half).toEqual([expect.stringMatching(/^\.jobs\.xml\.[0-9a-f]{12}\.taken$/)])
  const uploaded = site.uploads({ all: true }).map(({ postings, state }) => [postings, state])
  expect(uploaded).toEqual([
    [6, 'uploaded'],
    [5, 'uploaded'],
  ])
  expect(filesIn(site.inbox)).toEqual([])
  expect(filesIn(join(site.root, 'archive'))).toHaveLength(2)
})

it('files of other programs with names like ours are left alone and do not stop a scan', async () => {
  await using site = await quickSite({ inbox: { afterUpload: 'archive', receipts: true } })
  const at = (name: string) => join(site.inbox, name)
  execFileSync('mkfifo', [at('.fifo.xml.0123456789ab.taken')])
  symlinkSync('/dev/zero', at('.zero.xml.0123456789ab.taken'))
  writeFileSync(at('.plain.xml.0123456789ab.taken'), feedOf(2))
  writeFileSync(at('.0123456789ab.receipt.tmp'), '')
  execFileSync('truncate', ['-s', '1T', at('.huge.xml.0123456789ab.taken')])
  await site.daemon()

  for (const name of ['first.xml', 'second.xml']) {
    site.drop(name, feedOf(2))
    await site.until(name, 'uploaded')
    await eventually(() => expect(filesIn(site.inbox)).not.toContain(name))
  }

  const hidden = () => readdirSync(site.inbox).filter((name) => name.startsWith('.'))
  // Our own temporary files exist for a moment on the way to the archive.
  await eventually(() => {
    expect(hidden().sort()).toEqual([
      '.0123456789ab.receipt.tmp',
      '.fifo.xml.0123456789ab.taken',
      '.huge.xml.0123456789ab.taken',
      '.plain.xml.0123456789ab.taken',
      '.zero.xml.0123456789ab.taken',
    ])
  })
})

it('an impossible archive is a condition with a hint, and the file stays', async () => {
  await using site = await quickSite({
    inbox: { afterUpload: 'archive', archiveDirectory: './archive' },
  })
  writeFileSync(join(site.root, 'archive'), 'not a directory')
  await site.daemon()

  site.drop('jobs.xml', feedOf(2))
  await site.until('jobs.xml', 'uploaded')
  const condition = await eventually(() => {
    const [first] = statusOf(site).daemon.conditions
    if (first === undefined) throw new Error('there is none yet')
    return first
  })

  expect(condition).toMatchObject({
    code: 'dispositions-failing',
    message: 'files stay in the folder: archive is not possible (EEXIST)',
    hint: expect.any(String),
  })
  expect(filesIn(site.inbox)).toEqual(['jobs.xml'])
})
