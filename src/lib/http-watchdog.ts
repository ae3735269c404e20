// Owns giving up on a request: when its caller says so, or when it takes too long as a whole.

import type { Clock, Timer } from './clock.ts'

export class Watchdog implements Disposable {
  readonly #controller = new AbortController()
  readonly #timer: Timer
  /** For the request. */
  readonly signal: AbortSignal
  /** The time was over; false while the request runs, and when the caller ended it. */
  gaveUp = false

  constructor(clock: Clock, outer: AbortSignal, totalMs: number) {
    this.signal = AbortSignal.any([outer, this.#controller.signal])
    this.#timer = clock.after(totalMs, () => {
      this.gaveUp = true
      this.#controller.abort()
    })
  }

  [Symbol.dispose](): void {
    this.#timer.cancel()
  }
}
