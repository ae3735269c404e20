// The worker thread's side of the feed checker. It reads the next feeds while the copy of an earlier feed becomes
// durable. It returns its own errors as answers, so the main thread knows that any other error ended this thread.

import type { DifferenceSummary, PostingChanges } from '../domain/difference.ts'
import { VERSION } from '../lib/version.ts'
import { summaryOf } from './difference-summary.ts'
import { collected, feedDifference } from './feed-difference.ts'
import { readFeed } from './feed-reader.ts'
import { hashInMain } from './hash-follower.ts'
import type { CheckJob, CheckResult, Comparison, DifferenceJob } from './port.ts'
import { compareIndexes } from './posting-index.ts'
import { markCalls } from './source-file.ts'

export type WorkerRequest =
  | { kind: 'check'; job: CheckJob }
  | { kind: 'compare'; indexes: Comparison }
  | { kind: 'difference'; job: DifferenceJob }
  /**
   * start is the first request. `mark` is the memory in which the thread names the file that it reads
   * (lib/call-mark.ts).
   */
  | { kind: 'start'; mark: SharedArrayBuffer }

// An upgrade might have replaced this file while the older program runs. The two versions could misread each other.
if (process.argv[2] !== VERSION) throw new Error(`its file now belongs to version ${VERSION}`)

export type WorkerAnswer<T> = { kind: 'result'; result: T } | { kind: 'error'; error: unknown }

type Result = CheckResult | PostingChanges | DifferenceSummary | null

export default async function answer(request: WorkerRequest): Promise<WorkerAnswer<Result>> {
  try {
    return { kind: 'result', result: await resultOf(request) }
  } catch (error) {
    return { kind: 'error', error }
  }
}

async function resultOf(request: WorkerRequest): Promise<Result> {
  switch (request.kind) {
    case 'check':
      return readFeed(request.job, { follow: hashInMain })
    case 'compare':
      return compareIndexes(request.indexes.older, request.indexes.newer)
    case 'difference':
      return difference(request.job)
    case 'start':
      markCalls(request.mark)
      return null
  }
}

/** difference returns null if one of the files cannot be compared. */
async function difference(job: DifferenceJob): Promise<DifferenceSummary | null> {
  const { named, taker } = collected()
  const result = await feedDifference(job, taker)
  return result.kind === 'compared' ? summaryOf(result.difference, named) : null
}
