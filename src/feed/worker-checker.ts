// Runs the feed reader in a worker thread, so that a large feed never blocks the daemon. The thread starts with the
// first file, and again after it has died. A thread whose read hangs is left, and its other files get a new thread.

import { rmSync } from 'node:fs'
import type { Piscina } from 'piscina'
import { ConditionError } from '../domain/conditions.ts'
import type { DifferenceSummary, PostingChanges } from '../domain/difference.ts'
import { CallMark, HungCall } from '../lib/call-mark.ts'
import { type Clock, MINUTE, SECOND, systemClock, unlessAborted } from '../lib/clock.ts'
import { EXIT, errorCode, FeedsyncError, messageOf } from '../lib/errors.ts'
import { siblingFile } from '../lib/sibling-file.ts'
import { VERSION } from '../lib/version.ts'
import type { WorkerAnswer, WorkerRequest } from './check-worker.ts'
import { parseFieldPath } from './field-paths.ts'
import { answerHashOrder } from './hash-follower.ts'
import { HANGS, HungReads } from './hung-reads.ts'
import type { CheckJob, CheckResult, Comparison, DifferenceJob, FeedChecker } from './port.ts'
import { startThread } from './thread.ts'

export interface FeedCheckerOptions {
  /** entry is the worker's module; tests replace it. */
  entry?: URL
  clock?: Clock
  /** hung remembers the reads that hang, and which files are therefore not read; checkers can share it. */
  hung?: HungReads
}

/**
 * MOST_AT_ONCE feeds are read at the same time: while the copy of one becomes durable, others are checked. One feed
 * after the other, 2,000 feeds of 20 kB take 22 % longer (median of six alternating runs).
 */
const MOST_AT_ONCE = 32

/** A read that takes HUNG_MS hangs. A network file system repeats a request for a minute before it reports an error. */
const HUNG_MS = MINUTE
/** Every LOOK_MS, the main thread looks whether a read of the thread hangs. */
const LOOK_MS = SECOND

/**
 * A small young generation keeps the many short-lived strings in the CPU's cache, and the memory of the process small.
 */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 }

export function createFeedChecker(options: FeedCheckerOptions = {}): FeedChecker {
  const { clock = systemClock, hung = new HungReads() } = options
  const { entry = siblingFile('check-worker', import.meta.url) } = options
  return new WorkerChecker({ clock, entry, hung })
}

class WorkerChecker implements FeedChecker {
  readonly #hung: HungReads
  readonly #shared: ReadingThread
  /** #single repeats the requests of a shared thread that died, one by one, to find out which request is fatal. */
  readonly #single: ReadingThread
  #lastRepeat: Promise<unknown> = Promise.resolve()
  #isDisposed = false

  constructor(parts: Required<FeedCheckerOptions>) {
    this.#hung = parts.hung
    this.#shared = new ReadingThread({ ...parts, mostAtOnce: MOST_AT_ONCE })
    this.#single = new ReadingThread({ ...parts, mostAtOnce: 1 })
  }

  announce(): void {
    if (!this.#isDisposed) this.#shared.start()
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

  async difference(job: DifferenceJob, signal?: AbortSignal): Promise<DifferenceSummary | null> {
    const request = { kind: 'difference', job } as const
    if (filesOf(request).some((file) => this.#hung.isRefused(file))) return null
    return this.#ask<DifferenceSummary | null>(request, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    await Promise.all([this.#shared.end(), this.#single.end(), this.#hung.ended()])
  }

  /**
   * #ask sends a request to the shared thread. If this thread dies, it repeats the request in the other thread, and
   * rejects if that thread dies, too. It resolves with null if a read for this request hangs.
   */
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

  /** #askThread repeats a request if its thread was left because a read for another request hangs. */
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
      if (answer.kind === 'died') return answer
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
  /** The read of another file in the same thread hangs, so nobody waits for the thread any more. */
  | { kind: 'left' }
  /** The thread died after it had started, or this program ended it. */
  | { kind: 'died'; cause: unknown }
  /** The thread could not start. */
  | { kind: 'not-started'; cause: unknown }

interface RunningPool {
  pool: Piscina
  mark: CallMark
  /** fault says why the thread could not start; null if it started, or this program ended it. */
  fault: Promise<{ cause: unknown } | null>
  /** The path whose read hangs, so that this thread was left; null means that no read hangs. */
  hungAt: string | null
  /** The number of requests that wait for an answer. */
  asked: number
  /** True while #watch looks regularly whether a read hangs. */
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

  /** start returns the running thread, and starts one if none runs. */
  start(): RunningPool {
    this.#running ??= this.#newRunning()
    return this.#running
  }

  async ask<T>(request: FileRequest, signal: AbortSignal | undefined): Promise<ThreadAnswer<T>> {
    const running = this.start()
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

  /** end stops the thread, and resolves when the thread has ended. */
  end(running = this.#running): Promise<void> {
    if (running !== null && running === this.#running) {
      this.#running = null
      this.#ended = running.pool.destroy()
    }
    return this.#ended
  }

  /** #watch looks every `LOOK_MS` whether a read hangs, and then leaves the thread. It ends with the last request. */
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

  #newRunning(): RunningPool {
    const pool = startThread(this.#entry, {
      argv: [VERSION],
      concurrentTasksPerWorker: this.#mostAtOnce,
      resourceLimits: RESOURCE_LIMITS,
    })
    pool.on('message', answerHashOrder)
    const mark = new CallMark()
    const request: WorkerRequest = { kind: 'start', mark: mark.memory }
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

/** filesOf returns the paths of the files that a request reads. Messages name the first file. */
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
