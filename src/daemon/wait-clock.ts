// Keeps what the history stores by the wall clock right when somebody sets that clock: pauses for some time and waits
// for the next attempt last by the monotonic clock while the daemon runs, and for what is left after a restart.

import type { History } from '../history/port.ts'
import { type Clock, MINUTE, SECOND } from '../lib/clock.ts'

/** A difference between the two clocks of at least JUMP_MS means that the wall clock was set. */
const JUMP_MS = SECOND

export class WaitClock {
  readonly #clock: Clock
  readonly #history: History
  /** Both clocks when the pauses were last counted, and at the last look. */
  #counted: { wall: number; monotonic: number }
  #looked: { wall: number; monotonic: number }

  constructor({ clock, history }: { clock: Clock; history: History }) {
    this.#clock = clock
    this.#history = history
    this.#counted = { wall: clock.now(), monotonic: clock.monotonic() }
    this.#looked = this.#counted
  }

  /** start counts the time in which no daemon ran. A clock that was set back meanwhile makes no wait longer. */
  start(): void {
    const { wall } = this.#looked
    this.#count(
      (seenAt) => Math.max(0, wall - seenAt),
      () => this.#history.shortenWaits(wall),
    )
  }

  /** look counts the pauses once a minute, and at once after somebody set the clock, which moves the waits with it. */
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

  #count(passedMs: (seenAt: number) => number, waits = () => {}): void {
    const now = { wall: this.#clock.now(), monotonic: this.#clock.monotonic() }
    this.#history.atomically(() => {
      this.#history.countPauses(now.wall, passedMs)
      waits()
    })
    this.#counted = now
    this.#looked = now
  }
}
