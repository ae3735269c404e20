// Writes what has already happened. A full disk or a locked database can delay such a write, but never lose it.

import { type Clock, SECOND } from '../lib/clock.ts'
import { errorCode, messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Transactions } from './port.ts'

const RETRY_MS = SECOND

/**
 * untilWritten commits `work` and returns its result. While the commit fails, it tries again once a second, and throws
 * the error once `signal` aborts. `work` can run more than once, so it must do nothing outside the database.
 */
export async function untilWritten<T>(
  { clock, history, log }: { clock: Clock; history: Pick<Transactions, 'commit'>; log: Log },
  work: () => T,
  signal: AbortSignal,
): Promise<T> {
  /** The error that was logged last. A disk can stay full for days, so the same error is logged once. */
  let logged = ''
  for (;;) {
    try {
      return await history.commit(work)
    } catch (error) {
      if (signal.aborted) throw error
      const problem = messageOf(error)
      const code = errorCode(error) ?? problem
      if (code !== logged)
        log.error(
          { event: 'history.unwritable', problem },
          'history cannot be written; feedsyncd tries again',
        )
      logged = code
      await clock.sleep(RETRY_MS, signal)
    }
  }
}
