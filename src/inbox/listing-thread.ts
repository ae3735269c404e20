// Runs the listing thread. A call of the thread that does not return names the path that hangs: that thread is left
// alone, and a new one lists everything else. The path is listed again once its call has returned.

import { Worker } from 'node:worker_threads'
import { ConditionError } from '../domain/conditions.ts'
import { CallMark, HungCall } from '../lib/call-mark.ts'
import { type Clock, SECOND } from '../lib/clock.ts'
import { EXIT, type FeedsyncError, messageOf } from '../lib/errors.ts'
import { HungCalls, type HungPath } from '../lib/hung-calls.ts'
import { siblingFile } from '../lib/sibling-file.ts'
import { VERSION } from '../lib/version.ts'
import {
  type FolderPatterns,
  type ListAnswer,
  type ListingQuestion,
  type ListingRequest,
  type ListingThreadData,
  type Looked,
  ROOT,
} from './listing-messages.ts'

/** A path whose call takes longer is skipped until the call returns. Lost packets of a network can cause this, too. */
const HUNG_MS = 10 * SECOND
const POLL_MS = SECOND
/** The thread makes many strings that are soon garbage, so a small young generation saves memory. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 1 }

interface RunningThread {
  worker: Worker
  mark: CallMark
}

export class ListingThread implements AsyncDisposable {
  readonly #clock: Clock
  readonly #folder: FolderPatterns
  readonly #answered: () => void
  #running: RunningThread | null = null
  readonly #hung = new HungCalls()
  #lastAnswer: Promise<unknown> = Promise.resolve()

  constructor({
    answered,
    clock,
    folder,
  }: {
    /** answered is called when a path answers again. */
    answered: () => void
    clock: Clock
    folder: FolderPatterns
  }) {
    this.#answered = answered
    this.#clock = clock
    this.#folder = folder
  }

  /** hung returns the paths that hang. */
  hung(): HungPath[] {
    return this.#hung.all()
  }

  list(mounts: ReadonlyMap<string, bigint>): Promise<ListAnswer> {
    return this.#answerTo({ kind: 'list', mounts })
  }

  look(paths: readonly string[]): Promise<Looked> {
    return this.#answerTo({ kind: 'look', paths })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#running?.worker.terminate(), this.#hung.ended()])
  }

  /** #answerTo asks one question at a time, and again in a new thread if a path hangs. */
  #answerTo<T>(question: ListingQuestion): Promise<T> {
    const turn = this.#lastAnswer.then(async () => {
      for (;;) {
        const answer = await this.#ask<T>(question)
        if (answer !== null) return answer
      }
    })
    this.#lastAnswer = turn.catch(() => {})
    return turn
  }

  /** #ask resolves with null if a path hangs, after it has left the thread. Rejects if the thread has ended. */
  async #ask<T>(question: ListingQuestion): Promise<T | null> {
    this.#running ??= this.#start()
    const running = this.#running
    const { mark, worker } = running
    const clock = this.#clock
    const call = new HungCall(mark, HUNG_MS)
    const { promise, reject, resolve } = Promise.withResolvers<T | null>()
    const ended = () => reject(new Error('it ended'))
    const watch = () => {
      const path = call.poll(clock.monotonic())
      // Without the folder itself nothing can be listed, so a new thread would not help.
      const isLeft = path !== null && path !== ROOT && this.#hung.mayLeave
      if (isLeft) {
        resolve(null)
        this.#leave(running, path)
      } else timer = clock.after(POLL_MS, watch)
    }
    let timer = clock.after(POLL_MS, watch)
    worker.once('message', resolve).once('error', reject).once('exit', ended)
    worker.postMessage({
      ...question,
      hung: this.#hung.all().map(({ path }) => path),
    } satisfies ListingRequest)
    try {
      return await promise
    } catch (error) {
      this.#running = null
      throw threadEnded(error)
    } finally {
      timer[Symbol.dispose]()
      worker.off('message', resolve).off('error', reject).off('exit', ended)
    }
  }

  /** #leave gives up a thread whose call about `path` does not return. */
  #leave({ worker }: RunningThread, path: string): void {
    this.#running = null
    // The thread ends as soon as its call returns.
    const since = this.#clock.now() - HUNG_MS
    this.#hung.add({ path, since }, worker.terminate()).then(this.#answered)
  }

  #start(): RunningThread {
    const mark = new CallMark()
    const workerData: ListingThreadData = {
      ...this.#folder,
      version: VERSION,
      mark: mark.memory,
    }
    const worker = new Worker(siblingFile('listing-worker', import.meta.url), {
      workerData,
      resourceLimits: RESOURCE_LIMITS,
      execArgv: ['--no-warnings'],
    })
    // An error between two requests ends the thread; the next request finds that.
    worker.on('error', () => {})
    worker.once('exit', () => {
      if (this.#running?.worker === worker) this.#running = null
    })
    return { worker, mark }
  }
}

function threadEnded(cause: unknown): FeedsyncError {
  return new ConditionError('internal-error', `the listing thread ended: ${messageOf(cause)}`, {
    hint: 'report this log line; if the program was replaced or removed while it ran, restart it: systemctl restart feedsyncd',
    exitCode: EXIT.temporary,
    cause,
  })
}
