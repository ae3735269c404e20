// A wait that can be cut short: rung by whoever has news for a sleeping loop.

import type { Clock } from './clock.ts'

export class Bell {
  readonly #clock: Clock
  #rung = new AbortController()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  ring(): void {
    this.#rung.abort()
  }

  /** Resolves after `ms`, or when rung; at once when it was rung since the last wait. */
  async wait(ms: number): Promise<void> {
    await this.#clock.sleep(ms, this.#rung.signal)
    if (this.#rung.signal.aborted) this.#rung = new AbortController()
  }
}
