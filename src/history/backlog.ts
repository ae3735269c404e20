// Writes about what has already happened: they may have to wait for a disk that is full or a database
// that is locked, but they are neither dropped nor reordered.

import { type Clock, SECOND } from '../lib/clock.ts'
import { errorCode, messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Transactions } from './port.ts'

const RETRY_MS = SECOND

export function createBacklog(history: Pick<Transactions, 'commit'>, clock: Clock, log: Log) {
  const writes: (() => void)[] = []
  /** The error that was last logged: a disk may stay full for days. */
  let said = ''
  const say = (error: unknown) => {
    const problem = messageOf(error)
    const code = errorCode(error) ?? problem
    if (code === said) return
    said = code
    log.error(
      { event: 'history.unwritable', problem },
      'history cannot be written; it is tried again',
    )
  }
  return {
    /** Writes now if it can be, else with the next one. */
    add(write: () => void): void {
      writes.push(write)
      try {
        for (let next = writes[0]; next !== undefined; next = writes[0]) {
          next()
          writes.shift()
        }
      } catch (error) {
        say(error)
      }
    },

    /** Leaves this for `finish`: to be written together with what follows from it, or not at all. */
    defer(write: () => void): void {
      writes.push(write)
    },

    /**
     * Writes all that waits and `last`, in one transaction; tries until it works, or throws once `signal`
     * aborts.
     */
    async finish<T>(last: () => T, signal: AbortSignal): Promise<T> {
      for (;;) {
        try {
          return await history.commit(() => {
            for (const write of writes) write()
            return last()
          })
        } catch (error) {
          if (signal.aborted) throw error
          say(error)
          await clock.sleep(RETRY_MS, signal)
        }
      }
    },
  }
}
