// Owns the questions about versions and their events, whether or not this process may write.

import { latestLegal } from '../lib/due.ts'
import { baselines } from './baselines.ts'
import type { Connection } from './connection.ts'
import type { VersionReads } from './port.ts'
import type { HistoryEvent, ListFilter } from './records.ts'
import { OPEN, STATES, type State } from './states.ts'
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

/** Newest first. Without `all` it walks the feeds and their newest versions, never the whole history. */
function listQuery(filter: ListFilter): { sql: string; parameters: (string | number)[] } {
  const conditions: string[] = []
  const parameters: (string | number)[] = []
  if (filter.feed !== undefined) {
    conditions.push(filter.all ? 'v.feed = ?' : 'f.name = ?')
    parameters.push(filter.feed)
  }
  if (filter.states !== undefined) {
    conditions.push(`v.state IN (${filter.states.map(() => '?').join(', ')})`)
    parameters.push(...filter.states)
  }
  if (filter.since !== undefined) {
    conditions.push('v.detected_at >= ?')
    parameters.push(filter.since)
  }
  if (filter.before !== undefined) {
    conditions.push('v.id < ?')
    parameters.push(filter.before)
  }
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  const order = filter.all ? 'v.id' : 'f.newest'
  parameters.push(filter.limit ?? NO_LIMIT)
  return {
    sql: `SELECT ${VERSION_FIELDS} FROM ${source(filter)}${where} ORDER BY ${order} DESC LIMIT ?`,
    parameters,
  }
}

function source({ all, feed, states, since }: ListFilter): string {
  // CROSS keeps the order of the join: left to the planner, a state is looked up in the whole history.
  if (!all) return 'feeds f CROSS JOIN versions v ON v.id = f.newest'
  // The planner would walk the history, or the feed's, backwards to its end, since that saves sorting.
  if (feed !== undefined) {
    return states === undefined ? 'versions v' : 'versions v INDEXED BY versions_feed_state'
  }
  // Open versions are few, so their state finds them faster than their date.
  const few = states?.every((state) => OPEN.includes(state))
  return since === undefined || few ? 'versions v' : 'versions v INDEXED BY versions_detected'
}
