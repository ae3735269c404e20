// Owns the attempts to deliver a version, and their repair after a crash. Only the object key of a form is stored.

import { FeedsyncError } from '../lib/errors.ts'
import type { AttemptEnd } from '../upload/port.ts'
import type { Connection } from './connection.ts'
import { STOPPED } from './reason-codes.ts'
import type { Attempt } from './rows.ts'
import type { State } from './states.ts'
import type { VersionWrites } from './version-writes.ts'

const NO_LIMIT = -1
const AFTER_STOP = { code: STOPPED, text: 'feedsyncd stopped before this was done' }

export type Attempts = ReturnType<typeof attempts>

export function attempts(db: Connection, { move }: Pick<VersionWrites, 'move'>) {
  return {
    /** attempts returns the attempts of a version, oldest first; with a limit, only the newest ones. */
    attempts: (id: number, limit = NO_LIMIT) => {
      const sql = `SELECT n, started_at AS startedAt, ended_at AS endedAt, outcome, status, code,
         bytes_sent AS bytesSent, key FROM attempts WHERE version = +? ORDER BY n DESC LIMIT +?`
      return db.rows<Attempt>(sql, id, limit).reverse()
    },

    /** startAttempt records a new attempt and returns its number. Throws when the version does not exist. */
    startAttempt: (id: number, at: number): number =>
      db.joinTransaction(() => {
        const count = 'UPDATE versions SET attempts = attempts + 1 WHERE id = +? RETURNING attempts'
        const n = db.value<number>(count, id)
        if (n === null) throw new FeedsyncError(`there is no version ${id}`)
        db.run('INSERT INTO attempts (version, n, started_at) VALUES (?, ?, ?)', id, n, at)
        return n
      }),

    /** setAttemptKey records the object key to which the attempt sends its file. */
    setAttemptKey: (version: number, n: number, key: string): void =>
      void db.run('UPDATE attempts SET key = ? WHERE version = +? AND n = +?', key, version, n),

    endAttempt: (version: number, n: number, endedAt: number, end: AttemptEnd): void => {
      const { outcome, status, code, bytesSent, key } = end
      const { changes } = db.run(
        `UPDATE attempts SET ended_at = @endedAt, outcome = @outcome, status = @status, code = @code,
           bytes_sent = @bytesSent, key = @key WHERE version = +@version AND n = +@n AND outcome IS NULL`,
        { version, n, endedAt, outcome, status, code, bytesSent, key },
      )
      if (changes === 0) throw new FeedsyncError(`version ${version} has no running attempt ${n}`)
    },

    /** attemptsInARow counts the latest ended attempts that have this code, without another code between them. */
    attemptsInARow: (id: number, code: string): number =>
      db.value<number>(
        `SELECT count(*) FROM attempts WHERE version = @id AND code = @code AND n > coalesce(
           (SELECT max(n) FROM attempts WHERE version = @id AND ended_at IS NOT NULL AND code IS NOT @code), 0)`,
        { id, code },
      ) ?? 0,

    /**
     * recover repairs the rows after a crash: running attempts end as `unknown`, `checking` becomes `settling`, and
     * `uploading` becomes `queued`. Returns how many versions it moved from each of these states.
     */
    recover: (at: number) =>
      db.atomically(() => {
        const stopped = (from: State, to: State) => {
          const ids = db.values<number>('SELECT id FROM versions WHERE state = ? ORDER BY id', from)
          for (const id of ids) move(id, to, AFTER_STOP, at)
          return ids.length
        }
        db.run(`UPDATE attempts SET ended_at = ?, outcome = 'unknown' WHERE outcome IS NULL`, at)
        return {
          checking: stopped('checking', 'settling'),
          uploading: stopped('uploading', 'queued'),
        }
      }),
  }
}
