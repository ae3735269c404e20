// The table of known files in memory as well, since every listing asks for each of its paths.

import { type FileIdentity, sameIdentity } from '../lib/file-identity.ts'
import type { Files, KnownFile, Transactions } from './port.ts'

type Ports = Files & Pick<Transactions, 'afterCommit'>

export class KnownPaths {
  readonly #history: Ports
  readonly #files: Map<string, KnownFile>

  constructor(history: Ports) {
    this.#history = history
    this.#files = new Map(history.knownFiles().map((file) => [file.path, file]))
  }

  /** As it was last committed. */
  at(path: string): KnownFile | null {
    return this.#files.get(path) ?? null
  }

  /** A file that a person named (`identity` null) is looked at as any other. */
  know(path: string, identity: FileIdentity | null, versionId: number): void {
    if (identity === null) return
    const file = { path, identity, versionId }
    this.#history.know(file)
    this.#history.afterCommit(() => this.#files.set(path, file))
  }

  /** It is news when it comes back. */
  forget(path: string): void {
    this.#history.unknow(path)
    this.#history.afterCommit(() => this.#files.delete(path))
  }

  /** False where the path is still what it was last found to be. */
  isNews(path: string, identity: FileIdentity): boolean {
    const known = this.at(path)
    return known === null || !sameIdentity(known.identity, identity)
  }
}
