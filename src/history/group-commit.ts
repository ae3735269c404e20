// Owns commits that several callers share. A durable commit takes disk time, so all work that arrives in one turn of
// the event loop, or while a commit runs, shares the next commit. Work that nobody waits for is delayed by a few ms, so
// that it can share a commit, too. Waiting for the lock of another process does not block the thread.

import { type Clock, SECOND } from '../lib/clock.ts'
import { errorCode, isRetryable } from '../lib/errors.ts'
import type { Connection } from './connection.ts'

interface Waiting {
  work: () => unknown
  /** Monotonic ms at which the work was added. */
  since: number
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** A larger group would block the event loop for too long. */
const MAX_GROUP_SIZE = 64
/** The delay of `soon` work: shorter than a commit, and longer than the time between the writes of two small feeds. */
const SOON_MS = 3
const RETRY_MS = 50
/** A shared commit blocks the thread. Other work then gets this many times its duration before the next commit. */
const REST_FACTOR = 2
const LONGEST_REST_MS = 20
/** Work that has waited this long for the lock of another process fails. */
const MAX_LOCK_WAIT_MS = 5 * SECOND

export class GroupCommit {
  readonly #db: Pick<Connection, 'atomically'>
  readonly #clock: Clock
  #waiting: Waiting[] = []
  /** Monotonic ms of the next planned commit. */
  #nextCommitAt = Number.POSITIVE_INFINITY
  /** Monotonic ms before which no commit begins, so that a slow disk gets fewer and larger commits. */
  #notBefore = 0

  constructor(db: Pick<Connection, 'atomically'>, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** add runs `work` and returns its result once it is durable. Rejects with the error of `work` or of the database. */
  add<T>(work: () => T, when: 'now' | 'soon' = 'now'): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#waiting.push({ work, since: this.#clock.monotonic(), resolve, reject })
    this.#schedule(when === 'now' ? 0 : SOON_MS)
    return promise as Promise<T>
  }

  /** close commits or rejects all waiting work before the database closes. */
  close(): void {
    while (this.#waiting.length > 0) this.#flush(0)
  }

  #schedule(inMs: number): void {
    const now = this.#clock.monotonic()
    const at = Math.max(now + inMs, this.#notBefore)
    if (at >= this.#nextCommitAt) return
    this.#nextCommitAt = at
    const turn = () => {
      // An earlier commit might have been planned meanwhile.
      if (at === this.#nextCommitAt) this.#commitGroup()
    }
    // The timer keeps the process alive until the work is written.
    if (at > now) void this.#clock.sleep(at - now).then(turn)
    else setImmediate(turn)
  }

  #commitGroup(): void {
    this.#nextCommitAt = Number.POSITIVE_INFINITY
    if (this.#waiting.length === 0) return
    const isShared = this.#waiting.length > 1
    const began = this.#clock.monotonic()
    const isLocked = this.#flush(MAX_LOCK_WAIT_MS)
    const ended = this.#clock.monotonic()
    // A commit for one caller is short, so no rest follows it.
    if (isShared) this.#notBefore = ended + Math.min(REST_FACTOR * (ended - began), LONGEST_REST_MS)
    if (isLocked) this.#notBefore = ended + RETRY_MS
    if (this.#waiting.length > 0) this.#schedule(0)
  }

  /**
   * #flush commits one group. While another process holds the lock, work that was added in the last `patienceMs` waits
   * again, and older work fails. Returns whether work waits again.
   */
  #flush(patienceMs: number): boolean {
    const group = this.#waiting.splice(0, MAX_GROUP_SIZE)
    try {
      const ends = this.#db.atomically(() =>
        group.map((each) => this.#work(each, group.length > 1)),
      )
      for (const end of ends) end()
      return false
    } catch (error) {
      const isLocked = /^SQLITE_(BUSY|LOCKED)/.test(errorCode(error) ?? '')
      const givesUpBefore = this.#clock.monotonic() - patienceMs
      const triedAgain = group.filter(({ since }) => isLocked && since > givesUpBefore)
      this.#waiting.unshift(...triedAgain)
      for (const each of group) if (!triedAgain.includes(each)) each.reject(error)
      return triedAgain.length > 0
    }
  }

  /**
   * #work runs the work of one caller and returns the step that settles the caller's promise. Work that throws fails
   * alone; an error of the database fails all work of the shared commit.
   */
  #work({ work, resolve, reject }: Waiting, isShared: boolean): () => void {
    try {
      const value = isShared ? this.#db.atomically(work) : work()
      return () => resolve(value)
    } catch (error) {
      if (!isShared || isRetryable(error)) throw error
      return () => reject(error)
    }
  }
}
