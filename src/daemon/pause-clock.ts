// Counts the pauses for some time by the monotonic clock while the daemon runs, and by what is left after a restart.
// Somebody may set the wall clock, by which the history stores when a pause was last counted.

import type { History } from '../history/port.ts'
import { type Clock, MINUTE, SECOND } from '../lib/clock.ts'

/** A difference between the two clocks of at least JUMP_MS means that the wall clock was set. */
const JUMP_MS = SECOND

export class PauseClock {
  readonly #clock: Clock
  readonly #history: Pick<History, 'atomically' | 'countPauses'>
  /** Both clocks when the pauses were last counted, and at the last look. */
  #counted: { wall: number; monotonic: number }
  #looked: { wall: number; monotonic: number }

  constructor({
    clock,
    history,
  }: { clock: Clock; history: Pick<History, 'atomically' | 'countPauses'> }) {
    this.#clock = clock
    this.#history = history
    this.#counted = { wall: clock.now(), monotonic: clock.monotonic() }
    this.#looked = this.#counted
  }

  /** start counts the time in which no daemon ran. */
  start(): void {
    const { wall } = this.#looked
    this.#count((seenAt) => Math.max(0, wall - seenAt))
  }

  /** look counts the pauses once a minute, and at once after somebody set the clock. */
  look(): void {
    const now = { wall: this.#clock.now(), monotonic: this.#clock.monotonic() }
    const { monotonic, wall } = this.#looked
    const passed = now.monotonic - monotonic
    const wasSet = Math.abs(now.wall - wall - passed) >= JUMP_MS
    if (wasSet || now.monotonic - this.#counted.monotonic >= MINUTE) {
      // A pause that began since the last count was seen at a time of the clock before it was set.
      this.#count((seenAt) => Math.max(0, wall - seenAt) + passed)
    } else this.#looked = now
  }

  #count(passedMs: (seenAt: number) => number): void {
    const now = { wall: this.#clock.now(), monotonic: this.#clock.monotonic() }
    this.#history.atomically(() => this.#history.countPauses(now.wall, passedMs))
    this.#counted = now
    this.#looked = now
  }
}
