// Owns the questions about versions and their events, whether or not this process may write.

import type { PostingChanges } from '../feed/port.ts'
import { DAY } from '../lib/clock.ts'
import { latestLegal } from '../lib/due.ts'
import type { Connection } from './connection.ts'
import type { VersionReads } from './port.ts'
import { READ_AGAIN } from './reason-codes.ts'
import type { HistoryEvent, ListFilter, Version } from './records.ts'
import { ACCEPTED, OPEN, STATES, type State, sqlStates } from './states.ts'
import { orNull, VERSION_FIELDS, type VersionRow, versionOf } from './version-row.ts'

type EventRow = Omit<HistoryEvent, 'count' | 'firstAt'> & { count: number; firstAt: number | null }

const NO_LIMIT = -1
/** Uploads whose turnover is remembered: so many, a month of daily feeds, and all of this time, which holds two nights. */
const TURNOVERS = 50
const TURNOVERS_MS = 2 * DAY
/** An upload each minute in that time. */
const MOST_TURNOVERS = 2880

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
    `SELECT max(at) AS at FROM events WHERE version = ? AND at <= ?
       AND (from_state IS NULL OR to_state IN ('settling', 'seen'))
       AND reason_code IS NOT '${READ_AGAIN}'`,
  )

  const approved = db.query<[feed: string, except: number], { id: number | null }>(
    `SELECT max(id) AS id FROM versions INDEXED BY versions_approved
       WHERE approved = 1 AND feed = ? AND id <> ?`,
  )
  // How an attempt ended is not known, so storage may have it. Of several the largest: any of them may be the one.
  const maybeStored = db.query<[feed: string, after: number, except: number], { id: number }>(
    `SELECT v.id FROM versions v INDEXED BY versions_feed
       WHERE v.feed = ? AND v.id > ? AND v.id <> ?
         AND EXISTS (SELECT 1 FROM attempts a WHERE a.version = v.id AND a.outcome = 'unknown')
       ORDER BY v.postings DESC LIMIT 1`,
  )
  const turnovers = db.query<
    [feed: string, limit: number],
    { changes: string; postings: number; at: number }
  >(
    `SELECT changes, postings, uploaded_at AS at FROM versions INDEXED BY versions_feed_state
       WHERE feed = ? AND state = 'uploaded' AND changes IS NOT NULL ORDER BY id DESC LIMIT ?`,
  )

  const version = (id: number) => orNull(byId.get(id), versionOf)
  const ofFeed = (query: typeof newest) => (feed: string) => orNull(query.get(feed), versionOf)
  const list = (filter: ListFilter) => {
    const conditions = conditionsOf(filter)
    const where = conditions.map(({ sql }) => sql).join(' AND ') || 'true'
    const sql = `SELECT ${VERSION_FIELDS} FROM ${source(filter)} WHERE ${where}
       ORDER BY ${filter.all ? 'v.id' : 'f.newest'} DESC LIMIT ?`
    const values = conditions.flatMap((each) => each.values)
    const rows = db.query<(string | number)[], VersionRow>(sql)
    return rows.all(...values, filter.limit ?? NO_LIMIT).map(versionOf)
  }
  const confirmed = (feed: string, except: number): Version | null => {
    const uploaded = ofFeed(lastUploaded)(feed)
    const { id } = approved.get(feed, except) ?? { id: null }
    return id === null || id <= (uploaded?.id ?? 0) ? uploaded : version(id)
  }

  return {
    version,
    list,
    confirmed,
    lastUploaded: ofFeed(lastUploaded),
    newest: ofFeed(newest),
    newestTaken: ofFeed(newestTaken),
    // By their ids, which are few: no index has the paths.
    hasNewerAt: ({ id, path }, states) => {
      const sql = `SELECT id FROM versions NOT INDEXED
         WHERE id > ? AND path = ? AND state IN ${sqlStates(states)} LIMIT 1`
      return db.query<[id: number, path: string], { id: number }>(sql).get(id, path) !== undefined
    },
    baselines: (feed, except = 0) => {
      const last = confirmed(feed, except)
      const accepted = list({ feed, states: ACCEPTED, all: true }).find(({ id }) => id !== except)
      const maybe = maybeStored.get(feed, last?.id ?? 0, except)
      const all = [last, accepted ?? null, maybe ? version(maybe.id) : null]
      const found = all.filter((each) => each !== null)
      return found.filter(({ id }, n) => found.findIndex((other) => other.id === id) === n)
    },
    turnovers: (feed) => {
      const uploads = turnovers.all(feed, MOST_TURNOVERS)
      const since = (uploads[0]?.at ?? 0) - TURNOVERS_MS
      const recent = uploads.filter(({ at }, n) => n < TURNOVERS || at >= since)
      return recent.map(({ changes, postings }) => {
        const { added, removed } = JSON.parse(changes) as PostingChanges
        return removed / Math.max(1, postings - added + removed)
      })
    },
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

/** Each condition of a filter, with its values. */
function conditionsOf({ all, before, feed, since, states }: ListFilter) {
  const found: { sql: string; values: readonly (string | number)[] }[] = []
  if (feed !== undefined) found.push({ sql: all ? 'v.feed = ?' : 'f.name = ?', values: [feed] })
  if (states !== undefined)
    found.push({ sql: `v.state IN (${states.map(() => '?').join(', ')})`, values: states })
  if (since !== undefined) found.push({ sql: 'v.detected_at >= ?', values: [since] })
  if (before !== undefined) found.push({ sql: 'v.id < ?', values: [before] })
  return found
}

/** Without `all` the feeds and their newest versions, never the whole history. */
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
