// What each path in the folder was last found to be: the table of known files, kept in memory since every
// listing asks for each of them. In step with the database: what a transaction changes is remembered once it is
// through. Which version is in the making at a path is asked of the database alone.

import { type FileIdentity, sameIdentity } from '../lib/file-identity.ts'
import type { News } from './news.ts'
import type { History, KnownFile, Version } from './port.ts'

export class Paths {
  readonly #history: History
  readonly #news: News
  readonly #known = new Map<string, KnownFile>()
  /** Files that were found to be a rejected version. */
  readonly #rejected = new Set<string>()

  constructor(history: History, news: News) {
    this.#history = history
    this.#news = news
    for (const file of history.knownFiles()) this.#known.set(file.path, file)
    for (const path of history.rejectedFiles()) this.#rejected.add(path)
    this.forgetUnread()
  }

  /**
   * To be called before each listing. A version that is not at rest makes its path news, whatever became of
   * the last look at it. Answers true where that was not known.
   */
  forgetUnread(): boolean {
    const restless = this.#history.unread().filter(({ state }) => state !== 'incomplete')
    const forgotten = restless.filter(({ path }) => this.#known.delete(path))
    return forgotten.length > 0
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

  /** Paths of files that have not been read, or not with success, as far as they are there. */
  unsettled(): string[] {
    return [...this.#history.unread().map(({ path }) => path), ...this.#rejected]
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
}
