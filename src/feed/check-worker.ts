// The worker thread's side of the feed checker: takes one job at a time, answers with its result. The
// copy of a small feed becomes durable while the next ones are read; the answers keep the jobs' order.

import { parentPort, workerData } from 'node:worker_threads'
import { VERSION } from '../lib/version.ts'
import { prepareFor, readFeed } from './feed-reader.ts'
import type { CheckJob, CheckResult, Comparison, PostingChanges } from './port.ts'
import { compareIndexes } from './posting-index.ts'

export type WorkerRequest =
  | {
      kind: 'check'
      job: CheckJob
      /** One Int32; not 0 when the answer is not wanted any more. */
      cancelled: SharedArrayBuffer
    }
  | { kind: 'compare'; indexes: Comparison }

/** Not answered: a file of so many bytes will be sent. */
export interface Announcement {
  kind: 'announce'
  bytes: number
}

export type WorkerAnswer = { result: CheckResult | PostingChanges | null } | { error: unknown }

type Result = CheckResult | PostingChanges | null

// The program may have been replaced since it was started: this file would misread what an older one asks.
if (process.argv[2] !== VERSION) throw new Error(`its file is of version ${VERSION} by now`)

/** One Int32: jobs that were begun, so that a job which this thread dies of can be told from the others. */
const begun = new Int32Array(workerData as SharedArrayBuffer)
let answered: Promise<void> = Promise.resolve()

parentPort?.on('message', (request: WorkerRequest | Announcement) => {
  if (request.kind === 'announce') return prepareFor(request.bytes)
  Atomics.add(begun, 0, 1)
  const answer = answerTo(request).then(
    (result): WorkerAnswer => ({ result }),
    (error): WorkerAnswer => ({ error }),
  )
  answered = answered.then(async () => {
    const message = await answer
    parentPort?.postMessage(message)
  })
})

async function answerTo(request: WorkerRequest): Promise<Result> {
  if (request.kind === 'compare') {
    return compareIndexes(request.indexes.older, request.indexes.newer)
  }
  const { job, cancelled } = request
  const flag = new Int32Array(cancelled)
  return readFeed(job, { cancelled: () => Atomics.load(flag, 0) !== 0 })
}
