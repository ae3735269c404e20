// Writes about what has already happened: they may have to wait for a disk that is full or a database
// that is locked, but they are neither dropped nor reordered.

import { type Clock, SECOND } from '../lib/clock.ts'
import { errorCode, messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Transactions } from './port.ts'

const RETRY_MS = SECOND

export class Backlog {
  readonly #history: Pick<Transactions, 'commit'>
  readonly #clock: Clock
  readonly #log: Log
  readonly #writes: (() => void)[] = []
  /** The error that was last logged: a disk may stay full for days. */
  #said = ''

  constructor(history: Pick<Transactions, 'commit'>, clock: Clock, log: Log) {
    this.#history = history
    this.#clock = clock
    this.#log = log
  }

  /** Writes now if it can be, else with the next one. */
  add(write: () => void): void {
    this.#writes.push(write)
    try {
      this.#flush()
    } catch (error) {
      this.#say(error)
    }
  }

  /** Leaves this for `finish`: to be written together with what follows from it, or not at all. */
  defer(write: () => void): void {
    this.#writes.push(write)
  }

  /**
   * Writes all that waits and `last`, in one transaction; tries until it works, or throws once `signal`
   * aborts.
   */
  async finish<T>(last: () => T, signal: AbortSignal): Promise<T> {
    for (;;) {
      try {
        return await this.#history.commit(() => {
          for (const write of this.#writes) write()
          return last()
        })
      } catch (error) {
        if (signal.aborted) throw error
        this.#say(error)
        await this.#clock.sleep(RETRY_MS, signal)
      }
    }
  }

  #say(error: unknown): void {
    const problem = messageOf(error)
    const code = errorCode(error) ?? problem
    if (code === this.#said) return
    this.#said = code
    this.#log.error(
      { event: 'history.unwritable', problem },
      'history cannot be written; it is tried again',
    )
  }

  #flush(): void {
    for (let write = this.#writes[0]; write !== undefined; write = this.#writes[0]) {
      write()
      this.#writes.shift()
    }
  }
}
