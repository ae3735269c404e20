// Owns what hinders the daemon as a whole: when it is tried again, and that a person hears of each trouble
// once, until it has stayed away. What a round starts fails after the round, so one that went well
// proves nothing yet. Pure: it is told the time, in monotonic ms.

import { SECOND } from './clock.ts'

const PAUSE_MS = 5 * SECOND
/** Longer than a pause and the wait for a database that is locked, which come one after the other. */
const OVER_MS = 15 * SECOND

export class Hindrance {
  /** Troubles that a person knows of, and when each was last met. */
  readonly #met = new Map<string, number>()
  #pausedUntil = Number.NEGATIVE_INFINITY

  /** The oldest trouble that is not over. */
  get trouble(): string | null {
    const [oldest] = this.#met.keys()
    return oldest ?? null
  }

  /** How long nothing is tried yet, in ms. */
  pauseLeft(now: number): number {
    return Math.max(0, this.#pausedUntil - now)
  }

  /** Trouble was met; answers whether a person has to hear of it. */
  meet(trouble: string, now: number): boolean {
    const isNew = !this.#met.has(trouble)
    this.#met.set(trouble, now)
    this.#pausedUntil = now + PAUSE_MS
    return isNew
  }

  /** What has stayed away for long enough, and is forgotten. */
  over(now: number): string[] {
    const over = [...this.#met].filter(([, at]) => now >= at + OVER_MS)
    for (const [trouble] of over) this.#met.delete(trouble)
    return over.map(([trouble]) => trouble)
  }
}
