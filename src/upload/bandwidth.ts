// Bandwidth enforces `upload.maxRate`, the limit of all uploads together.

import { type Clock, SECOND } from '../lib/clock.ts'

export class Bandwidth {
  readonly #clock: Clock
  readonly bytesPerSecond: number
  #freeAt = 0

  constructor(clock: Clock, bytesPerSecond: number) {
    this.#clock = clock
    this.bytesPerSecond = bytesPerSecond
  }

  /** readSize is the size of one read in bytes: a quarter of a second, so that a slow line keeps moving. */
  get readSize(): number {
    return Math.max(1, Math.floor(this.bytesPerSecond / 4))
  }

  /** wait resolves when these bytes may be sent, or when `signal` aborts. */
  async wait(bytes: number, signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic()
    const start = Math.max(now, this.#freeAt)
    this.#freeAt = start + (bytes / this.bytesPerSecond) * SECOND
    if (start > now) await this.#clock.sleep(start - now, signal)
  }
}
