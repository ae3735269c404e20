// Lends the reading threads to small and to large feeds. The two never share a thread at the same time, so a large feed
// delays no small one. A second thread starts only while both have work, because it needs 12 MB of memory.

import type { HungPath } from '../lib/hung-calls.ts'
import { HungReads } from './hung-reads.ts'
import type { FeedChecker, FeedReader, Lane } from './port.ts'
import { createFeedChecker, type FeedCheckerOptions } from './worker-checker.ts'

interface LentThread {
  checker: FeedChecker
  /** The lane that uses the thread; null if `jobs` is 0. */
  lane: Lane | null
  jobs: number
}

export class CheckingLanes implements AsyncDisposable {
  readonly #hung = new HungReads()
  readonly #threads: readonly [LentThread, LentThread]

  constructor(options: Omit<FeedCheckerOptions, 'hung'> = {}) {
    const thread = (): LentThread => {
      return { checker: createFeedChecker({ ...options, hung: this.#hung }), lane: null, jobs: 0 }
    }
    this.#threads = [thread(), thread()]
  }

  /** hung returns the reads that do not return, with absolute paths. */
  hung(): HungPath[] {
    return this.#hung.all()
  }

  /** readerFor returns a reader whose jobs all use the thread of this lane. */
  readerFor(lane: Lane): FeedReader {
    return {
      announce: () => this.#threadOf(lane).checker.announce(),
      check: (job, signal) => this.#lend(lane, (checker) => checker.check(job, signal)),
      compare: (indexes, signal) => this.#lend(lane, (checker) => checker.compare(indexes, signal)),
      difference: (job, signal) => this.#lend(lane, (checker) => checker.difference(job, signal)),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map(({ checker }) => checker[Symbol.asyncDispose]()))
  }

  async #lend<T>(lane: Lane, work: (checker: FeedChecker) => Promise<T>): Promise<T> {
    const thread = this.#threadOf(lane)
    thread.lane = lane
    thread.jobs++
    try {
      return await work(thread.checker)
    } finally {
      thread.jobs--
      if (thread.jobs === 0) thread.lane = null
    }
  }

  /** #threadOf returns the thread that this lane uses, or the first free one. */
  #threadOf(lane: Lane): LentThread {
    const [first, second] = this.#threads
    const own = this.#threads.find((thread) => thread.lane === lane)
    return own ?? (first.lane === null ? first : second)
  }
}
