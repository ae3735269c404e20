// Owns what a delivery leaves behind: attempts, whose turn it is, and the repair after a crash.
// Of a form only the object's key is ever stored.

import { LONGEST_ATTEMPT_WAIT_MS, latestLegal } from '../lib/due.ts'
import { FeedsyncError } from '../lib/errors.ts'
import type { Connection } from './connection.ts'
import type { History, State } from './port.ts'

const NO_LIMIT = -1
const STOPPED = 'feedsyncd stopped before this was done'

export type DeliveryWrites = Pick<
  History,
  | 'startAttempt'
  | 'endAttempt'
  | 'failingSince'
  | 'due'
  | 'makeDue'
  | 'expired'
  | 'shiftDeadlines'
  | 'nextDueAt'
  | 'recover'
>

export function deliveryWrites(
  db: Connection,
  { move, version }: Pick<History, 'move' | 'version'>,
): DeliveryWrites {
  const countAttempt = db.query<[id: number], { n: number }>(
    'UPDATE versions SET attempts = attempts + 1 WHERE id = ? RETURNING attempts AS n',
  )
  const start = db.query<[version: number, n: number, at: number, key: string | null]>(
    'INSERT INTO attempts (version, n, started_at, key) VALUES (?, ?, ?, ?)',
  )
  const end = db.query<
    [
      at: number,
      outcome: string,
      status: number | null,
      code: string | null,
      bytesSent: number,
      key: string | null,
      version: number,
      n: number,
    ]
  >(
    `UPDATE attempts SET ended_at = ?, outcome = ?, status = ?, code = ?, bytes_sent = ?, key = ?
       WHERE version = ? AND n = ? AND outcome IS NULL`,
  )
  const failing = db.query<
    [version: number, code: string, version: number, code: string],
    { at: number | null }
  >(
    `SELECT min(started_at) AS at FROM attempts WHERE version = ? AND code = ? AND n > coalesce(
       (SELECT max(n) FROM attempts WHERE version = ? AND ended_at IS NOT NULL AND code IS NOT ?), 0)`,
  )
  // Only the oldest of a feed: a younger one must not overtake it and then be overwritten by it.
  const due = db.query<[now: number, latest: number, limit: number], { id: number; feed: string }>(
    `SELECT v.id, v.feed FROM versions v
       WHERE v.state = 'queued'
         AND (v.next_attempt_at IS NULL OR v.next_attempt_at <= ? OR v.next_attempt_at > ?)
         AND NOT EXISTS (
           SELECT 1 FROM versions o WHERE o.feed = v.feed AND o.state IN ('queued', 'uploading')
             AND (o.state = 'uploading' OR o.id < v.id))
       ORDER BY v.id LIMIT ?`,
  )
  const makeDue = db.query(
    `UPDATE versions SET next_attempt_at = NULL
       WHERE state = 'queued' AND next_attempt_at IS NOT NULL`,
  )
  // Without statistics the planner prefers the state alone and reads all that wait, at each look.
  const nextAttempt = db.query<[now: number], { at: number | null }>(
    `SELECT min(next_attempt_at) AS at FROM versions INDEXED BY versions_next_attempt
       WHERE state = 'queued' AND next_attempt_at > ?`,
  )
  const nextDeadline = db.query<[now: number], { at: number | null }>(
    `SELECT min(deadline_at) AS at FROM versions INDEXED BY versions_deadline
       WHERE state = 'incomplete' AND deadline_at > ?`,
  )
  const expired = db.query<[now: number, latest: number], { path: string }>(
    `SELECT path FROM versions INDEXED BY versions_deadline
       WHERE state = 'incomplete' AND deadline_at <= ?
     UNION ALL SELECT path FROM versions INDEXED BY versions_deadline
       WHERE state = 'incomplete' AND deadline_at > ?`,
  )
  const shiftDeadlines = db.query<[byMs: number]>(
    `UPDATE versions SET deadline_at = deadline_at + ?
       WHERE state IN ('settling', 'incomplete', 'checking') AND deadline_at IS NOT NULL`,
  )
  const inState = db.query<[state: State], { id: number }>(
    'SELECT id FROM versions WHERE state = ? ORDER BY id',
  )
  const endRunning = db.query<[at: number]>(
    `UPDATE attempts SET ended_at = ?, outcome = 'unknown' WHERE outcome IS NULL`,
  )

  return {
    startAttempt: (id, at, key) =>
      db.joined(() => {
        const counted = countAttempt.get(id)
        if (counted === undefined) throw new FeedsyncError(`there is no version ${id}`)
        start.run(id, counted.n, at, key)
        return counted.n
      }),

    endAttempt: (id, n, at, { outcome, status, code, bytesSent, key }) => {
      const { changes } = end.run(at, outcome, status, code, bytesSent, key, id, n)
      if (changes === 0) throw new FeedsyncError(`version ${id} has no running attempt ${n}`)
    },

    failingSince: (id, code) => failing.get(id, code, id, code)?.at ?? null,

    due: (now, limit, except = new Set()) =>
      due
        .all(
          now,
          latestLegal(now, LONGEST_ATTEMPT_WAIT_MS),
          limit === undefined ? NO_LIMIT : limit + except.size,
        )
        .filter(({ feed }) => !except.has(feed))
        .slice(0, limit)
        .flatMap(({ id }) => version(id) ?? []),

    makeDue: () => {
      makeDue.run()
    },

    expired: (now, longestMs) =>
      expired.all(now, latestLegal(now, longestMs)).map(({ path }) => path),

    shiftDeadlines: (byMs) => {
      shiftDeadlines.run(byMs)
    },

    nextDueAt: (now) => {
      const times = [nextAttempt.get(now)?.at, nextDeadline.get(now)?.at].filter(
        (at) => at !== null && at !== undefined,
      )
      return times.length === 0 ? null : Math.min(...times)
    },

    recover: (at) =>
      db.atomically(() => {
        const checking = inState.all('checking')
        const uploading = inState.all('uploading')
        endRunning.run(at)
        for (const { id } of checking) move(id, 'settling', STOPPED, at)
        for (const { id } of uploading) move(id, 'queued', STOPPED, at)
        return { checking: checking.length, uploading: uploading.length }
      }),
  }
}
