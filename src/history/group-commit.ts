// Owns the commits that works of the same moment share. A durable commit costs the disk's time, so what is
// written in one turn of the loop, and what queues up during a commit, shares the next one. Work that nobody
// waits for is delayed by a few ms, to share a commit too. Waiting for another process's lock does not block
// the thread.

import { type Clock, SECOND } from '../lib/clock.ts'
import { errorCode, isRetryable } from '../lib/errors.ts'
import type { Connection } from './connection.ts'

interface Waiting {
  work: () => unknown
  /** Monotonic ms. */
  since: number
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** More would hold up the event loop for too long. */
const MAX_GROUP_SIZE = 64
/** Short beside a disk's own time, and long beside the time that many small feeds need between two writes. */
const SOON_MS = 3
const RETRY_MS = 50
/** A shared commit holds up the thread: until the next one, others have this many times as long. */
const REST_FACTOR = 2
const LONGEST_REST_MS = 20
/** A lock that lasts longer than this is reported. */
const MAX_LOCK_WAIT_MS = 5 * SECOND

export class GroupCommit {
  readonly #db: Pick<Connection, 'atomically'>
  readonly #clock: Clock
  #waiting: Waiting[] = []
  /** Monotonic ms at which the next commit begins. */
  #nextCommitAt = Number.POSITIVE_INFINITY
  /** Monotonic ms until which no commit begins, so that a slow disk gets fewer and larger ones. */
  #notBefore = 0

  constructor(db: Pick<Connection, 'atomically'>, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** What `work` returned, once it is durable; rejects with what it threw, or with an error of the database. */
  add<T>(work: () => T, when: 'now' | 'soon' = 'now'): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#waiting.push({ work, since: this.#clock.monotonic(), resolve, reject })
    this.#schedule(when === 'now' ? 0 : SOON_MS)
    return promise as Promise<T>
  }

  /** Commits what waits, or rejects it: nothing is left behind when the database closes. */
  close(): void {
    while (this.#waiting.length > 0) this.#flush(0)
  }

  #schedule(inMs: number): void {
    const now = this.#clock.monotonic()
    const at = Math.max(now + inMs, this.#notBefore)
    if (at >= this.#nextCommitAt) return
    this.#nextCommitAt = at
    const turn = () => {
      // Another one may have come before it.
      if (at === this.#nextCommitAt) this.#commitGroup()
    }
    // Not a timer that may be forgotten: the process lives until it is written.
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
    // Work that is alone need not wait for others.
    if (isShared) this.#notBefore = ended + Math.min(REST_FACTOR * (ended - began), LONGEST_REST_MS)
    if (isLocked) this.#notBefore = ended + RETRY_MS
    if (this.#waiting.length > 0) this.#schedule(0)
  }

  /** Answers whether a lock made it wait. */
  #flush(patienceMs: number): boolean {
    const group = this.#waiting.splice(0, MAX_GROUP_SIZE)
    try {
      const ends = this.#db.atomically(() => group.map((each) => this.#end(each, group.length > 1)))
      for (const end of ends) end()
      return false
    } catch (error) {
      const patient = this.#clock.monotonic() - patienceMs
      const isLocked = /^SQLITE_(BUSY|LOCKED)/.test(errorCode(error) ?? '')
      const waits = group.filter(({ since }) => isLocked && since > patient)
      this.#waiting.unshift(...waits)
      for (const each of group) if (!waits.includes(each)) each.reject(error)
      return waits.length > 0
    }
  }

  /** What settles its promise. A work that throws fails alone; an error of the database fails all that share the commit. */
  #end({ work, resolve, reject }: Waiting, isShared: boolean): () => void {
    try {
      const value = isShared ? this.#db.atomically(work) : work()
      return () => resolve(value)
    } catch (error) {
      if (!isShared || isRetryable(error)) throw error
      return () => reject(error)
    }
  }
}
