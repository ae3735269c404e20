import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { OpenDirectory } from '../../../src/lib/beneath.ts'

let base: string
let root: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'beneath-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  root = join(base, 'inbox')
  mkdirSync(join(root, 'a/b'), { recursive: true })
  mkdirSync(join(base, 'outside/b'), { recursive: true })
})

const ways = [
  ['in this thread', async (path: string) => OpenDirectory.atSync(root, path)],
  ['beside the event loop', (path: string) => OpenDirectory.at(root, path)],
  ['creating what is missing', (path: string) => OpenDirectory.atCreated(root, path)],
] as const

describe.each(ways)('a directory below a folder, opened %s', (_, open) => {
  it('stays the same when its path becomes a link', async () => {
    using directory = await open('a/b')
    renameSync(join(root, 'a'), join(base, 'moved'))
    symlinkSync(join(base, 'outside'), join(root, 'a'))

    writeFileSync(directory.entry('jobs.xml'), '')

    expect(readdirSync(join(base, 'moved/b'))).toEqual(['jobs.xml'])
    expect(readdirSync(join(base, 'outside/b'))).toEqual([])
  })

  it.each(['link', 'link/b', 'a/link'])('is not reached through a link (%s)', async (path) => {
    symlinkSync(join(base, 'outside'), join(root, 'link'))
    symlinkSync('b', join(root, 'a/link'))

    await expect(open(path)).rejects.toMatchObject({ code: 'ENOTDIR' })
  })

  it('is not reached through ..', async () => {
    await expect(open('a/../../outside')).rejects.toMatchObject({ code: 'ELOOP' })
  })

  it('may lie below a folder that is itself a link', async () => {
    renameSync(root, join(base, 'real'))
    symlinkSync('real', root)

    using directory = await open('a')

    expect(readdirSync(directory.path)).toEqual(['b'])
  })

  it('closes each directory of its path, also if it cannot be opened', async () => {
    const before = readdirSync('/proc/self/fd').length
    ;(await open('a/b'))[Symbol.dispose]()
    await open('a/b/../..').catch(() => {})
    writeFileSync(join(root, 'file'), '')
    await open('file/x').catch(() => {})

    expect(readdirSync('/proc/self/fd')).toHaveLength(before)
  })
})
