// The worker thread's side of the feed checker: takes one job at a time, answers with its result.
// A wrapper around `readFeed` and nothing else.

import { parentPort } from 'node:worker_threads'
import { inlineMore } from './compiler.ts'
import { readFeed } from './feed-reader.ts'
import type { Followed } from './hash-following.ts'
import { compareIndexes } from './index-changes.ts'
import type { CheckJob, CheckResult, Comparison, PostingChanges } from './port.ts'

export type WorkerRequest =
  | {
      kind: 'check'
      job: CheckJob
      /** One Int32; not 0 when the answer is not wanted any more. */
      cancelled: SharedArrayBuffer
      followed: Followed | null
    }
  | { kind: 'compare'; indexes: Comparison }

export type WorkerAnswer = { result: CheckResult | PostingChanges | null } | { error: unknown }

inlineMore()
parentPort?.on('message', (request: WorkerRequest) => {
  try {
    parentPort?.postMessage({ result: answerTo(request) } satisfies WorkerAnswer)
  } catch (error) {
    parentPort?.postMessage({ error } satisfies WorkerAnswer)
  }
})

function answerTo(request: WorkerRequest): CheckResult | PostingChanges | null {
  if (request.kind === 'compare') {
    return compareIndexes(request.indexes.older, request.indexes.newer)
  }
  const { job, cancelled, followed } = request
  const flag = new Int32Array(cancelled)
  return readFeed(job, { cancelled: () => Atomics.load(flag, 0) !== 0, followed })
}
