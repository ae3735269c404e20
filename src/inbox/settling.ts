// Settler implements the quiet period: a file is ready if it had the same identity at both ends of the period, on the
// monotonic clock. File dates prove nothing, and the same rule holds at start-up. A file that changes at each look
// without growing is restless: a program touches or replaces it all the time, or its file system tells other numbers
// each time. Such a file is read without a quiet period (daemon/restless.ts). The caller passes the time.

import { type FileIdentity, sameIdentity } from '../lib/files.ts'
import type { Sighting } from './port.ts'

interface Pending {
  identity: FileIdentity
  /** Monotonic ms when this identity was first seen. */
  since: number
  /** The file was quiet, but there was no room for it. */
  isPutBack: boolean
  /** Monotonic ms from which on the file has only changed without growing. */
  restlessSince: number
  /** The largest size so far, in bytes. */
  largest: number
  /** What the last change changed; null if the file did not change. */
  changed: Restless['changed'] | null
}

/** Restless is a file that never stays the same for the quiet period, although it does not grow. */
export interface Restless extends Sighting {
  changed: 'size' | 'inode' | 'modification time' | 'change time'
}

export class Settler {
  readonly #quietMs: number
  /** In the order of first sight, so that the first file becomes quiet first. */
  readonly #pending = new Map<string, Pending>()

  constructor(quietPeriodMs: number) {
    this.#quietMs = quietPeriodMs
  }

  /** hasPending returns whether any file still settles, apart from quiet files that were put back. */
  get hasPending(): boolean {
    for (const { isPutBack } of this.#pending.values()) if (!isPutBack) return true
    return false
  }

  /**
   * observeAll starts the quiet periods of new and changed files, and forgets files that are not in `sightings`. It
   * never ends a quiet period, because a listing takes a while. `now` is the time after the listing.
   */
  observeAll(sightings: readonly Sighting[], now: number): void {
    const listed = new Set(sightings.map(({ path }) => path))
    for (const path of this.#pending.keys()) if (!listed.has(path)) this.#pending.delete(path)
    for (const { path, identity } of sightings) {
      const before = this.#pending.get(path)
      if (before === undefined || !sameIdentity(before.identity, identity)) {
        this.#start({ path, identity }, now)
      }
    }
  }

  /**
   * takeIfQuiet returns true and forgets the file if it is unchanged and its quiet period is over. A new or changed
   * file starts a quiet period instead.
   */
  takeIfQuiet({ path, identity }: Sighting, now: number): boolean {
    const before = this.#pending.get(path)
    if (before === undefined || !sameIdentity(before.identity, identity)) {
      this.#start({ path, identity }, now)
      return false
    }
    return now - before.since >= this.#quietMs && this.#pending.delete(path)
  }

  /** putBack starts a new quiet period for a file that was ready but could not be taken. */
  putBack({ path, identity }: Sighting, now: number): void {
    this.#put(path, { ...firstSeen(identity, now), isPutBack: true })
  }

  /** restless returns the files that have been restless for `forMs` and a quiet period. `now` is monotonic ms. */
  restless(forMs: number, now: number): Restless[] {
    const found: Restless[] = []
    for (const [path, { changed, identity, restlessSince }] of this.#pending)
      if (changed !== null && now - restlessSince >= forMs + this.#quietMs)
        found.push({ path, identity, changed })
    return found
  }

  drop(path: string): void {
    this.#pending.delete(path)
  }

  /** due returns the paths to look at: their quiet period is over if they are unchanged. */
  due(now: number): string[] {
    const due: string[] = []
    for (const [path, { since }] of this.#pending) {
      if (since + this.#quietMs > now) break
      due.push(path)
    }
    return due
  }

  /** nextAt returns the monotonic ms when the next file is due, possibly in the past; null if no file settles. */
  nextAt(): number | null {
    for (const { since } of this.#pending.values()) return since + this.#quietMs
    return null
  }

  /** #start begins a quiet period. A file that has grown is treated like a file that is seen for the first time. */
  #start({ path, identity }: Sighting, now: number): void {
    const before = this.#pending.get(path)
    const first = firstSeen(identity, now)
    const isGrowing = before?.identity.ino === identity.ino && identity.size > before.largest
    if (before === undefined || isGrowing) this.#put(path, first)
    else
      this.#put(path, {
        ...first,
        restlessSince: before.restlessSince,
        largest: Math.max(before.largest, identity.size),
        changed: changeOf(before.identity, identity),
      })
  }

  /** #put moves a file to the end of the order: it becomes quiet last. */
  #put(path: string, pending: Pending): void {
    this.#pending.delete(path)
    this.#pending.set(path, pending)
  }
}

function firstSeen(identity: FileIdentity, now: number): Pending {
  return {
    identity,
    since: now,
    isPutBack: false,
    restlessSince: now,
    largest: identity.size,
    changed: null,
  }
}

function changeOf(before: FileIdentity, now: FileIdentity): Restless['changed'] {
  if (before.size !== now.size) return 'size'
  if (before.ino !== now.ino) return 'inode'
  return before.mtimeNs !== now.mtimeNs ? 'modification time' : 'change time'
}
