// The table of known files in memory, since every listing asks for each of its paths. A row comes in by being read
// from the table, after each write of it: nothing else is remembered here.

import { type FileIdentity, sameIdentity } from '../lib/file-identity.ts'
import type { Files } from './port.ts'
import type { KnownFile } from './records.ts'

export class KnownFiles {
  readonly #files: Pick<Files, 'known' | 'knownFiles'>
  readonly #byPath: Map<string, KnownFile>

  constructor(files: Pick<Files, 'known' | 'knownFiles'>) {
    this.#files = files
    this.#byPath = new Map(files.knownFiles().map((file) => [file.path, file]))
  }

  at(path: string): KnownFile | null {
    return this.#byPath.get(path) ?? null
  }

  /** Whether the file at the path is still what it was when it was last read. */
  holds(path: string, identity: FileIdentity): boolean {
    const known = this.#byPath.get(path)
    return known !== undefined && sameIdentity(known.identity, identity)
  }

  /** The row was written, and that is durable. */
  refresh(path: string): void {
    const file = this.#files.known(path)
    if (file === null) this.#byPath.delete(path)
    else this.#byPath.set(path, file)
  }
}
