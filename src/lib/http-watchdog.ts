// Owns giving up on a request: when its caller says so, when it takes too long as a whole, or when
// nothing has moved for a while. undici's own timeouts do not see a stalled request body.

import type { Clock, Timer } from './clock.ts'

export type GaveUp = 'stalled' | 'deadline'

export interface WatchdogLimits {
  totalMs: number
  /** Between two calls of `moved`; null: only the total counts. */
  stallMs: number | null
}

export class Watchdog implements Disposable {
  readonly #controller = new AbortController()
  readonly #clock: Clock
  readonly #limits: WatchdogLimits
  readonly #total: Timer
  #stall: Timer | null = null
  #movedAt: number
  /** For the request. */
  readonly signal: AbortSignal
  /** Which limit ended the request; null while it runs, or when the caller ended it. */
  gaveUp: GaveUp | null = null

  constructor(clock: Clock, outer: AbortSignal, limits: WatchdogLimits) {
    this.#clock = clock
    this.#limits = limits
    this.#movedAt = clock.monotonic()
    this.#total = clock.after(limits.totalMs, () => this.#giveUp('deadline'))
    this.signal = AbortSignal.any([outer, this.#controller.signal])
    this.#watch()
  }

  /** Something moved: the time until a stall begins anew. */
  moved(): void {
    this.#movedAt = this.#clock.monotonic()
  }

  /** Nothing is expected to move any more: only the total counts from here on. */
  settle(): void {
    this.#stall?.cancel()
  }

  [Symbol.dispose](): void {
    this.#stall?.cancel()
    this.#total.cancel()
  }

  /** One timer that looks again, not one a chunk: a large body moves thousands of times. */
  #watch(): void {
    const { stallMs } = this.#limits
    if (stallMs === null) return
    const left = this.#movedAt + stallMs - this.#clock.monotonic()
    if (left <= 0) this.#giveUp('stalled')
    else this.#stall = this.#clock.after(left, () => this.#watch())
  }

  #giveUp(why: GaveUp): void {
    this.gaveUp ??= why
    this.#controller.abort()
  }
}
