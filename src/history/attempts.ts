// Owns the attempts to deliver a version, and the repair after a crash. Of a form only the object's key is stored.

import { FeedsyncError } from '../lib/errors.ts'
import type { Connection } from './connection.ts'
import type { Attempts, Versions } from './port.ts'
import { STOPPED } from './reason-codes.ts'
import type { Attempt } from './records.ts'
import type { State } from './states.ts'

const NO_LIMIT = -1
const AFTER_STOP = { code: STOPPED, text: 'feedsyncd stopped before this was done' }

export function attempts(db: Connection, { move }: Pick<Versions, 'move'>): Attempts {
  const newest = db.query<[id: number, limit: number], Attempt>(
    `SELECT n, started_at AS startedAt, ended_at AS endedAt, outcome, status, code,
       bytes_sent AS bytesSent, key FROM attempts WHERE version = ? ORDER BY n DESC LIMIT ?`,
  )
  const countAttempt = db.query<[id: number], { n: number }>(
    'UPDATE versions SET attempts = attempts + 1 WHERE id = ? RETURNING attempts AS n',
  )
  const start = db.query<[version: number, n: number, at: number, key: string | null]>(
    'INSERT INTO attempts (version, n, started_at, key) VALUES (?, ?, ?, ?)',
  )
  const end = db.query<[Omit<Attempt, 'startedAt'> & { version: number }]>(
    `UPDATE attempts SET ended_at = @endedAt, outcome = @outcome, status = @status, code = @code,
       bytes_sent = @bytesSent, key = @key WHERE version = @version AND n = @n AND outcome IS NULL`,
  )
  const failing = db.query<
    [version: number, code: string, version: number, code: string],
    { at: number | null }
  >(
    `SELECT min(started_at) AS at FROM attempts WHERE version = ? AND code = ? AND n > coalesce(
       (SELECT max(n) FROM attempts WHERE version = ? AND ended_at IS NOT NULL AND code IS NOT ?), 0)`,
  )
  const endRunning = db.query<[at: number]>(
    `UPDATE attempts SET ended_at = ?, outcome = 'unknown' WHERE outcome IS NULL`,
  )
  const inState = db.query<[state: State], { id: number }>(
    'SELECT id FROM versions WHERE state = ? ORDER BY id',
  )

  return {
    attempts: (id, limit = NO_LIMIT) => newest.all(id, limit).reverse(),

    startAttempt: (id, at, key) =>
      db.joined(() => {
        const counted = countAttempt.get(id)
        if (counted === undefined) throw new FeedsyncError(`there is no version ${id}`)
        start.run(id, counted.n, at, key)
        return counted.n
      }),

    endAttempt: (version, n, endedAt, { outcome, status, code, bytesSent, key }) => {
      const { changes } = end.run({ version, n, endedAt, outcome, status, code, bytesSent, key })
      if (changes === 0) throw new FeedsyncError(`version ${version} has no running attempt ${n}`)
    },

    failingSince: (id, code) => failing.get(id, code, id, code)?.at ?? null,

    recover: (at) =>
      db.atomically(() => {
        const checking = inState.all('checking')
        const uploading = inState.all('uploading')
        endRunning.run(at)
        for (const { id } of checking) move(id, 'settling', AFTER_STOP, at)
        for (const { id } of uploading) move(id, 'queued', AFTER_STOP, at)
        return { checking: checking.length, uploading: uploading.length }
      }),
  }
}
