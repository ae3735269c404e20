// Remembers the reads of vendors' files that do not return. Each keeps a thread until it returns.

import type { CheckResult, HungRead } from './port.ts'

/** HANGS is the result for a file whose read hangs. */
export const HANGS: Extract<CheckResult, { kind: 'unreadable' }> = {
  kind: 'unreadable',
  code: null,
  reason: 'a read hangs: its disk or file server does not answer',
  hint: 'check its disk or network mount; feedsyncd reads the file again once it answers',
}

/** While this many reads hang, the other files of their directories are not read. */
const MOST_TRIED = 4
/** While this many reads hang, the thread of a further one is not left. */
const MOST = 8

export class HungReads {
  readonly #reads = new Map<string, HungRead>()
  readonly #ends = new Set<Promise<void>>()

  all(): HungRead[] {
    return [...this.#reads.values()]
  }

  get mayLeave(): boolean {
    return this.#reads.size < MOST
  }

  /** add remembers a read until `end` resolves: then its thread has ended. */
  add(read: HungRead, end: Promise<void>): void {
    this.#reads.set(read.path, read)
    const ended = end.finally(() => {
      this.#reads.delete(read.path)
      this.#ends.delete(ended)
    })
    this.#ends.add(ended)
  }

  /** isRefused returns whether a read of this file would probably hang, too. */
  isRefused(file: string): boolean {
    if (this.#reads.has(file)) return true
    const alike = this.all().filter(({ path }) => directoryOf(path) === directoryOf(file))
    return alike.length >= MOST_TRIED
  }

  /** ended resolves when no read hangs. */
  async ended(): Promise<void> {
    await Promise.all(this.#ends)
  }
}

const directoryOf = (path: string) => path.slice(0, path.lastIndexOf('/'))
