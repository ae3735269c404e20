import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../../src/sandbox/database.ts'
import { openStore } from '../../../src/sandbox/storage/object-store.ts'

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'feedsyncd-objects-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

describe('the object store', () => {
  it.each([
    '../../outside.xml',
    '/absolute.xml',
    'a//b.xml',
    '.partial/1',
    '..',
    'a/./b.xml',
    `long/${'x'.repeat(900)}.xml`,
    'nul\0.xml',
    'a\\..\\b.xml',
  ])(
    'keeps the key %j inside its directory and outside its folder of unfinished objects',
    async (key) => {
      const root = await directory()
      const store = await openStore(join(root, 'objects'), openDatabase(':memory:'))
      await using incoming = await store.receive()
      await incoming.write(Buffer.from('<a/>'))

      await incoming.commit({ key, account: null, receivedAt: 0, ...incoming.digest() })

      const [object] = store.list()
      expect(object?.path.startsWith(join(root, 'objects/'))).toBe(true)
      expect(object?.path).not.toContain('.partial')
      expect(await readdir(root)).toEqual(['objects'])
    },
  )

  it('removes an unfinished object at once, and those of an earlier store at its start', async () => {
    const root = await directory()
    const store = await openStore(root, openDatabase(':memory:'))
    {
      await using incoming = await store.receive()
      await incoming.write(Buffer.from('<a/>'))
    }
    await writeFile(join(root, '.partial', 'of an earlier one'), '<a/>')
    const left = await readdir(root, { recursive: true })
    await openStore(root, openDatabase(':memory:'))

    expect(store.list()).toEqual([])
    expect(left).toEqual(['.partial', '.partial/of an earlier one'])
    expect(await readdir(root, { recursive: true })).toEqual(['.partial'])
  })
})
