// The table of known files in memory as well, since every listing asks for each of its paths.

import { type Clock, DAY } from '../lib/clock.ts'
import { isDue } from '../lib/due.ts'
import { type FileIdentity, sameBytes, sameIdentity } from '../lib/files.ts'
import type { Files, Transactions } from './port.ts'
import type { KnownFile } from './rows.ts'

/** A file that is missing for so long is forgotten, and its version may be: a mount that was away is back by then. */
const FORGET_AFTER_MS = 30 * DAY

type Ports = Files & Pick<Transactions, 'afterCommit'>

export class KnownPaths {
  readonly #history: Ports
  readonly #clock: Clock
  readonly #files: Map<string, KnownFile>

  constructor(history: Ports, clock: Clock) {
    this.#history = history
    this.#clock = clock
    this.#files = new Map(history.knownFiles().map((file) => [file.path, file]))
  }

  /** What stat said of the path when it was last read, as that was last committed; null while it is not known. */
  at(path: string): KnownFile | null {
    return this.#files.get(path) ?? null
  }

  /** A file that a person named (`identity` null) is looked at as any other. */
  remember(path: string, identity: FileIdentity | null, versionId: number): void {
    if (identity === null) return
    this.#history.rememberPath({ path, identity, versionId })
    this.#keep({ path, identity, versionId, missingSince: null })
  }

  /** What a listing tells of the known files: steps to take within commits, one for each that left, came back or is long gone. */
  presence(isThere: (path: string) => boolean): (() => void)[] {
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
    const file = this.at(path)
    if (file === null) return
    this.#history.setMissing(path, missingSince)
    this.#keep({ ...file, missingSince })
  }

  #keep(file: KnownFile): void {
    this.#history.afterCommit(() => this.#files.set(file.path, file))
  }

  /** It is news when it comes back. */
  forget(path: string): void {
    this.#history.forgetPath(path)
    this.#history.afterCommit(() => this.#files.delete(path))
  }

  /** We moved the file ourselves: its version stays as it is. Another file may be at its path by now. */
  moved(path: string, identity: FileIdentity | null = null): void {
    const known = this.#history.known(path)?.identity ?? null
    if (identity === null || (known !== null && sameIdentity(known, identity))) this.forget(path)
  }

  /** We put the file back, which gave it another ctime: the path is still what it was found to be. */
  returned(path: string, before: FileIdentity, identity: FileIdentity): void {
    const known = this.#history.known(path)
    if (known !== null && sameBytes(known.identity, before))
      this.remember(path, identity, known.versionId)
  }

  /** False where the path is still what it was last found to be. */
  isNews(path: string, identity: FileIdentity): boolean {
    const known = this.at(path)
    return known === null || !sameIdentity(known.identity, identity)
  }
}
