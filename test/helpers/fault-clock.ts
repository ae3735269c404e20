// Time for tests of long waits: it runs like the system's, and jumps when a test says so. A `sleep` of the
// program ends only by such a jump, so that half an hour of retries takes the time of its requests.

import { type Clock, systemClock } from '../../src/lib/clock.ts'

interface Sleeper {
  wakeAt: number
  wake: () => void
}

export class FaultClock implements Clock {
  #ahead = 0
  #wallAhead = 0
  readonly #sleepers = new Set<Sleeper>()
  /** Ms of every wait that the program asked for, in order. */
  readonly waits: number[] = []
  /** Called when something begins to sleep. */
  onSleep = (): void => {}

  readonly now = () => systemClock.now() + Math.round(this.#ahead) + this.#wallAhead

  readonly monotonic = () => systemClock.monotonic() + this.#ahead

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    this.waits.push(Math.round(ms))
    if (signal?.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        this.#sleepers.delete(sleeper)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      const sleeper = { wakeAt: this.monotonic() + ms, wake }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', wake)
      this.onSleep()
    })
  }

  /** Watchdogs guard real sockets, so they run on real time. */
  after = systemClock.after

  get sleeping(): number {
    return this.#sleepers.size
  }

  /** Ms until the next sleeper wakes; infinite where nobody sleeps. */
  get msToNext(): number {
    const next = Math.min(...[...this.#sleepers].map(({ wakeAt }) => wakeAt))
    return Math.max(0, next - this.monotonic())
  }

  /** Time passes, and whoever slept until then is awake. */
  pass(ms: number): void {
    this.#ahead += ms
    for (const sleeper of [...this.#sleepers])
      if (sleeper.wakeAt <= this.monotonic()) sleeper.wake()
  }

  /** Somebody sets the clock on the wall; intervals do not notice. */
  setWallClock(byMs: number): void {
    this.#wallAhead += byMs
  }

  /** For the other side of the network: the same wall clock before anybody set it, and real timers. */
  readonly outside: Clock = {
    ...systemClock,
    now: () => systemClock.now() + Math.round(this.#ahead),
  }
}
