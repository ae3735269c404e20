// Corrects the pauses and waits in the history when somebody sets the wall clock, by which the history stores them.
// While the daemon runs, pauses and waits last as long as the monotonic clock says. After a restart, they last for the
// time that was left.

import type { History } from '../history/port.ts'
import { type Clock, MINUTE, SECOND } from '../lib/clock.ts'

/** A difference between the two clocks of at least JUMP_MS means that the wall clock was set. */
const JUMP_MS = SECOND

export class WaitClock {
  readonly #clock: Clock
  readonly #history: History
  /** Both clocks, in ms, when `#count` last wrote what is left of the pauses. */
  #counted: { wall: number; monotonic: number }
  /** Both clocks, in ms, when they were last read. */
  #looked: { wall: number; monotonic: number }

  constructor({ clock, history }: { clock: Clock; history: History }) {
    this.#clock = clock
    this.#history = history
    this.#counted = { wall: clock.now(), monotonic: clock.monotonic() }
    this.#looked = this.#counted
  }

  /**
   * start counts the time in which no daemon ran as passed time of the pauses. A clock that was set back meanwhile
   * makes no wait longer.
   */
  start(): void {
    const { wall } = this.#looked
    this.#count(
      (seenAt) => Math.max(0, wall - seenAt),
      () => this.#history.shortenWaits(wall),
    )
  }

  /**
   * look counts the passed time of the pauses once a minute. When somebody has set the clock, it counts at once and
   * moves the waits with the clock.
   */
  look(): void {
    const now = { wall: this.#clock.now(), monotonic: this.#clock.monotonic() }
    const { monotonic, wall } = this.#looked
    const passed = now.monotonic - monotonic
    const jump = now.wall - wall - passed
    if (Math.abs(jump) >= JUMP_MS)
      // `seenAt` is a time of the wall clock before somebody set it. So the wall clock counts only up to the last look,
      // and the monotonic clock counts from there.
      this.#count(
        (seenAt) => Math.max(0, wall - seenAt) + passed,
        () => this.#history.moveWaits(Math.round(jump)),
      )
    else if (now.monotonic - this.#counted.monotonic >= MINUTE)
      this.#count((seenAt) => Math.max(0, now.wall - seenAt))
    else this.#looked = now
  }

  /**
   * #count writes what is left of each pause, and calls `correctWaits` in the same transaction. `passedMs` returns the
   * ms that have passed since `seenAt`, the wall ms at which the pause was last counted.
   */
  #count(passedMs: (seenAt: number) => number, correctWaits = () => {}): void {
    const now = { wall: this.#clock.now(), monotonic: this.#clock.monotonic() }
    this.#history.atomically(() => {
      this.#history.countPauses(now.wall, passedMs)
      correctWaits()
    })
    this.#counted = now
    this.#looked = now
  }
}
