// Owns which files could not be read a moment ago: read again with each change of the folder, each would
// fill the history. Pure: it is told the time.

import type { FileIdentity } from '../feed/port.ts'
import { sameIdentity } from '../lib/file-identity.ts'
import type { Sighting } from './port.ts'

export class UnreadableFiles {
  readonly #files = new Map<string, { identity: FileIdentity | null; until: number }>()

  /** Is left alone until then (monotonic ms), unless it changes. */
  add(path: string, identity: FileIdentity | null, until: number): void {
    this.#files.set(path, { identity, until })
  }

  has({ path, identity }: Sighting, now: number): boolean {
    const file = this.#files.get(path)
    if (file === undefined) return false
    const isSame = file.identity !== null && sameIdentity(file.identity, identity)
    if (!isSame || now >= file.until) this.#files.delete(path)
    return this.#files.has(path)
  }
}
