// Owns how many requests an origin gets at once after it asked for less (SlowDown, 429, 503): half of those
// that ran, then one more for each minute without such an answer. Pure state on the clock it is given.

import { type Clock, MINUTE } from '../lib/clock.ts'

/** Nobody configures more uploads at once: from here on there is no limit any more. */
const NO_LIMIT_FROM = 64

export class Throttle {
  readonly #clock: Clock
  #halved: { to: number; at: number } | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  limit(): number {
    if (this.#halved === null) return Number.POSITIVE_INFINITY
    const { to, at } = this.#halved
    const limit = to + Math.floor((this.#clock.monotonic() - at) / MINUTE)
    if (limit < NO_LIMIT_FROM) return limit
    this.#halved = null
    return Number.POSITIVE_INFINITY
  }

  /** `startedAt`: of the request, on the monotonic clock: what began before the last halving says nothing new. */
  slow(startedAt: number, inFlight: number): void {
    if (this.#halved !== null && startedAt < this.#halved.at) return
    const to = Math.max(1, Math.floor(Math.min(inFlight, this.limit()) / 2))
    this.#halved = { to, at: this.#clock.monotonic() }
  }
}
