// Where inbox and state lie on one file system that can clone, the private copy of a large feed shares the blocks of
// the vendor's file.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readFeed } from '../../../src/feed/feed-reader.ts'
import { feedOf, lettersOf } from '../../helpers/feed.ts'
import { Folder, jobFor } from '../../helpers/feeds.ts'
import { diskOf, type FileSystem, type LoopDisk } from '../../helpers/loop-disk.ts'
import { Site } from '../../helpers/site.ts'

const MIB = 2 ** 20
const [LARGE, OTHER] = ['Nurse', 'Baker'].map((title) => feedOf(50_000, title.repeat(100))) as [
  string,
  string,
]
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')

describe.each<FileSystem>(['xfs', 'btrfs'])('the private copy on %s', (type) => {
  it('takes no room, so a feed that is larger than the free space is delivered', async (test) => {
    using disk = diskOf(type, test)
    await using site = await Site.open()
    putOn(disk, site)
    await site.daemon()
    disk.fill(LARGE.length + 20 * MIB)

    site.drop('jobs.xml', LARGE)

    const { sha256: sent } = await site.until('jobs.xml', 'uploaded')
    expect(sent).toBe(sha256(LARGE))
    expect(copiesOf(site).map(isShared)).toEqual([true])
  })

  it('is sent as it was checked, though the vendor rewrites the file before; then the rewritten file is sent', async (test) => {
    using disk = diskOf(type, test)
    await using site = await Site.open()
    putOn(disk, site)
    const gate = site.sandbox.faults.add({ at: 'service', kind: 'gate', point: 'answer' })
    await site.daemon()
    site.drop('jobs.xml', LARGE)
    await gate.held()

    const file = openSync(join(site.inbox, 'jobs.xml'), 'r+')
    writeSync(file, OTHER)
    closeSync(file)
    gate.remove()

    await site.until('jobs.xml', 'uploaded', sha256(OTHER))
    expect(storedIn(site)).toEqual([LARGE, OTHER].map(sha256).sort())
  })

  it('is a clone that no other user can read, though every user can read the file', async (test) => {
    using disk = diskOf(type, test)
    const copyTo = join(disk.folder, 'copy')
    const source = join(disk.folder, 'jobs.xml')
    writeFileSync(source, LARGE, { mode: 0o444 })

    const result = await readFeed(jobFor(source, { copyTo }))

    expect(result.kind).toBe('read')
    expect(isShared(copyTo)).toBe(true)
    expect(statSync(copyTo).mode & 0o777).toBe(0o600)
  })

  it('is written, and private, where the inbox lies on another file system', async (test) => {
    using disk = diskOf(type, test)
    using inbox = new Folder()
    const copyTo = join(disk.folder, 'copy')

    const result = await readFeed(jobFor(inbox.file('jobs.xml', LARGE), { copyTo }))

    expect(result).toMatchObject({ kind: 'read', sha256: sha256(LARGE) })
    expect(readFileSync(copyTo, 'utf8')).toBe(LARGE)
    expect(statSync(copyTo).mode & 0o777).toBe(0o600)
  })
})

it('a copy is written on Btrfs if the blocks of the file cannot be shared (chattr +C)', async (test) => {
  using disk = diskOf('btrfs', test)
  const [source, copyTo] = [join(disk.folder, 'jobs.xml'), join(disk.folder, 'copy')]
  writeFileSync(source, '')
  execFileSync('chattr', ['+C', source])
  writeFileSync(source, LARGE)

  const result = await readFeed(jobFor(source, { copyTo }))

  expect(result).toMatchObject({ kind: 'read', sha256: sha256(LARGE) })
  expect(isShared(copyTo)).toBe(false)
  expect(readFileSync(copyTo, 'utf8')).toBe(LARGE)
})

it('after a power cut on XFS, each accepted version is uploaded from its copy, whether cloned or written', async (test) => {
  using disk = diskOf('xfs', test)
  await using site = await Site.open()
  putOn(disk, site)
  await site.run('pause')
  const daemon = await site.daemonProcess()
  const documents = [LARGE, feedOf(1_000)]
  for (const [n, document] of documents.entries()) {
    const name = `${lettersOf(n)}.xml`
    // Only the daemon's own files are to be at risk.
    writeFileSync(join(site.inbox, name), document, { flush: true })
    await site.until(name, 'queued')
  }

  disk.cutPower()
  daemon.kill('SIGKILL')
  await new Promise((resolve) => daemon.once('exit', resolve))
  disk.unmount()
  disk.mount()

  await site.run('resume')
  await site.run('run', '--once')
  expect(site.uploads().map(({ state }) => state)).toEqual(['uploaded', 'uploaded'])
  expect(storedIn(site)).toEqual(documents.map(sha256).sort())
})

const storedIn = (site: Site) =>
  site.sandbox
    .objects()
    .map((stored) => stored.sha256)
    .sort()

/** putOn moves inbox and state of a site that has not started to the disk. */
function putOn(disk: LoopDisk, site: Site): void {
  rmdirSync(site.inbox)
  for (const folder of ['inbox', 'state']) {
    disk.makeFolder(folder)
    symlinkSync(join(disk.folder, folder), join(site.root, folder))
  }
}

function copiesOf(site: Site): string[] {
  const spool = join(site.root, 'state', 'spool')
  const names = readdirSync(spool).filter((name) => name.endsWith('.xml'))
  return names.map((name) => join(spool, name))
}

function isShared(file: string): boolean {
  return execFileSync('filefrag', ['-v', file], { encoding: 'utf8' }).includes('shared')
}
