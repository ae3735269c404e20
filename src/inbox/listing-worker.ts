// The listing thread: lists the folder and looks at single paths. Its calls block, and on a network mount without its
// server they might never return. It remembers what it has told of each file, so an unchanged folder needs a short
// answer.

import { statSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { CallMark } from '../lib/call-mark.ts'
import type { FileIdentity } from '../lib/files.ts'
import { VERSION } from '../lib/version.ts'
import { lookAtPaths, walk } from './listing.ts'
import {
  type ListAnswer,
  type ListingRequest,
  type ListingThreadData,
  ROOT,
} from './listing-messages.ts'
import { Mounts, unavailable } from './mounts.ts'
import { createNameFilter } from './name-filter.ts'

const { version, directory, mark: memory, ...patterns } = workerData as ListingThreadData
// An upgrade might have replaced this file while the older program runs. The old program and this thread could misread
// each other.
if (version !== VERSION) throw new Error(`its file now belongs to version ${VERSION}`)

const mark = new CallMark(memory)
const asks = (path: string) => mark.begin(path === '' ? ROOT : path)
const filter = createNameFilter(patterns)
/** What the last listing told of each file; null before the first listing. */
let told: Map<string, string> | null = null

parentPort?.on('message', (request: ListingRequest) => {
  const hung = new Set(request.hung)
  const isHung = (path: string) => hung.has(path)
  const answer =
    request.kind === 'list'
      ? list(request.mounts, isHung)
      : lookAtPaths(request.paths, { asks, directory, isHung })
  mark.end()
  parentPort?.postMessage(answer)
})

/** list lists the folder, and remembers in `told` what it answers. */
function list(
  knownMounts: ReadonlyMap<string, bigint>,
  isHung: (path: string) => boolean,
): ListAnswer {
  const mounts = new Mounts(knownMounts)
  try {
    asks('')
    const { dev, ino, birthtimeNs } = statSync(directory, { bigint: true })
    const { files, ...found } = walk({ directory, filter, mounts, asks, isHung })
    const before = told
    const now = new Map(files.map(({ path, identity }) => [path, textOf(identity)]))
    told = now
    return {
      ...found,
      kind: 'ready',
      stats: { dev, ino, birthtimeNs },
      isWhole: before === null,
      changed: files.filter(({ path }) => before?.get(path) !== now.get(path)),
      gone: [...(before?.keys() ?? [])].filter((path) => !now.has(path)),
      mounts: mounts.known,
      replaced: mounts.replaced,
    }
  } catch (error) {
    return unavailable(directory, error)
  }
}

function textOf({ ctimeNs, dev, ino, mtimeNs, size }: FileIdentity): string {
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`
}
