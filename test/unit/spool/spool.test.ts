import { execFileSync } from 'node:child_process'
import {
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSpool } from '../../../src/spool/spool.ts'
import { temporaryFolder } from '../../helpers/inbox/harness.ts'

function opened() {
  const directory = join(temporaryFolder(), 'state/spool')
  return { directory, spool: createSpool(directory) }
}

const COPY = { id: 42, feed: 'jobs.xml', postings: 1000 }
const NAME = '42-1000-56fdeea37f948fc4.xml'

describe('the spool', () => {
  it('is a directory for our user only', () => {
    const { directory } = opened()
    const { mode } = statSync(directory)

    expect(mode & 0o777).toBe(0o700)
  })

  it('prepares a new name each time, and creates no file', () => {
    const { directory, spool } = opened()

    const names = [spool.prepare(), spool.prepare()]

    expect(new Set(names).size).toBe(2)
    expect(readdirSync(directory)).toEqual([])
  })

  it('keeps a written copy under a name that says its version, its postings and its feed', async () => {
    const { directory, spool } = opened()
    const prepared = spool.prepare()
    writeFileSync(prepared, '<a/>', { flag: 'wx' })

    const name = await spool.keep(prepared, COPY)

    expect(name).toBe(NAME)
    expect(readdirSync(directory)).toEqual([NAME])
    expect(readFileSync(spool.path(name), 'utf8')).toBe('<a/>')
  })

  it('keeps the index beside its copy', async () => {
    const { directory, spool } = opened()
    const prepared = spool.prepare()
    writeFileSync(prepared, '<a/>')
    writeFileSync(spool.indexOf(prepared), 'index')

    const name = await spool.keep(prepared, COPY)

    expect(readdirSync(directory).sort()).toEqual([NAME, `${NAME}.index`])
    expect(readFileSync(spool.indexOf(spool.path(name)), 'utf8')).toBe('index')
  })

  it('discards prepared files, written or not', async () => {
    const { directory, spool } = opened()
    const written = spool.prepare()
    writeFileSync(written, '<a/>')
    writeFileSync(spool.indexOf(written), 'index')

    await spool.discard(written)
    await spool.discard(spool.prepare())

    expect(readdirSync(directory)).toEqual([])
  })

  it('removes a copy with its index, and accepts that it is missing', async () => {
    const { directory, spool } = opened()
    writeFileSync(spool.path('1.xml'), '<a/>')
    writeFileSync(spool.indexOf(spool.path('1.xml')), 'index')

    await spool.remove('1.xml')
    await spool.remove('1.xml')

    expect(readdirSync(directory)).toEqual([])
  })

  it('sweeps copies that belong to no version and half-written ones, counts them, and keeps the others', async () => {
    const { directory, spool } = opened()
    writeFileSync(spool.path('1.xml'), '<a/>')
    writeFileSync(spool.indexOf(spool.path('1.xml')), 'index')
    writeFileSync(spool.path('2.xml'), '<a/>')
    writeFileSync(spool.indexOf(spool.path('2.xml')), 'index')
    writeFileSync(spool.prepare(), '<a')

    const swept = await spool.sweep(new Set(['1.xml', '3.xml']))

    expect(swept).toBe(3)
    expect(readdirSync(directory).sort()).toEqual(['1.xml', '1.xml.index'])
  })

  it('knows the free bytes of its file system', async () => {
    const { directory, spool } = opened()

    const freeBytes = await spool.freeBytes()

    const { bsize, blocks } = statfsSync(directory)
    expect(freeBytes).toBeGreaterThan(0)
    expect(freeBytes).toBeLessThanOrEqual(bsize * blocks)
  })

  it('assumes free room on a file system that does not report it', async () => {
    const { directory, spool } = opened()
    rmSync(directory, { recursive: true })
    symlinkSync('/proc', directory)

    expect(await spool.freeBytes()).toBe(Number.POSITIVE_INFINITY)
  })

  it('cannot clone a missing file, a link, a fifo or a directory, and leaves no clone of a try', async () => {
    const { directory, spool } = opened()
    const inbox = temporaryFolder()
    writeFileSync(join(inbox, 'jobs.xml'), '<a/>')
    symlinkSync('jobs.xml', join(inbox, 'link.xml'))
    execFileSync('mkfifo', [join(inbox, 'fifo.xml')])

    for (const path of ['missing.xml', 'link.xml', 'fifo.xml', '.'])
      expect(await spool.canClone(inbox, path)).toBe(false)
    await spool.canClone(inbox, 'jobs.xml')

    expect(readdirSync(directory)).toEqual([])
  })

  it('says how to get a new one when it was removed under a daemon, and a restart makes one', async () => {
    const { directory, spool } = opened()
    rmSync(directory, { recursive: true })

    await expect(spool.freeBytes()).rejects.toMatchObject({
      message: `read the spool: ${directory} does not exist (ENOENT)`,
      hint: 'put it back; or restart feedsyncd, which makes an empty one',
    })
    createSpool(directory)
    expect(await spool.freeBytes()).toBeGreaterThan(0)
  })

  it('names the system’s reason and what to do when it cannot keep a copy', async () => {
    const { directory, spool } = opened()
    rmSync(directory, { recursive: true })
    writeFileSync(directory, '')

    const kept = spool.keep(spool.prepare(), COPY)

    await expect(kept).rejects.toMatchObject({
      name: 'FeedsyncError',
      message: `keep a file in the spool: ${directory} has a part in its path that is not a directory (ENOTDIR)`,
      hint: 'correct it, or state.directory',
    })
  })

  it('throws a FeedsyncError when its directory cannot be made', () => {
    const { directory } = opened()
    rmSync(directory, { recursive: true })
    writeFileSync(directory, '')

    const reopened = () => createSpool(join(directory, 'below'))

    expect(reopened).toThrow(expect.objectContaining({ name: 'FeedsyncError' }))
  })
})
