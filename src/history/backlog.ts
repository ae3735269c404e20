// Owns the writes about events that have already happened. A full disk or a locked database can delay them, but they
// are never lost and never change their order.

import { type Clock, SECOND } from '../lib/clock.ts'
import { errorCode, messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Transactions } from './port.ts'

const RETRY_MS = SECOND

export function createBacklog(history: Pick<Transactions, 'commit'>, clock: Clock, log: Log) {
  const writes: (() => void)[] = []
  /** The error that was logged last. A disk may stay full for days, so the same error is logged once. */
  let said = ''
  const say = (error: unknown) => {
    const problem = messageOf(error)
    const code = errorCode(error) ?? problem
    if (code === said) return
    said = code
    log.error(
      { event: 'history.unwritable', problem },
      'history cannot be written; feedsyncd tries again',
    )
  }
  return {
    /** add writes at once. A write that fails waits and is tried again with the next one. */
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

    /** defer keeps the write for `finish`, which does it in the same transaction as the writes that depend on it. */
    defer(write: () => void): void {
      writes.push(write)
    },

    /**
     * finish does all waiting writes and `last` in one transaction. It tries again until this succeeds, or throws the
     * error once `signal` aborts.
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
