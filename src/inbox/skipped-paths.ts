// SkippedPaths remembers the skipped paths with reason and time: paths that a listing could not use, and files that
// could not be read. It is in memory only: the first listing after a start finds the paths again.

import type { Clock } from '../lib/clock.ts'
import { type FileIdentity, sameIdentity } from '../lib/files.ts'
import type { Log } from '../lib/log.ts'
import type { Listing, Sighting, Skipped, SkippedPath } from './port.ts'

/** SkippedListener receives all skipped paths, sorted by path, after each change. */
type SkippedListener = (skipped: readonly SkippedPath[]) => void

export class SkippedPaths {
  readonly #clock: Clock
  readonly #log: Log
  readonly #onChange: SkippedListener
  #skipped = new Map<string, SkippedPath>()
  /** The identity of each file that is listed normally but could not be read. */
  readonly #unread = new Map<string, FileIdentity>()

  constructor({
    clock,
    log,
    onChange,
  }: {
    clock: Clock
    log: Log
    onChange: SkippedListener
  }) {
    this.#clock = clock
    this.#log = log
    this.#onChange = onChange
  }

  /** has returns whether this file could not be read and has not changed since. */
  has({ path, identity }: Sighting): boolean {
    const unread = this.#unread.get(path)
    return unread !== undefined && sameIdentity(unread, identity)
  }

  /** listed replaces the skipped paths after a listing. A path that the listing knows nothing about stays. */
  listed({ files, skipped, unknown }: Listing): void {
    const before = this.#skipped
    if (before.size + skipped.length === 0) return
    const unread = new Set(files.filter((file) => this.has(file)).map(({ path }) => path))
    this.#skipped = new Map()
    for (const one of skipped) this.#put(one, before.get(one.path))
    for (const [path, one] of before) {
      const stays = unread.has(path) || unknown.some((prefix) => path.startsWith(prefix))
      if (stays && !this.#skipped.has(path)) this.#skipped.set(path, one)
      else this.#unread.delete(path)
    }
    this.#announce()
  }

  /** add skips a listed file that could not be read, and logs the first time. */
  add({ path, identity }: Sighting, words: Omit<Skipped, 'path'>): void {
    this.#unread.set(path, identity)
    this.#put({ path, ...words }, this.#skipped.get(path))
    this.#announce()
  }

  /** delete removes a file after it was read. */
  delete(path: string): void {
    if (this.#unread.delete(path) && this.#skipped.delete(path)) this.#announce()
  }

  #put(one: Skipped, before: SkippedPath | undefined): void {
    const { hint, path, reason } = one
    this.#skipped.set(path, { path, reason, hint, since: before?.since ?? this.#clock.now() })
    if (before === undefined)
      this.#log.warn({ event: 'path.skipped', path, reason, hint }, `${path} skipped: ${reason}`)
  }

  #announce(): void {
    const all = [...this.#skipped.values()]
    this.#onChange(all.toSorted((a, b) => (a.path < b.path ? -1 : 1)))
  }
}
