// Bandwidth enforces `upload.maxRate`, the limit of all uploads together.

import { type Clock, SECOND } from '../lib/clock.ts'

export class Bandwidth {
  readonly #clock: Clock
  readonly bytesPerSecond: number
  /** Monotonic ms until which earlier calls of `wait` have reserved the line. */
  #freeAt = 0

  constructor(clock: Clock, bytesPerSecond: number) {
    this.#clock = clock
    this.bytesPerSecond = bytesPerSecond
  }

  /** readSize is how many bytes the limit allows in a quarter of a second: such pieces keep a slow line moving. */
  get readSize(): number {
    return Math.max(1, Math.floor(this.bytesPerSecond / 4))
  }

  /** wait reserves the time that these bytes need, and resolves when they may be sent, or when `signal` aborts. */
  async wait(bytes: number, signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic()
    const start = Math.max(now, this.#freeAt)
    this.#freeAt = start + (bytes / this.bytesPerSecond) * SECOND
    if (start > now) await this.#clock.sleep(start - now, signal)
  }
}
