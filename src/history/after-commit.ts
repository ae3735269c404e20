// What follows from a transaction happens once it is through, and not at all when it is rolled back.

import type { Transactions } from './port.ts'

export class AfterCommit {
  readonly #history: Pick<Transactions, 'atomically' | 'commit'>
  /** Of the transaction that runs; null outside of one. */
  #later: (() => void)[] | null = null

  constructor(history: Pick<Transactions, 'atomically' | 'commit'>) {
    this.#history = history
  }

  atomically<T>(work: () => T): T {
    if (this.#later !== null) return work()
    const { done, later } = this.#history.atomically(() => this.#collect(work))
    for (const step of later) step()
    return done
  }

  async commit<T>(work: () => T, when?: 'now' | 'soon'): Promise<T> {
    const { done, later } = await this.#history.commit(() => this.#collect(work), when)
    for (const step of later) step()
    return done
  }

  /** Now, where no transaction runs. */
  afterCommit(step: () => void): void {
    if (this.#later === null) step()
    else this.#later.push(step)
  }

  #collect<T>(work: () => T): { done: T; later: (() => void)[] } {
    const later: (() => void)[] = []
    this.#later = later
    try {
      return { done: work(), later }
    } finally {
      this.#later = null
    }
  }
}
