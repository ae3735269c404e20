// The clock of a sandbox, which a control route can set. It decides the dates of answers, the age of X-SVC-Date, the
// expiry of forms, and months. It keeps running after it was set, and waits take as long as before.

import type { Clock } from '../lib/clock.ts'
import type { SandboxDatabase } from './database.ts'

const AHEAD = 'ms that the clock is ahead'

export class SandboxClock implements Clock {
  readonly monotonic: Clock['monotonic']
  readonly sleep: Clock['sleep']
  readonly after: Clock['after']
  readonly #base: Clock
  readonly #database: SandboxDatabase
  #aheadMs: number

  constructor(base: Clock, database: SandboxDatabase) {
    this.monotonic = base.monotonic
    this.sleep = base.sleep
    this.after = base.after
    this.#base = base
    this.#database = database
    this.#aheadMs = database.number(AHEAD)
  }

  now(): number {
    return this.#base.now() + this.#aheadMs
  }

  /** aheadMs is the time of this clock minus the time of its host, in ms. */
  get aheadMs(): number {
    return this.#aheadMs
  }

  /** setAhead sets how far this clock is ahead of its host; 0 is the host's time. */
  setAhead(ms: number): void {
    this.#database.saveNumber(AHEAD, ms)
    this.#aheadMs = ms
  }

  /** set sets the clock to a wall-clock time in ms. */
  set(now: number): void {
    this.setAhead(Math.round(now - this.#base.now()))
  }

  /** forget returns to the host's time, after the database was cleared. */
  forget(): void {
    this.#aheadMs = 0
  }
}
