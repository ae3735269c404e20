// The pause after an error of our own disk or database: feeds stay where they are, the error is a condition of
// the daemon, and everything is tried again after it.

import { SECOND } from '../lib/clock.ts'
import { isRetryable, messageOf } from '../lib/errors.ts'
import type { Parts } from '../pipeline/parts.ts'

const PAUSE_MS = 5 * SECOND
/** Longer than a pause and the wait for a locked database, which come one after the other. */
const OVER_MS = 15 * SECOND
const FAULT = 'an internal error of feedsyncd; please report it'

export class FailurePause {
  readonly #parts: Parts
  /** Monotonic ms. */
  #since = Number.NEGATIVE_INFINITY
  #until = Number.NEGATIVE_INFINITY

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** What a round starts may fail after it, so a good round is not the end of the condition. */
  begin(error: unknown): void {
    const { clock, conditions } = this.#parts
    const isKnown = isRetryable(error)
    const code = isKnown ? (error.condition ?? 'state-failing') : 'internal-error'
    const hint = isKnown ? error.hint : 'report it with the line of the log'
    if (!isKnown && !conditions.has(code)) this.fault(error)
    conditions.set(code, { message: messageOf(error), hint }, OVER_MS)
    const now = clock.monotonic()
    if (now - this.#until >= OVER_MS - PAUSE_MS) this.#since = now
    this.#until = now + PAUSE_MS
  }

  /** What is asked between two rounds; null where that met an error, which is a pause as in a round. */
  pauseOnError<T>(work: () => T): T | null {
    try {
      return work()
    } catch (error) {
      this.begin(error)
      return null
    }
  }

  /** An error that feedsyncd does not know, met by one feed, is no reason to pause the others. */
  fault(error: unknown): void {
    this.#parts.log.error({ event: 'daemon.fault', err: error }, FAULT)
  }

  /** Ms since the first of the errors that followed each other. */
  failingForMs(): number {
    return this.#parts.clock.monotonic() - this.#since
  }

  /** Ms that are left of it. */
  remainingMs(): number {
    return Math.max(0, this.#until - this.#parts.clock.monotonic())
  }
}
