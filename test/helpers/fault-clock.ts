// Time for tests of long waits: it runs like the system's, and jumps when a test says so. A `sleep` of the
// program ends only by such a jump, so that half an hour of retries takes the time of its requests.

import { type Clock, MINUTE, systemClock } from '../../src/lib/clock.ts'

interface Sleeper {
  wakeAt: number
  wake: () => void
}

/** A bound for what hangs. */
const MOST_MINUTES = 5000

/** Timers of real time that also end when time jumps past them. */
class JumpingTimers {
  readonly #monotonic: () => number
  readonly #timers = new Set<{ endsAt: number; end: () => void }>()

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  readonly after = (ms: number, run: () => void): Disposable => {
    const end = () => {
      cancel()
      run()
    }
    const timer = { endsAt: this.#monotonic() + ms, end }
    const real = systemClock.after(ms, end)
    const cancel = () => {
      real[Symbol.dispose]()
      this.#timers.delete(timer)
    }
    this.#timers.add(timer)
    return { [Symbol.dispose]: cancel }
  }

  /** Time has jumped. */
  jumped(): void {
    for (const { endsAt, end } of [...this.#timers]) if (endsAt <= this.#monotonic()) end()
  }
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

  readonly #timers = new JumpingTimers(() => this.monotonic())

  /** Watchdogs guard real sockets, so they run on real time, beside the jumps. */
  after = this.#timers.after

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
    this.#timers.jumped()
  }

  /** Lets minutes pass until something has happened, while what is under way goes on. */
  async passUntil(happened: () => boolean): Promise<void> {
    for (let minutes = 0; !happened(); minutes++) {
      if (minutes > MOST_MINUTES) throw new Error(`nothing happened in ${minutes} minutes`)
      this.pass(MINUTE)
      await systemClock.sleep(5)
    }
  }

  /** Somebody sets the clock on the wall; intervals stay as they are. */
  setWallClock(byMs: number): void {
    this.#wallAhead += byMs
  }

  /** For the other side of the network: the same wall clock before anybody set it, and real timers. */
  readonly outside: Clock = {
    ...systemClock,
    now: () => systemClock.now() + Math.round(this.#ahead),
  }
}
