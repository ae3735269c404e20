// Owns the pause after an error of our own disk or database. During the pause feeds stay in their states, and the error
// is a condition of the daemon. After the pause everything is tried again.

import { ConditionError, type Conditions } from '../domain/conditions.ts'
import { type Clock, SECOND } from '../lib/clock.ts'
import { isRetryable, messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'

const PAUSE_MS = 5 * SECOND
/** The condition lasts longer than a pause and the wait for a locked database after it. */
const CONDITION_MS = 15 * SECOND
const FAULT = 'an internal error of feedsyncd; please report it'

interface FailurePauseParts {
  clock: Clock
  conditions: Conditions
  log: Log
}

export class FailurePause {
  readonly #clock: Clock
  readonly #conditions: Conditions
  readonly #log: Log
  /** Monotonic ms of the first of the errors that follow each other without a break. */
  #since = Number.NEGATIVE_INFINITY
  /** Monotonic ms at which the pause ends. */
  #until = Number.NEGATIVE_INFINITY

  constructor({ clock, conditions, log }: FailurePauseParts) {
    this.#clock = clock
    this.#conditions = conditions
    this.#log = log
  }

  /**
   * begin begins a pause, sets the condition, and logs an unknown error the first time. The condition ends by time, not
   * with a good round, because work that the round started can still fail.
   */
  begin(error: unknown): void {
    const isKnown = isRetryable(error)
    const code = isKnown ? conditionOf(error) : 'internal-error'
    const hint = isKnown ? error.hint : 'report it with its line in the log'
    if (!isKnown && !this.#conditions.has(code)) this.logFault(error)
    this.#conditions.set(code, { message: messageOf(error), hint }, CONDITION_MS)
    const now = this.#clock.monotonic()
    const lastConditionEnds = this.#until - PAUSE_MS + CONDITION_MS
    if (now >= lastConditionEnds) this.#since = now
    this.#until = now + PAUSE_MS
  }

  /** pauseOnError runs `work` between two rounds. If it throws, a pause begins and the result is null. */
  pauseOnError<T>(work: () => T): T | null {
    try {
      return work()
    } catch (error) {
      this.begin(error)
      return null
    }
  }

  /** logFault logs an unknown error, and pauses nothing. */
  logFault(error: unknown): void {
    this.#log.error({ event: 'daemon.fault', err: error }, FAULT)
  }

  /** failingForMs returns the ms since the first of the errors that follow each other without a break. */
  failingForMs(): number {
    return this.#clock.monotonic() - this.#since
  }

  /** remainingMs returns the ms until the pause ends; 0 if there is no pause now. */
  remainingMs(): number {
    return Math.max(0, this.#until - this.#clock.monotonic())
  }
}

const conditionOf = (error: unknown) =>
  error instanceof ConditionError ? error.condition : 'state-failing'
