// A wait that can be cut short by whoever has work for a sleeping loop.

import type { Clock } from './clock.ts'

export class WakeSignal {
  readonly #clock: Clock
  #raised = new AbortController()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  raise(): void {
    this.#raised.abort()
  }

  /** Resolves after `ms`, or when raised; at once when it was raised since the last wait. */
  async wait(ms: number): Promise<void> {
    await this.#clock.sleep(ms, this.#raised.signal)
    if (this.#raised.signal.aborted) this.#raised = new AbortController()
  }
}
