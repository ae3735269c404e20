// Owns the attempts to send a version. Of a form, the history keeps only the object key.

import { FeedsyncError } from '../lib/errors.ts'
import type { Connection } from './connection.ts'
import type { Attempt, AttemptEnd } from './rows.ts'

const NO_LIMIT = -1

export type Attempts = ReturnType<typeof attempts>

export function attempts(db: Connection) {
  return {
    /** attempts returns the attempts of a version, oldest first; with a limit, only the newest ones. */
    attempts: (id: number, limit = NO_LIMIT) => {
      const sql = `SELECT n, started_at AS startedAt, ended_at AS endedAt, outcome, status, code,
         bytes_sent AS bytesSent, key FROM attempts WHERE version = ? ORDER BY n DESC LIMIT ?`
      return db.rows<Attempt>(sql, id, limit).reverse()
    },

    /** startAttempt adds an attempt that begins `at` (wall ms). Throws when the version does not exist. */
    startAttempt: (id: number, at: number, key: string | null): void =>
      db.joinTransaction(() => {
        const count = 'UPDATE versions SET attempts = attempts + 1 WHERE id = ? RETURNING attempts'
        const n = db.value<number>(count, id)
        if (n === null) throw new FeedsyncError(`there is no version ${id}`)
        db.run(
          'INSERT INTO attempts (version, n, started_at, key) VALUES (?, ?, ?, ?)',
          id,
          n,
          at,
          key,
        )
      }),

    /** endAttempt ends the running attempt of a version. Throws when none is running. */
    endAttempt: (version: number, { endedAt, ...end }: AttemptEnd): void => {
      const { outcome, status, code, bytesSent, key } = end
      const { changes } = db.run(
        `UPDATE attempts SET ended_at = @endedAt, outcome = @outcome, status = @status, code = @code,
           bytes_sent = @bytesSent, key = @key WHERE version = @version AND outcome IS NULL`,
        { version, endedAt, outcome, status, code, bytesSent, key },
      )
      if (changes === 0) throw new FeedsyncError(`version ${version} has no running attempt`)
    },

    /** attemptsInARow counts the last ended attempts in a row that have this code. */
    attemptsInARow: (id: number, code: string): number =>
      db.value<number>(
        `SELECT count(*) FROM attempts WHERE version = @id AND code = @code AND n > coalesce(
           (SELECT max(n) FROM attempts WHERE version = @id AND ended_at IS NOT NULL AND code IS NOT @code), 0)`,
        { id, code },
      ) ?? 0,
  }
}
