// Ends the daemon at once when its database is gone: nothing that it does could be recorded.

import type { Transactions } from '../history/port.ts'
import type { Conditions } from '../lib/conditions.ts'
import type { FeedsyncError } from '../lib/errors.ts'

interface Signals {
  stop: AbortSignal
  abort: AbortSignal
}

export class Halt {
  readonly #parts: { conditions: Conditions; history: Pick<Transactions, 'lost'> }
  readonly #controller = new AbortController()
  #error: FeedsyncError | null = null

  constructor(parts: { conditions: Conditions; history: Pick<Transactions, 'lost'> }) {
    this.#parts = parts
  }

  /** Why the daemon has to end; null: it has not. Its exit code says whether a supervisor may start it again. */
  get error(): FeedsyncError | null {
    return this.#error
  }

  /** To be asked before anything is begun: true once the database is not the one at its path any more. */
  isDue(): boolean {
    if (this.#error !== null) return true
    this.#error = this.#parts.history.lost()
    if (this.#error === null) return false
    const { hint, message } = this.#error
    this.#parts.conditions.set('database-lost', { message, hint })
    this.#controller.abort()
    return true
  }

  /** Signals that a halt aborts, too. */
  joined<T extends Signals>({ stop, abort, ...rest }: T) {
    const { signal } = this.#controller
    return {
      ...rest,
      stop: AbortSignal.any([stop, signal]),
      abort: AbortSignal.any([abort, signal]),
    }
  }
}
