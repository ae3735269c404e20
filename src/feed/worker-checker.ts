// Runs the feed reader in a worker thread, so that a large feed never blocks the daemon. The thread starts with the
// first file, and again after it has died. A thread whose read hangs is left, and its other files get a new thread.

import { rmSync } from 'node:fs'
import type { Piscina } from 'piscina'
import { ConditionError } from '../domain/conditions.ts'
import type { DifferenceSummary, PostingChanges } from '../domain/difference.ts'
import { CallMark, HungCall } from '../lib/call-mark.ts'
import { type Clock, MINUTE, SECOND, systemClock, unlessAborted } from '../lib/clock.ts'
import { EXIT, errorCode, FeedsyncError, messageOf } from '../lib/errors.ts'
import type { HungPath } from '../lib/hung-calls.ts'
import { siblingFile } from '../lib/sibling-file.ts'
import { VERSION } from '../lib/version.ts'
import type { WorkerAnswer, WorkerRequest } from './check-worker.ts'
import { parseFieldPath } from './field-paths.ts'
import { HANGS, HungReads } from './hung-reads.ts'
import type { CheckJob, CheckResult, Comparison, DifferenceJob, FeedChecker } from './port.ts'
import { startThread } from './thread.ts'

export interface FeedCheckerOptions {
  /** entry is the worker's module; tests replace it. */
  entry?: URL
  clock?: Clock
}

/**
 * MOST_AT_ONCE feeds are read while the copy of the first one becomes durable. With one at a time, 2,000 feeds of 20 kB
 * take 22 % longer (median of six alternating runs).
 */
const MOST_AT_ONCE = 32

/** A read may take this long: a network waits and asks again for a minute before it reports an error. */
const HUNG_MS = MINUTE
const LOOK_MS = SECOND

/** Most objects are short-lived strings: a small young generation keeps them in the CPU cache and RSS low. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 }

export function createFeedChecker(options: FeedCheckerOptions = {}): FeedChecker {
  const { clock = systemClock, entry = siblingFile('check-worker', import.meta.url) } = options
  return new WorkerChecker(entry, clock)
}

class WorkerChecker implements FeedChecker {
  readonly #hung = new HungReads()
  readonly #shared: ReadingThread
  /** #single repeats the requests of a shared thread that died, one by one: this shows which request is fatal. */
  readonly #single: ReadingThread
  #lastRepeat: Promise<unknown> = Promise.resolve()
  #isDisposed = false

  constructor(entry: URL, clock: Clock) {
    this.#shared = new ReadingThread({ entry, clock, mostAtOnce: MOST_AT_ONCE, hung: this.#hung })
    this.#single = new ReadingThread({ entry, clock, mostAtOnce: 1, hung: this.#hung })
  }

  announce(bytes: number): void {
    if (!this.#isDisposed) this.#shared.start(bytes)
  }

  hung(): HungPath[] {
    return this.#hung.all()
  }

  async check(job: CheckJob, signal?: AbortSignal): Promise<CheckResult> {
    // The paths are parsed here, because an error from the worker would lose its class and hint.
    for (const path of Object.values(job.mapping.fields)) parseFieldPath(path)
    if (this.#hung.isRefused(job.source)) return HANGS
    return (await this.#ask<CheckResult>({ kind: 'check', job }, signal)) ?? HANGS
  }

  compare(indexes: Comparison, signal?: AbortSignal): Promise<PostingChanges | null> {
    return this.#ask<PostingChanges | null>({ kind: 'compare', indexes }, signal)
  }

  async difference(
    job: DifferenceJob,
    signal?: AbortSignal,
  ): ReturnType<FeedChecker['difference']> {
    const request = { kind: 'difference', job } as const
    if (filesOf(request).some((file) => this.#hung.isRefused(file))) return null
    return this.#ask<DifferenceSummary | null>(request, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    await Promise.all([this.#shared.end(), this.#single.end(), this.#hung.ended()])
  }

  /** #ask resolves with null if a read for this request hangs. */
  async #ask<T>(request: FileRequest, signal: AbortSignal | undefined): Promise<T | null> {
    const first = await this.#askThread<T>(this.#shared, request, signal)
    if (first.kind === 'result') return first.result
    if (first.kind === 'hung') return null
    const repeat = this.#lastRepeat.then(() => this.#askThread<T>(this.#single, request, signal))
    this.#lastRepeat = repeat.catch(() => {})
    const second = await repeat
    if (second.kind === 'result') return second.result
    if (second.kind === 'hung') return null
    throw threadEnded(request, second.cause)
  }

  async #askThread<T>(
    thread: ReadingThread,
    request: FileRequest,
    signal: AbortSignal | undefined,
  ) {
    for (;;) {
      this.#throwIfStopped(signal)
      const answer = await thread.ask<T>(request, signal)
      if (answer.kind === 'result' || answer.kind === 'hung') return answer
      if (answer.kind === 'error') throw answer.error
      this.#throwIfStopped(signal)
      if (answer.kind === 'not-started') throw notStarted(answer.cause)
      // The read of another file hangs, so its thread was left.
      if (answer.kind !== 'left') return answer
    }
  }

  #throwIfStopped(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted()
    if (!this.#isDisposed) return
    throw new FeedsyncError('the feed was not checked: the program is stopping')
  }
}

type FileRequest = Exclude<WorkerRequest, { kind: 'start' }>

type ThreadAnswer<T> =
  | WorkerAnswer<T>
  /** The read of a file of this request hangs. */
  | { kind: 'hung' }
  /** The read of another file in the same thread hangs. */
  | { kind: 'left' }
  /** The thread died, or this program ended it. */
  | { kind: 'died' | 'not-started'; cause: unknown }

interface RunningPool {
  pool: Piscina
  mark: CallMark
  /** fault says why the thread could not start; null if it started, or this program ended it. */
  fault: Promise<{ cause: unknown } | null>
  /** The path whose read hangs, so that this thread was left; null means none. */
  hungAt: string | null
  /** The number of requests that wait for an answer. */
  asked: number
  isWatched: boolean
}

/** ReadingThread is a pool of one thread. A dead thread gets a new pool, because the next start can fail too. */
class ReadingThread {
  readonly #entry: URL
  readonly #clock: Clock
  readonly #mostAtOnce: number
  readonly #hung: HungReads
  #running: RunningPool | null = null
  #ended: Promise<void> = Promise.resolve()

  constructor({
    clock,
    entry,
    hung,
    mostAtOnce,
  }: {
    clock: Clock
    entry: URL
    hung: HungReads
    mostAtOnce: number
  }) {
    this.#clock = clock
    this.#entry = entry
    this.#hung = hung
    this.#mostAtOnce = mostAtOnce
  }

  /** start runs the thread and announces a file of this size. */
  start(bytes: number): RunningPool {
    this.#running ??= this.#newRunning(bytes)
    return this.#running
  }

  async ask<T>(request: FileRequest, signal: AbortSignal | undefined): Promise<ThreadAnswer<T>> {
    const running = this.start(0)
    const fault = await (signal ? unlessAborted(running.fault, signal) : running.fault)
    if (fault !== null) return { kind: 'not-started', ...fault }
    if (running.hungAt !== null) return { kind: 'left' }
    if (running !== this.#running) return { kind: 'died', cause: null }
    running.asked++
    if (!running.isWatched) this.#watch(running)
    try {
      return await running.pool.run(request, { signal: signal ?? null })
    } catch (cause) {
      if (running.hungAt !== null) {
        // The thread can write nothing more: it ends when its read returns.
        removePartialFiles(request)
        return { kind: filesOf(request).includes(running.hungAt) ? 'hung' : 'left' }
      }
      const ended = this.end(running).then(() => removePartialFiles(request))
      // A thread that hangs in a read might never end, and an aborted request needs no answer.
      if (!signal?.aborted) await ended
      return { kind: 'died', cause }
    } finally {
      running.asked--
    }
  }

  /** end resolves when the thread has ended. */
  end(running = this.#running): Promise<void> {
    if (running !== null && running === this.#running) {
      this.#running = null
      this.#ended = running.pool.destroy()
    }
    return this.#ended
  }

  /** #watch leaves the thread if a read of it hangs. It ends with the last request. */
  #watch(running: RunningPool, call = new HungCall(running.mark, HUNG_MS)): void {
    const clock = this.#clock
    running.isWatched = true
    clock.after(LOOK_MS, () => {
      running.isWatched = false
      if (running !== this.#running || running.asked === 0) return
      const path = call.poll(clock.monotonic())
      if (path !== null && this.#hung.mayLeave) {
        this.#running = null
        running.hungAt = path
        this.#hung.add({ path, since: clock.now() - HUNG_MS }, running.pool.destroy())
      } else this.#watch(running, call)
    })
  }

  #newRunning(bytes: number): RunningPool {
    const pool = startThread(this.#entry, {
      argv: [VERSION],
      concurrentTasksPerWorker: this.#mostAtOnce,
      resourceLimits: RESOURCE_LIMITS,
    })
    const mark = new CallMark()
    const request: WorkerRequest = { kind: 'start', bytes, mark: mark.memory }
    const fault = pool.run(request).then(
      () => null,
      (cause: unknown) => {
        if (running !== this.#running) return null
        this.end(running)
        return { cause }
      },
    )
    const running: RunningPool = { pool, mark, fault, hungAt: null, asked: 0, isWatched: false }
    return running
  }
}

function removePartialFiles(request: FileRequest): void {
  if (request.kind !== 'check') return
  for (const path of [request.job.copyTo, request.job.indexTo]) {
    if (path !== null) rmSync(path, { force: true })
  }
}

/** filesOf returns the files that a request reads. Messages name the first file. */
function filesOf(request: FileRequest): [string, ...string[]] {
  switch (request.kind) {
    case 'check':
      return [request.job.source]
    case 'compare':
      return [request.indexes.newer, request.indexes.older]
    case 'difference':
      return [request.job.newer.file, request.job.older.file]
    default:
      return request satisfies never
  }
}

function threadEnded(request: FileRequest, cause: unknown): FeedsyncError {
  const [file] = filesOf(request)
  const isMemory = errorCode(cause) === 'ERR_WORKER_OUT_OF_MEMORY'
  const why = isMemory ? 'the reading thread ran out of memory' : 'the reading thread ended'
  return new FeedsyncError(`reading ${file} stopped: ${why}`, {
    hint: 'the thread starts again for the next feed; if this file stops it again, report the file',
    cause,
  })
}

function notStarted(cause: unknown): FeedsyncError {
  return new ConditionError(
    'internal-error',
    `the reading thread cannot be started: ${messageOf(cause)}`,
    {
      hint: 'report this log line; if the program was replaced or removed while it ran, restart it: systemctl restart feedsyncd',
      exitCode: EXIT.temporary,
      cause,
    },
  )
}
