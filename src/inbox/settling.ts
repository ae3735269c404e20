// Owns the quiet period: a file is ready when we saw the same identity at both ends of it, on the
// monotonic clock. Refuses dates of any kind as evidence, and the same rule holds at start-up.
// Pure: it is told the time.

import type { FileIdentity } from '../feed/port.ts'
import { sameIdentity } from '../lib/files.ts'
import type { Sighting } from './port.ts'

interface Pending {
  identity: FileIdentity
  /** Monotonic ms of our first sight of this identity. */
  since: number
  /** It was quiet, and there was no room for it. */
  isPutBack: boolean
}

export class Settler {
  readonly #quietMs: number
  /** In order of first sight, so the earliest to become quiet is the first. */
  readonly #pending = new Map<string, Pending>()

  constructor(quietPeriodMs: number) {
    this.#quietMs = quietPeriodMs
  }

  /** Whether a file has changed since its quiet period began. One that was quiet and was put back has not. */
  get hasPending(): boolean {
    for (const { isPutBack } of this.#pending.values()) if (!isPutBack) return true
    return false
  }

  /**
   * Everything of a whole listing that is not taken yet; what is not among it is forgotten. A listing
   * takes a while, so it starts quiet periods (`now`: when it had ended) but never ends one.
   */
  observeAll(sightings: readonly Sighting[], now: number): void {
    const listed = new Set(sightings.map(({ path }) => path))
    for (const path of this.#pending.keys()) if (!listed.has(path)) this.#pending.delete(path)
    for (const { path, identity } of sightings) {
      const before = this.#pending.get(path)
      if (before === undefined || !sameIdentity(before.identity, identity)) {
        this.#start(path, identity, now)
      }
    }
  }

  /** A look at one path, at `now`. True where it is ready: then it is forgotten here. */
  takeIfQuiet({ path, identity }: Sighting, now: number): boolean {
    const before = this.#pending.get(path)
    if (before === undefined || !sameIdentity(before.identity, identity)) {
      this.#start(path, identity, now)
      return false
    }
    return now - before.since >= this.#quietMs && this.#pending.delete(path)
  }

  /** Ready, but not to be taken now: it settles anew. */
  putBack({ path, identity }: Sighting, now: number): void {
    this.#start(path, identity, now, true)
  }

  drop(path: string): void {
    this.#pending.delete(path)
  }

  /** Paths whose quiet period is over if they are still the same: look at them. */
  due(now: number): string[] {
    const due: string[] = []
    for (const [path, { since }] of this.#pending) {
      if (since + this.#quietMs > now) break
      due.push(path)
    }
    return due
  }

  /** Monotonic ms at which the next file is due, which may have passed; null when nothing settles. */
  nextAt(): number | null {
    for (const { since } of this.#pending.values()) return since + this.#quietMs
    return null
  }

  #start(path: string, identity: FileIdentity, now: number, isPutBack = false): void {
    this.#pending.delete(path)
    this.#pending.set(path, { identity, since: now, isPutBack })
  }
}
