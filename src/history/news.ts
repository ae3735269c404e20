// What a transaction has to tell is told when it is through, and not at all when it is rolled back.

import type { Transactions } from './port.ts'

export class News {
  readonly #history: Pick<Transactions, 'atomically' | 'commit'>
  /** Of the transaction that runs; null outside of one. */
  #untold: (() => void)[] | null = null

  constructor(history: Pick<Transactions, 'atomically' | 'commit'>) {
    this.#history = history
  }

  atomically<T>(work: () => T): T {
    if (this.#untold !== null) return work()
    const { done, untold } = this.#history.atomically(() => this.#withheld(work))
    for (const tell of untold) tell()
    return done
  }

  async commit<T>(work: () => T, when?: 'now' | 'soon'): Promise<T> {
    const { done, untold } = await this.#history.commit(() => this.#withheld(work), when)
    for (const tell of untold) tell()
    return done
  }

  /** Now, where no transaction runs. */
  tell(news: () => void): void {
    if (this.#untold === null) news()
    else this.#untold.push(news)
  }

  #withheld<T>(work: () => T): { done: T; untold: (() => void)[] } {
    const untold: (() => void)[] = []
    this.#untold = untold
    try {
      return { done: work(), untold }
    } finally {
      this.#untold = null
    }
  }
}
