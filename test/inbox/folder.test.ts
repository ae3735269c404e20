import {
  type BigIntStats,
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FolderGuard } from '../../src/inbox/mounts.ts'
import { openInbox, pathsOf, put, temporaryFolder, unprivileged } from './harness.ts'

function guarded(): string {
  const folder = join(temporaryFolder(), 'inbox')
  put(folder, 'a.xml')
  return folder
}

describe('the folder itself', () => {
  it('is named as missing, with the way out, and its files are unknown, not gone', async () => {
    const folder = guarded()
    const inbox = openInbox(folder)
    await inbox.list()
    rmSync(folder, { recursive: true })

    const listing = await inbox.list()

    expect(listing).toEqual({
      folder: {
        kind: 'unavailable',
        code: 'ENOENT',
        reason: `the folder ${folder} does not exist (ENOENT)`,
        hint: 'create it, mount it, or correct inbox.directory',
      },
      files: [],
      refused: [],
      ignored: [],
      links: [],
      unlisted: [],
      unreadable: [],
      temporary: [],
      unknown: [''],
    })
  })

  it('is named when a file is in its place', async () => {
    const folder = guarded()
    rmSync(folder, { recursive: true })
    writeFileSync(folder, '')

    const listing = await openInbox(folder).list()

    expect(listing.folder).toMatchObject({ kind: 'unavailable', code: 'ENOTDIR' })
    expect(listing.unknown).toEqual([''])
  })

  it.each([0o000, 0o444])('is named when its mode is %o', async (mode) => {
    const folder = guarded()
    chmodSync(folder, mode)
    const inbox = openInbox(folder)

    const closed = await unprivileged(() => inbox.list())
    chmodSync(folder, 0o755)
    const open = await unprivileged(() => inbox.list())

    expect(closed.folder).toMatchObject({ kind: 'unavailable', code: 'EACCES' })
    expect(closed.unknown).toEqual([''])
    expect(open.folder).toEqual({ kind: 'ready' })
    expect(pathsOf(open)).toEqual(['a.xml'])
  })

  it('is named when its links lead in a circle', async () => {
    const folder = guarded()
    rmSync(folder, { recursive: true })
    symlinkSync(folder, folder)

    const listing = await openInbox(folder).list()

    expect(listing.folder).toMatchObject({ kind: 'unavailable', code: 'ELOOP' })
  })

  it('may itself be reached by a link', async () => {
    const folder = guarded()
    const link = `${folder}-link`
    symlinkSync(folder, link)

    const listing = await openInbox(link).list()

    expect(pathsOf(listing)).toEqual(['a.xml'])
  })

  it('is listed as it is after it was swapped by rename', async () => {
    const folder = guarded()
    put(`${folder}-new`, 'b.xml')
    const inbox = openInbox(folder)
    await inbox.list()
    renameSync(folder, `${folder}-old`)
    renameSync(`${folder}-new`, folder)

    const listing = await inbox.list()

    expect(listing.folder).toEqual({ kind: 'ready' })
    expect(pathsOf(listing)).toEqual(['b.xml'])
  })

  it('comes back automatically after it was deleted and made again', async () => {
    const folder = guarded()
    const inbox = openInbox(folder)
    await inbox.list()
    rmSync(folder, { recursive: true })
    const during = await inbox.list()
    mkdirSync(folder)
    put(folder, 'b.xml')

    const after = await inbox.list()

    expect(during.folder.kind).toBe('unavailable')
    expect(pathsOf(after)).toEqual(['b.xml'])
  })

  it('shares one listing among those who ask at the same time', async () => {
    const inbox = openInbox(guarded())

    const [first, second] = await Promise.all([inbox.list(), inbox.list()])

    expect(second).toBe(first)
  })
})

describe('a mount that comes and goes', () => {
  const onDevice = (dev: bigint) => ({ dev, ino: 2n, birthtimeNs: 0n }) as BigIntStats

  it('is not mistaken for a folder whose files are all gone', () => {
    const guard = new FolderGuard('/inbox')
    guard.admit(onDevice(8n), false)

    const unmounted = guard.admit(onDevice(1n), true)
    const still = guard.admit(onDevice(1n), true)
    const mounted = guard.admit(onDevice(8n), false)

    expect(unmounted.state).toEqual({
      kind: 'unavailable',
      code: 'EXDEV',
      reason: 'the folder /inbox is empty and on another file system than before (EXDEV)',
      hint: 'mount its file system again; if the change is meant, drop a file into it or restart',
    })
    expect(still.state.kind).toBe('unavailable')
    expect(mounted).toEqual({ state: { kind: 'ready' }, replaced: false })
  })

  it('is taken as it is when it brings files', () => {
    const guard = new FolderGuard('/inbox')
    guard.admit(onDevice(1n), true)

    const mounted = guard.admit(onDevice(8n), false)

    expect(mounted).toEqual({ state: { kind: 'ready' }, replaced: true })
  })

  it('does not forbid a folder to become empty', () => {
    const guard = new FolderGuard('/inbox')
    guard.admit(onDevice(8n), false)

    const emptied = guard.admit(onDevice(8n), true)

    expect(emptied).toEqual({ state: { kind: 'ready' }, replaced: false })
  })
})
