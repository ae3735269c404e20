// Owns a copy of the table of known files in memory, because every listing asks for each of its paths.

import { type Clock, DAY } from '../lib/clock.ts'
import { isDue } from '../lib/due.ts'
import { type FileIdentity, isUnchanged, sameIdentity } from '../lib/files.ts'
import type { Files, Transactions } from './port.ts'
import type { KnownFile, MovedFile } from './rows.ts'

/**
 * A file that is missing for this time is forgotten, and its version may then be pruned. A mount that was only offline
 * is back by then.
 */
const FORGET_AFTER_MS = 30 * DAY

type Ports = Files & Transactions

export class KnownPaths {
  readonly #history: Ports
  readonly #clock: Clock
  readonly #files: Map<string, KnownFile>

  constructor(history: Ports, clock: Clock) {
    this.#history = history
    this.#clock = clock
    this.#files = new Map(history.knownFiles().map((file) => [file.path, file]))
  }

  /** at returns what is committed about the file that was last read at a path; null for an unknown path. */
  at(path: string): KnownFile | null {
    return this.#files.get(path) ?? null
  }

  /** remember records which version the file at a path is. It does nothing if `identity` is null (see `Origin`). */
  remember(path: string, identity: FileIdentity | null, versionId: number): void {
    if (identity === null) return
    const file = { path, identity, versionId }
    this.#history.rememberPath(file)
    this.#history.afterCommit(() => this.#files.set(path, { ...file, missingSince: null }))
  }

  /**
   * stepsAfter compares the known files with a listing. Returns a step to commit for each file that left, came back, or
   * has been missing for too long.
   */
  stepsAfter(isThere: (path: string) => boolean): (() => void)[] {
    const now = this.#clock.now()
    const steps: (() => void)[] = []
    for (const file of this.#files.values()) {
      const { path, missingSince: since } = file
      if (isThere(path) !== (since === null))
        steps.push(() => this.#setMissing(path, since === null ? now : null))
      else if (since !== null && isDue(since + FORGET_AFTER_MS, now, FORGET_AFTER_MS))
        steps.push(() => this.forget(path))
    }
    return steps
  }

  #setMissing(path: string, missingSince: number | null): void {
    this.#history.setMissing(path, missingSince)
    this.#history.afterCommit(() => {
      // The same transaction might have put the file back with a new ctime, or forgotten it.
      const file = this.at(path)
      if (file !== null) this.#files.set(path, { ...file, missingSince })
    })
  }

  /** forget removes a path, so that a file there counts as new. */
  forget(path: string): void {
    this.#history.forgetPath(path)
    this.#history.afterCommit(() => this.#files.delete(path))
  }

  /**
   * moved forgets a path whose file the daemon moved away, and records what became of the file. It changes nothing if
   * the history knows another file at the path already. With `identity` null, it does not compare the files.
   */
  moved(path: string, identity: FileIdentity | null, disposition: MovedFile['disposition']): void {
    const known = this.#history.known(path)
    if (identity !== null && (known === null || !sameIdentity(known.identity, identity))) return
    const at = this.#clock.now()
    if (known !== null) {
      const moved = { path, versionId: known.versionId, disposition, at }
      this.#history.rememberMoved(moved, at - FORGET_AFTER_MS)
    }
    this.forget(path)
  }

  /** returned records the new ctime of a file that the daemon put back; the file keeps its version. */
  returned(path: string, before: FileIdentity, identity: FileIdentity): void {
    const known = this.#history.known(path)
    if (known !== null && isUnchanged(known.identity, before))
      this.remember(path, identity, known.versionId)
  }

  /** isNews returns whether the file at a path was never read, or has changed since it was last read. */
  isNews(path: string, identity: FileIdentity): boolean {
    const known = this.at(path)
    return known === null || !sameIdentity(known.identity, identity)
  }
}
