// SandboxClock is the clock of a sandbox. A control route can set it. It decides the dates of answers, the age of
// X-SVC-Date, when forms expire, and when a month begins. After it was set it runs on. Waits take as long as before.

import type { Clock } from '../lib/clock.ts'
import type { SandboxDatabase } from './database.ts'

/** AHEAD_NAME is the name under which the database keeps `aheadMs`. */
const AHEAD_NAME = 'ms that the clock is ahead'

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
    this.#aheadMs = database.number(AHEAD_NAME)
  }

  now(): number {
    return this.#base.now() + this.#aheadMs
  }

  /** aheadMs is the time of this clock minus the time of its host, in ms. */
  get aheadMs(): number {
    return this.#aheadMs
  }

  /** setAhead sets and saves how many ms this clock is ahead of its host. With 0 it has the host's time. */
  setAhead(ms: number): void {
    this.#database.saveNumber(AHEAD_NAME, ms)
    this.#aheadMs = ms
  }

  /** set sets the clock to a wall-clock time in ms, and saves how far that is ahead of the host. */
  set(now: number): void {
    this.setAhead(Math.round(now - this.#base.now()))
  }

  /** forget returns to the host's time. It saves nothing, because the caller has cleared the database. */
  forget(): void {
    this.#aheadMs = 0
  }
}
