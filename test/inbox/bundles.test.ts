import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stretchOf } from '../../src/lib/stretch.ts'
import { createSpool } from '../../src/spool/spool.ts'
import { SmallDisk } from '../helpers/small-disk.ts'
import { temporaryFolder } from './harness.ts'

function opened() {
  const directory = join(temporaryFolder(), 'state/spool')
  return { directory, spool: createSpool({ directory }) }
}

const copyOf = (text: string) => ({ bytes: Buffer.from(text), index: Buffer.from(`(${text})`) })

/** Keeps them at the same moment, and answers their names. */
async function keptIn(spool: ReturnType<typeof createSpool>, texts: string[]): Promise<string[]> {
  const kept = await Promise.all(texts.map((text) => spool.keepHeld(copyOf(text))))
  return kept.map((each) => (each.kind === 'kept' ? each.name : each.reason))
}

function textAt(path: string): string {
  const { file, from, bytes } = stretchOf(path)
  return readFileSync(file)
    .subarray(from, bytes === null ? undefined : from + bytes)
    .toString()
}

describe('small copies of one moment', () => {
  it('share a file for our user only, in which each is whole, with its index behind it', async () => {
    const { directory, spool } = opened()
    const texts = ['<a/>', '<bb/>', '<ccc/>']

    const names = await keptIn(spool, texts)

    const [file = ''] = readdirSync(directory)
    expect(new Set(names.map(spool.fileOf))).toEqual(new Set([file]))
    expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600)
    expect(names.map(spool.path).map(textAt)).toEqual(texts)
    for (const [n, name] of names.entries()) {
      expect(textAt(spool.indexOf(spool.path(name)))).toMatch(
        new RegExp(`^\\(${texts[n]?.replaceAll('/', '\\/')}\\)`),
      )
    }
  })

  it('are no more than 16 in a file, so that one of them keeps little from being given back', async () => {
    const { directory, spool } = opened()

    const names = await keptIn(
      spool,
      Array.from({ length: 33 }, (_, n) => `<a n="${n}"/>`),
    )

    expect(names.map(spool.path).map(textAt)[32]).toBe('<a n="32"/>')
    expect(readdirSync(directory)).toHaveLength(3)
  })

  it('stay while one of them is needed, and go at the next start when none is', async () => {
    const { directory, spool } = opened()
    const [first = '', second = ''] = await keptIn(spool, ['<a/>', '<b/>'])

    const whileNeeded = await spool.sweep(new Set([second]))
    const kept = textAt(spool.path(first))
    const afterwards = await spool.sweep(new Set())

    expect([whileNeeded, kept, afterwards]).toEqual([0, '<a/>', 1])
    expect(readdirSync(directory)).toEqual([])
  })

  it('are removed together', async () => {
    const { directory, spool } = opened()
    const [first = ''] = await keptIn(spool, ['<a/>', '<b/>'])

    await spool.remove(spool.fileOf(first))

    expect(readdirSync(directory)).toEqual([])
  })

  it('have a file of their own beside those of earlier releases', async () => {
    const { directory, spool } = opened()
    writeFileSync(spool.path('7.xml'), '<a/>')
    writeFileSync(spool.indexOf(spool.path('7.xml')), 'index')
    const [name = ''] = await keptIn(spool, ['<b/>'])

    const swept = await spool.sweep(new Set(['7.xml', name]))

    expect(swept).toBe(0)
    const files = ['7.xml', '7.xml.index', spool.fileOf(name)]
    expect(readdirSync(directory).sort()).toEqual(files.sort())
  })

  it('leave nothing on a disk that gets full while they are written, and are kept when there is room', async (context) => {
    using disk = new SmallDisk(join(temporaryFolder(), 'state'))
    context.skip(!disk.isMounted, 'a file system of its own cannot be mounted here')
    const spool = createSpool({ directory: join(disk.folder, 'spool') })
    const keep = () =>
      Promise.all(['<a/>', '<b/>'].map((tag) => spool.keepHeld(copyOf(tag.repeat(10_000)))))

    disk.fill(process, 60_000)
    const full = await keep()
    const left = readdirSync(join(disk.folder, 'spool'))
    disk.free(process)
    const kept = await keep()

    expect(full).toMatchObject(Array(2).fill({ kind: 'no-room', code: 'ENOSPC' }))
    expect(left).toEqual([])
    expect(kept).toMatchObject(Array(2).fill({ kind: 'kept' }))
  })

  it('are all said to have no room, and leave nothing, where their file cannot be written', async () => {
    const { directory, spool } = opened()
    rmSync(directory, { recursive: true })

    const kept = await Promise.all(['<a/>', '<b/>'].map((text) => spool.keepHeld(copyOf(text))))

    expect(kept).toEqual(
      Array(2).fill({
        kind: 'no-room',
        code: 'ENOENT',
        reason: expect.stringContaining(`the copy in ${directory} cannot be written`),
      }),
    )
  })
})
