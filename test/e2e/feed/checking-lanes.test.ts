import { readdirSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { CheckingLanes } from '../../../src/feed/checking-lanes.ts'
import { Folder, jobFor } from '../../helpers/feeds.ts'

const UNCHANGED = { kind: 'changed' }

/** openLanes returns lanes whose thread reads nothing. A job for `/blocks.xml` blocks its thread for ever. */
async function openLanes(folder: Folder) {
  const entry = folder.file(
    'worker.mjs',
    `export default async ({ kind, job }) => {
       if (kind === 'start') return null
       if (job.source === '/blocks.xml') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
       return { kind: 'result', result: { kind: 'changed' } }
     }`,
  )
  // Node's own threads start with the first call of this kind.
  await stat(folder.path)
  const threads = () => readdirSync('/proc/self/task').length
  const before = threads()
  const lanes = new CheckingLanes({ entry: pathToFileURL(entry) })
  const check = (lane: 'small' | 'large', source: string) =>
    lanes.readerFor(lane).check(jobFor(source))
  return { check, lanes, started: () => threads() - before }
}

it('small and large feeds that follow each other share one thread', async () => {
  using folder = new Folder()
  const { check, lanes, started } = await openLanes(folder)
  await using _ = lanes

  lanes.readerFor('large').announce()
  const results = [await check('small', '/a.xml')]
  results.push(await check('large', '/b.xml'), await check('small', '/c.xml'))

  expect(results).toEqual([UNCHANGED, UNCHANGED, UNCHANGED])
  expect(started()).toBe(1)
})

it.each([
  ['small', 'large'],
  ['large', 'small'],
] as const)('a %s feed that is read for ever delays no %s one', async (blocked, free) => {
  using folder = new Folder()
  const { check, lanes, started } = await openLanes(folder)

  const blocks = check(blocked, '/blocks.xml')
  const others = [await check(free, '/a.xml'), await check(free, '/b.xml')]
  const threads = started()

  await Promise.all([expect(blocks).rejects.toThrow('stopping'), lanes[Symbol.asyncDispose]()])
  expect(others).toEqual([UNCHANGED, UNCHANGED])
  expect(threads).toBe(2)
})
