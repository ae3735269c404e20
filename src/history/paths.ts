// What is remembered of the paths in the folder: what each was last found to be, and which of them are
// still to be read, or were refused. In step with the database: what a transaction changes is remembered
// once it is through, since what is remembered and not written would never be read again.

import { type FileIdentity, sameIdentity } from '../lib/file-identity.ts'
import type { News } from './news.ts'
import type { History, KnownFile, Version } from './port.ts'

export class Paths {
  readonly #history: History
  readonly #news: News
  readonly #known = new Map<string, KnownFile>()
  /** Versions whose bytes are not known yet. */
  readonly #unread = new Map<string, number>()
  /** Of these, what is gone. */
  readonly #gone = new Set<string>()
  /** Files that were found to be a rejected version. */
  readonly #rejected = new Set<string>()

  constructor(history: History, news: News) {
    this.#history = history
    this.#news = news
    for (const file of history.knownFiles()) this.#known.set(file.path, file)
    for (const { id, path, state } of history.unread()) {
      this.#unread.set(path, id)
      if (state === 'gone') this.#gone.add(path)
      // A crash in a second look at it: what was known of the file says nothing any more.
      if (state === 'checking' || state === 'settling') this.#known.delete(path)
    }
    for (const path of history.rejectedFiles()) this.#rejected.add(path)
  }

  /** What stat said of the path when it was last read; null while that is not known. */
  knownAt(path: string): KnownFile | null {
    return this.#known.get(path) ?? null
  }

  /** False where the path is still what it was last found to be. */
  isNews(path: string, identity: FileIdentity): boolean {
    const known = this.#known.get(path)
    return known === undefined || !sameIdentity(known.identity, identity)
  }

  foundAt(path: string): number | null {
    return this.#known.get(path)?.versionId ?? null
  }

  unreadAt(path: string): number | null {
    return this.#unread.get(path) ?? null
  }

  /** Paths of files that have not been read, or not with success, as far as they are there. */
  unsettled(): string[] {
    const unread = [...this.#unread.keys()].filter((path) => !this.#gone.has(path))
    return [...unread, ...this.#rejected]
  }

  /** At once, within the transaction: after a rolled-back one the id may be nobody's, or somebody else's. */
  toRead(path: string, versionId: number): void {
    this.#unread.set(path, versionId)
  }

  /** The decision of another process, which is written already. */
  retried(path: string, versionId: number): void {
    this.#unread.set(path, versionId)
    this.#known.delete(path)
    this.#rejected.delete(path)
  }

  read(path: string): void {
    this.#news.tell(() => this.#unread.delete(path))
  }

  know(path: string, identity: FileIdentity | null, { id: versionId, state }: Version): void {
    if (identity === null) return
    this.#history.know({ path, identity, versionId })
    this.#news.tell(() => {
      this.#known.set(path, { path, identity, versionId })
      if (state === 'rejected') this.#rejected.add(path)
      else this.#rejected.delete(path)
    })
  }

  /** It is news when it comes back. */
  forget(path: string): void {
    this.#history.unknow(path)
    this.#news.tell(() => {
      this.#known.delete(path)
      this.#rejected.delete(path)
    })
  }

  /** The refused file is out of the way. */
  putAside(path: string): void {
    this.#rejected.delete(path)
  }

  moved({ path, state }: Version): void {
    if (state === 'gone') this.#gone.add(path)
    else this.#gone.delete(path)
  }
}
