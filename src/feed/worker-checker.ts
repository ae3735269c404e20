// Runs the feed reader in a worker thread, so that a large feed never holds up the daemon. One worker,
// started at once, for the first job not to wait for it, and with the next job after it died; jobs in
// order; every job is answered.

import { rmSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { errorCode, FeedsyncError } from '../lib/errors.ts'
import type { WorkerAnswer, WorkerRequest } from './check-worker.ts'
import { parseFieldPath } from './field-paths.ts'
import type { CheckJob, CheckResult, FeedChecker } from './port.ts'

export interface FeedCheckerOptions {
  /** The worker's entry; the one beside this file, in the same language, unless a test says otherwise. */
  entry?: URL
}

/** Short-lived strings are most of the work: a small young generation keeps them in the cache and RSS low. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 }

interface Queued {
  job: CheckJob
  cancelled: Int32Array<SharedArrayBuffer>
  resolve: (result: CheckResult) => void
  reject: (reason: unknown) => void
}

export function createFeedChecker(options: FeedCheckerOptions = {}): FeedChecker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new WorkerChecker(options.entry ?? new URL(`./check-worker.${extension}`, import.meta.url))
}

class WorkerChecker implements FeedChecker {
  readonly #entry: URL
  readonly #queue: Queued[] = []
  #running: Queued | null = null
  #worker: Worker | null = null
  #disposed = false

  constructor(entry: URL) {
    this.#entry = entry
    this.#worker = this.#start()
    this.#worker.unref()
  }

  check(job: CheckJob, signal?: AbortSignal): Promise<CheckResult> {
    if (this.#disposed) return Promise.reject(stopped())
    if (signal?.aborted) return Promise.reject(signal.reason)
    try {
      // Here and not in the worker: an error's class and hint do not survive the way back.
      for (const path of Object.values(job.mapping.fields)) parseFieldPath(path)
    } catch (error) {
      return Promise.reject(error)
    }
    const { promise, resolve, reject } = Promise.withResolvers<CheckResult>()
    const cancelled = new Int32Array(new SharedArrayBuffer(4))
    const queued: Queued = { job, cancelled, resolve, reject }
    const abort = () => {
      Atomics.store(cancelled, 0, 1)
      const at = this.#queue.indexOf(queued)
      if (at !== -1) this.#queue.splice(at, 1)
      // A running job is given up by the worker at its next piece; the caller need not wait for it.
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', abort, { once: true })
    this.#queue.push(queued)
    this.#next()
    return promise.finally(() => signal?.removeEventListener('abort', abort))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true
    for (const { reject } of this.#queue.splice(0)) reject(stopped())
    await this.#worker?.terminate()
  }

  #next(): void {
    if (this.#running !== null) return
    const queued = this.#queue.shift()
    if (queued === undefined) {
      this.#worker?.unref()
      return
    }
    this.#running = queued
    this.#worker ??= this.#start()
    this.#worker.ref()
    const { job, cancelled } = queued
    this.#worker.postMessage({ job, cancelled: cancelled.buffer } satisfies WorkerRequest)
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, { resourceLimits: RESOURCE_LIMITS })
    let cause: unknown
    worker.on('message', (answer: WorkerAnswer) => {
      const done = this.#done()
      if ('error' in answer) done?.reject(answer.error)
      else done?.resolve(answer.result)
      this.#next()
    })
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = null
      this.#died(cause)
    })
    return worker
  }

  #died(cause: unknown): void {
    const done = this.#done()
    if (done !== null) {
      const { source, copyTo } = done.job
      if (copyTo !== null) rmSync(copyTo, { force: true })
      done.reject(
        this.#disposed
          ? stopped()
          : new FeedsyncError(`reading ${source} stopped: ${why(cause)}`, {
              hint: 'It is started again for the next feed. If it happens again with this file, report it.',
              cause,
            }),
      )
    }
    if (!this.#disposed) this.#next()
  }

  #done(): Queued | null {
    const running = this.#running
    this.#running = null
    return running
  }
}

function why(cause: unknown): string {
  if (errorCode(cause) === 'ERR_WORKER_OUT_OF_MEMORY') return 'the reading thread ran out of memory'
  return 'the reading thread ended'
}

function stopped(): FeedsyncError {
  return new FeedsyncError('the feed was not checked: the program is stopping')
}
