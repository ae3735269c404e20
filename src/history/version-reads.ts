// Owns the questions about versions and their events, whether or not this process may write.

import { latestLegal } from '../lib/due.ts'
import { baselines } from './baselines.ts'
import type { Connection } from './connection.ts'
import { listQuery } from './list-query.ts'
import type { VersionReads } from './port.ts'
import type { HistoryEvent } from './records.ts'
import { STATES, type State } from './states.ts'
import { orNull, VERSION_FIELDS, type VersionRow, versionOf } from './version-row.ts'

type EventRow = Omit<HistoryEvent, 'count' | 'firstAt'> & { count: number; firstAt: number | null }

const NO_LIMIT = -1

export function versionReads(db: Connection): VersionReads {
  const byId = db.query<[id: number], VersionRow>(
    `SELECT ${VERSION_FIELDS} FROM versions v WHERE v.id = ?`,
  )
  const byFeed = (pointer: 'newest' | 'last_uploaded') =>
    db.query<[feed: string], VersionRow>(
      `SELECT ${VERSION_FIELDS} FROM feeds f JOIN versions v ON v.id = f.${pointer} WHERE f.name = ?`,
    )
  const newest = byFeed('newest')
  const lastUploaded = byFeed('last_uploaded')
  const newestTaken = db.query<[feed: string], VersionRow>(
    `SELECT ${VERSION_FIELDS} FROM versions v WHERE v.feed = ? AND v.sha256 IS NOT NULL
       ORDER BY v.id DESC LIMIT 1`,
  )
  const postings = db.query<[feed: string, limit: number], { postings: number | null }>(
    'SELECT postings FROM versions WHERE feed = ? ORDER BY id DESC LIMIT ?',
  )
  const counts = db.query<[], { state: State; versions: number }>(
    'SELECT state, versions FROM state_counts',
  )
  const oldest = db.query<[state: string], { at: number | null }>(
    'SELECT min(detected_at) AS at FROM versions WHERE state = ?',
  )
  const lastSuccess = db.query<[latest: number], { at: number | null }>(
    `SELECT max(v.uploaded_at) AS at FROM feeds f JOIN versions v ON v.id = f.last_uploaded
       WHERE v.uploaded_at <= ?`,
  )
  const events = db.query<[id: number, limit: number], EventRow>(
    `SELECT at, from_state AS "from", to_state AS "to", reason, reason_code AS reasonCode, line, "column",
       count, first_at AS firstAt FROM events WHERE version = ? ORDER BY n DESC LIMIT ?`,
  )
  const eventCount = db.query<[id: number], { n: number | null }>(
    'SELECT max(n) AS n FROM events WHERE version = ?',
  )
  const lastArrival = db.query<[id: number, latest: number], { at: number | null }>(
    `SELECT max(at) AS at FROM events WHERE version = ?
       AND at <= ? AND (from_state IS NULL OR to_state IN ('settling', 'seen'))`,
  )

  const versions: Pick<VersionReads, 'lastUploaded' | 'list' | 'version'> = {
    version: (id) => orNull(byId.get(id), versionOf),
    lastUploaded: (feed) => orNull(lastUploaded.get(feed), versionOf),
    list: (filter) => {
      const { sql, parameters } = listQuery(filter)
      return db
        .query<(string | number)[], VersionRow>(sql)
        .all(...parameters)
        .map(versionOf)
    },
  }

  return {
    ...versions,
    ...baselines(db, versions),
    newest: (feed) => orNull(newest.get(feed), versionOf),
    newestTaken: (feed) => orNull(newestTaken.get(feed), versionOf),
    postings: (feed, limit) => postings.all(feed, limit).map((row) => row.postings),
    count: () => {
      const none = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<State, number>
      for (const { state, versions } of counts.all()) none[state] = versions
      return none
    },
    oldest: (states) => {
      const times = states.flatMap((state) => oldest.get(state)?.at ?? [])
      return times.length === 0 ? null : Math.min(...times)
    },
    lastSuccessAt: (now) => lastSuccess.get(latestLegal(now, 0))?.at ?? null,
    events: (id, limit = NO_LIMIT) => events.all(id, limit).map(eventOf).reverse(),
    eventCount: (id) => eventCount.get(id)?.n ?? 0,
    lastArrivalAt: (id, now) => lastArrival.get(id, latestLegal(now, 0))?.at ?? null,
  }
}

function eventOf({ count, firstAt, ...event }: EventRow): HistoryEvent {
  return firstAt === null ? event : { ...event, count, firstAt }
}
