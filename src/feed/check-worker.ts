// The worker thread's side of the feed checker: takes one job at a time, answers with its result.
// A wrapper around `readFeed` and nothing else.

import { parentPort } from 'node:worker_threads'
import { readFeed } from './feed-reader.ts'
import type { CheckJob, CheckResult } from './port.ts'

export interface WorkerRequest {
  job: CheckJob
  /** One Int32; not 0 when the answer is not wanted any more. */
  cancelled: SharedArrayBuffer
}

export type WorkerAnswer = { result: CheckResult } | { error: unknown }

parentPort?.on('message', ({ job, cancelled }: WorkerRequest) => {
  const flag = new Int32Array(cancelled)
  try {
    const result = readFeed(job, { cancelled: () => Atomics.load(flag, 0) !== 0 })
    const postings = result.kind === 'read' ? result.postings : null
    const owned = postings === null ? [] : [postings.ids.buffer, postings.contents.buffer]
    parentPort?.postMessage({ result } satisfies WorkerAnswer, owned as ArrayBuffer[])
  } catch (error) {
    parentPort?.postMessage({ error } satisfies WorkerAnswer)
  }
})
