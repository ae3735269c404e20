// A writer changes a feed while its private copy is made and checked, at a moment that differs each time.

import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { readFeed } from '../../../src/feed/feed-reader.ts'
import { identityOf } from '../../../src/lib/files.ts'
import { eventuallyTrue } from '../../helpers/eventually.ts'
import { feedOf } from '../../helpers/feed.ts'
import { jobFor } from '../../helpers/feeds.ts'
import { diskOf, type FileSystem } from '../../helpers/loop-disk.ts'
import { CHANGES, type Change, type ChangeRequest } from './writer.ts'

const TIMES = Number(process.env.FEEDSYNCD_MIXTURES ?? 1_000)
const SETTLED = Buffer.from(feedOf(2_000, 'Nurse'.repeat(100)))
const OTHER = Buffer.from(feedOf(2_000, 'Baker'.repeat(100)))

describe.each<FileSystem>(['xfs', 'btrfs', 'ext4'])('on %s', (type) => {
  it.for(CHANGES)(
    'a feed is copied as it settled or not at all, though its writer does this meanwhile: %s',
    async (change, test) => {
      using disk = diskOf(type, test)
      const outcomes = await outcomesOf(change, disk.folder)

      // Else the writer was always too early or too late.
      expect([...outcomes].sort()).toEqual(['as it settled', 'changed'])
    },
  )
})

it.for<FileSystem>(['xfs', 'btrfs', 'ext4'])(
  'on %s, a half-written feed that never rests is reported as changed if it changes while it is read',
  async (type, test) => {
    using disk = diskOf(type, test)
    const [file, copyTo] = [join(disk.folder, 'jobs.xml'), join(disk.folder, 'copy')]
    const half = OTHER.length >> 1
    writeFileSync(file, Buffer.concat([OTHER.subarray(0, half), SETTLED.subarray(half)]))
    const beforePiece = () => writeFileSync(file, OTHER, { flag: 'r+' })

    const result = await readFeed(jobFor(file, { copyTo, isRestless: true }), { beforePiece })

    expect(result.kind).toBe('changed')
  },
)

/** outcomesOf returns what became of the feed each time: "as it settled", "changed", or what went wrong. */
async function outcomesOf(change: Change, folder: string): Promise<Set<string>> {
  const writer = new Worker(new URL('writer.ts', import.meta.url))
  const [file, copyTo] = [join(folder, 'jobs.xml'), join(folder, 'copy')]
  const outcomes = new Set<string>()
  let lastsMs = Number.POSITIVE_INFINITY
  // The first time is undisturbed, to learn how long reading takes.
  for (let n = 0; n <= TIMES / CHANGES.length; n++) {
    writeFileSync(file, SETTLED)
    const expected = identityOf(statSync(file, { bigint: true }))
    await timePassed(join(folder, 'probe'), expected.ctimeNs)
    const done = n === 0 ? null : once(writer, 'message')
    const afterMs = (lastsMs * randomInt(1_100)) / 1_000
    if (n > 0)
      writer.postMessage({ change, file, document: OTHER, afterMs } satisfies ChangeRequest)
    const began = performance.now()
    const result = await readFeed(jobFor(file, { expected, copyTo }))
    if (result.kind === 'read') lastsMs = Math.min(lastsMs, performance.now() - began)
    await done
    outcomes.add(result.kind === 'read' ? readAs(copyTo) : result.kind)
    for (const path of [file, copyTo]) rmSync(path, { force: true })
  }
  await writer.terminate()
  return outcomes
}

/** readAs says what a copy contains. */
function readAs(copy: string): string {
  if (!existsSync(copy)) return 'refused'
  return readFileSync(copy).equals(SETTLED) ? 'as it settled' : 'a mixture'
}

/** timePassed waits until a change of a file gets a later time: many kernels count in steps of 4 ms. */
async function timePassed(probe: string, ctimeNs: string): Promise<void> {
  await eventuallyTrue(() => {
    writeFileSync(probe, '')
    return statSync(probe, { bigint: true }).ctimeNs > BigInt(ctimeNs)
  })
}
