// Runs the feed reader in a worker thread, so that a large feed never holds up the daemon. The thread is started when
// the first file is seen or sent, and again after it died.

import { rmSync } from 'node:fs'
import { Piscina } from 'piscina'
import { unlessAborted } from '../lib/clock.ts'
import { EXIT, errorCode, FeedsyncError, messageOf } from '../lib/errors.ts'
import { siblingFile } from '../lib/sibling-file.ts'
import { VERSION } from '../lib/version.ts'
import type { WorkerAnswer, WorkerRequest } from './check-worker.ts'
import { parseFieldPath } from './field-paths.ts'
import type { CheckJob, CheckResult, Comparison, FeedChecker, PostingChanges } from './port.ts'

export interface FeedCheckerOptions {
  /** The worker's entry; the one beside this file, in the same language, unless a test says otherwise. */
  entry?: URL
}

/**
 * Feeds that are read while the copy of the first one becomes durable. One at a time, 2,000 feeds of 20 kB take 22 %
 * longer (median of six alternating runs).
 */
const MOST_AT_ONCE = 32

/** Short-lived strings are most of the work: a small young generation keeps them in the cache and RSS low. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 }

export function createFeedChecker(options: FeedCheckerOptions = {}): FeedChecker {
  return new WorkerChecker(options.entry ?? siblingFile('check-worker', import.meta.url))
}

class WorkerChecker implements FeedChecker {
  readonly #shared: ReadingThread
  /** Does again, one by one, what the shared thread had when it died: which of them it dies of is known so. */
  readonly #alone: ReadingThread
  #again: Promise<unknown> = Promise.resolve()
  #isDisposed = false

  constructor(entry: URL) {
    this.#shared = new ReadingThread(entry, MOST_AT_ONCE)
    this.#alone = new ReadingThread(entry, 1)
  }

  announce(bytes: number): void {
    if (!this.#isDisposed) this.#shared.start(bytes)
  }

  async check(job: CheckJob, signal?: AbortSignal): Promise<CheckResult> {
    // Here and not in the worker: an error's class and hint do not survive the way back.
    for (const path of Object.values(job.mapping.fields)) parseFieldPath(path)
    return this.#ask<CheckResult>({ kind: 'check', job }, signal)
  }

  compare(indexes: Comparison, signal?: AbortSignal): Promise<PostingChanges | null> {
    return this.#ask<PostingChanges | null>({ kind: 'compare', indexes }, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    await Promise.all([this.#shared.end(), this.#alone.end()])
  }

  async #ask<T>(request: Asked, signal: AbortSignal | undefined): Promise<T> {
    const first = await this.#askOf<T>(this.#shared, request, signal)
    if (first.kind === 'result') return first.result
    const again = this.#again.then(() => this.#askOf<T>(this.#alone, request, signal))
    this.#again = again.catch(() => {})
    const second = await again
    if (second.kind === 'result') return second.result
    throw ended(request, second.cause)
  }

  async #askOf<T>(thread: ReadingThread, request: Asked, signal: AbortSignal | undefined) {
    this.#refuseIfOver(signal)
    const answer = await thread.ask<T>(request, signal)
    if (answer.kind === 'result') return answer
    if (answer.kind === 'error') throw answer.error
    this.#refuseIfOver(signal)
    if (answer.kind === 'not-started') throw notStarted(answer.cause)
    return answer
  }

  #refuseIfOver(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted()
    if (!this.#isDisposed) return
    throw new FeedsyncError('the feed was not checked: the program is stopping')
  }
}

type Asked = Exclude<WorkerRequest, { kind: 'start' }>

type Answer<T> =
  | WorkerAnswer<T>
  /** The thread died, or was ended. */
  | { kind: 'died' | 'not-started'; cause: unknown }

interface Running {
  pool: Piscina
  /** Why it could not be started; null: it was, or is not wanted any more. */
  fault: Promise<{ cause: unknown } | null>
}

/** A pool of one thread. It is thrown away with a thread that died: the next one may not start. */
class ReadingThread {
  readonly #entry: URL
  readonly #mostAtOnce: number
  #running: Running | null = null
  #ended: Promise<void> = Promise.resolve()

  constructor(entry: URL, mostAtOnce: number) {
    this.#entry = entry
    this.#mostAtOnce = mostAtOnce
  }

  /** A file of so many bytes will be read. */
  start(bytes: number): Running {
    this.#running ??= this.#newRunning(bytes)
    return this.#running
  }

  async ask<T>(request: Asked, signal: AbortSignal | undefined): Promise<Answer<T>> {
    const running = this.start(0)
    const fault = await (signal ? unlessAborted(running.fault, signal) : running.fault)
    if (fault !== null) return { kind: 'not-started', ...fault }
    if (running !== this.#running) return { kind: 'died', cause: null }
    try {
      return await running.pool.run(request, { signal: signal ?? null })
    } catch (cause) {
      const ended = this.end(running).then(() => removeHalves(request))
      // A thread that hangs in a read does not end, and nobody waits for its answer any more.
      if (!signal?.aborted) await ended
      return { kind: 'died', cause }
    }
  }

  /** Settles once the thread is gone. */
  end(running = this.#running): Promise<void> {
    if (running !== null && running === this.#running) {
      this.#running = null
      this.#ended = running.pool.destroy()
    }
    return this.#ended
  }

  #newRunning(bytes: number): Running {
    const pool = new Piscina({
      filename: this.#entry.href,
      argv: [VERSION],
      minThreads: 1,
      maxThreads: 1,
      concurrentTasksPerWorker: this.#mostAtOnce,
      resourceLimits: RESOURCE_LIMITS,
      recordTiming: false,
    })
    // That it died while it had nothing to do is seen by the next request.
    pool.on('error', () => {})
    const request: WorkerRequest = { kind: 'start', bytes }
    const fault = pool.run(request).then(
      () => null,
      (cause: unknown) => {
        if (running !== this.#running) return null
        this.end(running)
        return { cause }
      },
    )
    const running = { pool, fault }
    return running
  }
}

function removeHalves(request: Asked): void {
  if (request.kind !== 'check') return
  for (const half of [request.job.copyTo, request.job.indexTo]) {
    if (half !== null) rmSync(half, { force: true })
  }
}

function ended(request: Asked, cause: unknown): FeedsyncError {
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
