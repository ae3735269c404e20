// Runs the feed reader in a worker thread, so that a large feed never holds up the daemon. One worker, started when
// the first file is seen or sent, and again after it died; jobs in order, small ones sent ahead so that neither thread
// waits for the other; every job is answered.

import { rmSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { beside } from '../lib/beside.ts'
import { EXIT, errorCode, FeedsyncError, messageOf } from '../lib/errors.ts'
import { likelyBytes } from '../lib/packing.ts'
import { VERSION } from '../lib/version.ts'
import type { Announcement, WorkerAnswer, WorkerRequest } from './check-worker.ts'
import { parseFieldPath } from './field-paths.ts'
import type { CheckJob, CheckResult, Comparison, FeedChecker, PostingChanges } from './port.ts'

export interface FeedCheckerOptions {
  /** The worker's entry; the one beside this file, in the same language, unless a test says otherwise. */
  entry?: URL
}

/**
 * Bytes up to which a feed is sent ahead: the next ones are read while its copy becomes durable. 2,000 feeds of 20 kB
 * took 30 % longer without that (8.9 and 11.8 s, medians of three alternating pairs).
 */
const SMALL = 2 ** 20
const MOST_AHEAD = 32

/** Short-lived strings are most of the work: a small young generation keeps them in the cache and RSS low. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 }

interface Queued {
  request: WorkerRequest
  signal: AbortSignal | undefined
  resolve: (result: never) => void
  reject: (reason: unknown) => void
}

export function createFeedChecker(options: FeedCheckerOptions = {}): FeedChecker {
  return new WorkerChecker(options.entry ?? beside('check-worker', import.meta.url))
}

class WorkerChecker implements FeedChecker {
  readonly #entry: URL
  readonly #queue: Queued[] = []
  /** What the worker has, in the order in which it answers. */
  readonly #sent: Queued[] = []
  #worker: Worker | null = null
  /** Bytes of the largest file that this worker was told of. */
  #announced = -1
  /** See `check-worker.ts`; answered ones of this worker. */
  #begun = new Int32Array(new SharedArrayBuffer(4))
  #answered = 0
  #disposed = false

  constructor(entry: URL) {
    this.#entry = entry
  }

  announce(bytes: number): void {
    if (this.#disposed) return
    this.#worker ??= this.#newWorker()
    // Each listing sees the files again that wait.
    if (bytes <= this.#announced) return
    this.#announced = bytes
    this.#worker.postMessage({ kind: 'announce', bytes } satisfies Announcement)
    if (this.#sent.length === 0) this.#worker.unref()
  }

  check(job: CheckJob, signal?: AbortSignal): Promise<CheckResult> {
    try {
      // Here and not in the worker: an error's class and hint do not survive the way back.
      for (const path of Object.values(job.mapping.fields)) parseFieldPath(path)
    } catch (error) {
      return Promise.reject(error)
    }
    return this.#ask({ kind: 'check', job, cancelled: new SharedArrayBuffer(4) }, signal)
  }

  compare(indexes: Comparison, signal?: AbortSignal): Promise<PostingChanges | null> {
    return this.#ask({ kind: 'compare', indexes }, signal)
  }

  #ask<T>(request: WorkerRequest, signal?: AbortSignal): Promise<T> {
    if (this.#disposed) return Promise.reject(stopped())
    if (signal?.aborted) return Promise.reject(signal.reason)
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const queued: Queued = { request, signal, resolve, reject }
    const abort = () => {
      // A running job is given up by the worker at its next piece; the caller need not wait for it.
      if (request.kind === 'check') Atomics.store(new Int32Array(request.cancelled), 0, 1)
      const at = this.#queue.indexOf(queued)
      if (at !== -1) this.#queue.splice(at, 1)
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
    while (this.#queue[0] !== undefined && this.#takes(this.#queue[0])) {
      const next = this.#queue.shift() as Queued
      this.#worker ??= this.#newWorker()
      this.#worker.ref()
      this.#sent.push(next)
      this.#worker.postMessage(next.request)
    }
    if (this.#sent.length === 0) this.#worker?.unref()
  }

  #takes(next: Queued): boolean {
    if (this.#sent.length === 0) return true
    return this.#sent.length < MOST_AHEAD && [next, ...this.#sent].every(isSmall)
  }

  #newWorker(): Worker {
    const begun = new SharedArrayBuffer(4)
    this.#begun = new Int32Array(begun)
    this.#answered = 0
    this.#announced = -1
    const worker = new Worker(this.#entry, {
      workerData: begun,
      argv: [VERSION],
      resourceLimits: RESOURCE_LIMITS,
    })
    let cause: unknown
    worker.on('message', (answer: WorkerAnswer) => {
      const done = this.#sent.shift()
      this.#answered++
      if ('error' in answer) done?.reject(answer.error)
      else done?.resolve(answer.result as never)
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

  /**
   * The job that it was in ends; those that were sent ahead, or waited for the disk, are begun again. What ends it before
   * its first job says nothing of any file.
   */
  #died(cause: unknown): void {
    const sent = this.#sent.splice(0)
    for (const { request } of sent) {
      if (request.kind !== 'check') continue
      for (const half of [request.job.copyTo, request.job.indexTo]) {
        if (half !== null) rmSync(half, { force: true })
      }
    }
    const begun = Atomics.load(this.#begun, 0)
    const fatal = sent[Math.max(0, begun - this.#answered - 1)]
    const isNotStarted = begun === 0 && cause !== undefined
    for (const job of sent) {
      if (this.#disposed) job.reject(stopped())
      else if (isNotStarted) job.reject(notStarted(cause))
      else if (job === fatal) job.reject(ended(job.request, cause))
    }
    if (this.#disposed) return
    const again = isNotStarted ? [] : sent.filter((job) => job !== fatal && !job.signal?.aborted)
    this.#queue.unshift(...again)
    this.#next()
  }
}

/** It may share the worker with others of its kind. */
function isSmall({ request }: Queued): boolean {
  if (request.kind !== 'check') return false
  return (likelyBytes(request.job.source, request.job.expected) ?? SMALL) < SMALL
}

function ended(request: WorkerRequest, cause: unknown): FeedsyncError {
  const file = request.kind === 'check' ? request.job.source : request.indexes.newer
  const isMemory = errorCode(cause) === 'ERR_WORKER_OUT_OF_MEMORY'
  const why = isMemory ? 'the reading thread ran out of memory' : 'the reading thread ended'
  return new FeedsyncError(`reading ${file} stopped: ${why}`, {
    hint: 'It is started again for the next feed. If it happens again with this file, report it.',
    cause,
  })
}

function notStarted(cause: unknown): FeedsyncError {
  return new FeedsyncError(`the reading thread cannot be started: ${messageOf(cause)}`, {
    hint: 'if the program was replaced or removed while it ran, systemctl restart feedsyncd; else report it with the line of the log',
    exitCode: EXIT.temporary,
    condition: 'internal-error',
    cause,
  })
}

function stopped(): FeedsyncError {
  return new FeedsyncError('the feed was not checked: the program is stopping')
}
