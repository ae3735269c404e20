import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ObjectStore } from '../../src/sandbox/object-store.ts'

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'feedsyncd-objects-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

const facts = (key: string) => ({ key, account: null, receivedAt: 0 })

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
  ])('keeps the key %j inside its directory', async (key) => {
    const root = await directory()
    const store = await ObjectStore.open(join(root, 'objects'))
    const incoming = await store.receive()
    await incoming.write(Buffer.from('<a/>'))

    const object = await store.commit(incoming, facts(key))

    expect(object.path.startsWith(join(root, 'objects/'))).toBe(true)
    expect(object.path).not.toContain('.partial')
    expect(await readdir(root)).toEqual(['objects'])
  })

  it('forgets what was not finished, then and at its next start', async () => {
    const root = await directory()
    const store = await ObjectStore.open(root)
    const [one, two] = [await store.receive(), await store.receive()]

    await one.discard()
    await two.finish()
    await ObjectStore.open(root)

    expect(store.list()).toEqual([])
    expect(await readdir(root, { recursive: true })).toEqual(['.partial'])
  })
})
