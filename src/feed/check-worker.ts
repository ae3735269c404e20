// The worker thread's side of the feed checker. While the copy of one feed becomes durable, the next ones are read.
// An error of ours is an answer: what this thread ends of is known by that.

import { VERSION } from '../lib/version.ts'
import { prepareFor, readFeed } from './feed-reader.ts'
import type { CheckJob, CheckResult, Comparison, PostingChanges } from './port.ts'
import { compareIndexes } from './posting-index.ts'

export type WorkerRequest =
  | { kind: 'check'; job: CheckJob }
  | { kind: 'compare'; indexes: Comparison }
  /** A file of so many bytes will be read: what that needs is started. */
  | { kind: 'start'; bytes: number }

// The program may have been replaced since it was started: this file would misread what an older one asks.
if (process.argv[2] !== VERSION) throw new Error(`its file is of version ${VERSION} by now`)

export type WorkerAnswer<T> = { kind: 'result'; result: T } | { kind: 'error'; error: unknown }

type Result = CheckResult | PostingChanges | null

export default async function answer(request: WorkerRequest): Promise<WorkerAnswer<Result>> {
  try {
    return { kind: 'result', result: await resultOf(request) }
  } catch (error) {
    return { kind: 'error', error }
  }
}

function resultOf(request: WorkerRequest): Promise<CheckResult> | PostingChanges | null {
  switch (request.kind) {
    case 'check':
      return readFeed(request.job)
    case 'compare':
      return compareIndexes(request.indexes.older, request.indexes.newer)
    case 'start':
      prepareFor(request.bytes)
      return null
  }
}
