// A clock for tests of long waits. It runs like the system's clock and jumps when a test asks for it. Only a jump ends
// a `sleep` of the program, so half an hour of retries takes only as long as its requests.

import { type Clock, MINUTE, systemClock } from '../../src/lib/clock.ts'

interface Sleeper {
  wakeAt: number
  wake: () => void
}

/** MOST_MINUTES ends `passUntil` if the program hangs. */
const MOST_MINUTES = 5000

/** JumpingTimers run on real time, and also end when time jumps past them. */
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

  /** endDue ends the timers whose time is over after a jump. */
  endDue(): void {
    for (const { endsAt, end } of [...this.#timers]) if (endsAt <= this.#monotonic()) end()
  }
}

export class FaultClock implements Clock {
  #ahead = 0
  #wallAhead = 0
  readonly #sleepers = new Set<Sleeper>()
  /** Every requested wait in ms, in order. */
  readonly waits: number[] = []
  /** onSleep is called whenever a sleep begins. */
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

  /** Watchdogs use `after` to guard real sockets, so its timers run on real time, and a jump ends them as well. */
  after = this.#timers.after

  /** sleeping returns how many sleeps wait for a jump. */
  get sleeping(): number {
    return this.#sleepers.size
  }

  /** msToNext returns the ms until the next sleeper wakes; infinite if nobody sleeps. */
  get msToNext(): number {
    const next = Math.min(...[...this.#sleepers].map(({ wakeAt }) => wakeAt))
    return Math.max(0, next - this.monotonic())
  }

  /** pass moves the clock by `ms` and wakes the sleepers whose time is over. */
  pass(ms: number): void {
    this.#ahead += ms
    for (const sleeper of [...this.#sleepers])
      if (sleeper.wakeAt <= this.monotonic()) sleeper.wake()
    this.#timers.endDue()
  }

  /** passUntil moves the clock minute by minute until something has happened. After each minute the program goes on. */
  async passUntil(happened: () => boolean): Promise<void> {
    for (let minutes = 0; !happened(); minutes++) {
      if (minutes > MOST_MINUTES) throw new Error(`nothing happened in ${minutes} minutes`)
      this.pass(MINUTE)
      await systemClock.sleep(5)
    }
  }

  /** moveWallClock moves only the wall clock by this many ms; intervals do not change. */
  moveWallClock(byMs: number): void {
    this.#wallAhead += byMs
  }

  /** The clock of the service and storage: it ignores `moveWallClock` and has real timers. */
  readonly outside: Clock = {
    ...systemClock,
    now: () => systemClock.now() + Math.round(this.#ahead),
  }
}
