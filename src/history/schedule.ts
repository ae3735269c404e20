// Owns when something is to be done about a version: whose turn it is to be delivered, and deadlines of
// incomplete files.

import { LONGEST_ATTEMPT_WAIT_MS, latestLegal } from '../lib/due.ts'
import type { Connection } from './connection.ts'
import type { Versions } from './port.ts'
import { READING, sqlStates } from './states.ts'

const NO_LIMIT = -1

export type Schedule = Pick<
  Versions,
  'due' | 'makeDue' | 'expired' | 'shiftDeadlines' | 'nextDueAt'
>

export function schedule(db: Connection, { version }: Pick<Versions, 'version'>): Schedule {
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
       WHERE state IN ${sqlStates(READING)} AND deadline_at IS NOT NULL`,
  )

  return {
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
    makeDue: () => void makeDue.run(),
    expired: (now, longestMs) =>
      expired.all(now, latestLegal(now, longestMs)).map(({ path }) => path),
    shiftDeadlines: (byMs) => void shiftDeadlines.run(byMs),
    nextDueAt: (now) => {
      const times = [nextAttempt.get(now), nextDeadline.get(now)].flatMap((row) => row?.at ?? [])
      return times.length === 0 ? null : Math.min(...times)
    },
  }
}
