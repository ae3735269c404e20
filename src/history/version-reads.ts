// Owns the queries about versions and their events, for processes that write and for processes that only read.

import type { PostingChanges } from '../domain/difference.ts'
import { OLDER } from '../domain/reason-codes.ts'
import { ACCEPTED, OPEN, READING, STATES, type State, sqlStates } from '../domain/states.ts'
import { DAY } from '../lib/clock.ts'
import { latestLegal } from '../lib/due.ts'
import { IS_RIVAL } from './accounts.ts'
import type { Connection, SqlValue } from './connection.ts'
import type { HistoryEvent, ListFilter, Version } from './rows.ts'
import { VERSION_FIELDS, type VersionRow, versionOf } from './version-row.ts'

const NO_LIMIT = -1
/** `turnovers` covers the last 50 uploads, a month of daily feeds, and at least two days, which contain two nights. */
const TURNOVERS = 50
const TURNOVERS_MS = 2 * DAY
/** Upper limit for `turnovers`: an upload each minute for two days. */
const MOST_TURNOVERS = 2880

/** Recent has the columns of an earlier version that a guard compares. */
export type Recent = Pick<Version, 'path' | 'postings' | 'changes'>

const OTHER = `SELECT id FROM versions INDEXED BY versions_feed_state
  WHERE feed = ? AND id <> ? AND state NOT IN ${sqlStates(READING)} LIMIT 1`

export type VersionReads = ReturnType<typeof versionReads>

export function versionReads(db: Connection) {
  const finder = <P extends SqlValue[]>(from: string) => {
    const sql = `SELECT ${VERSION_FIELDS} FROM ${from}`
    return (...values: P): Version | null => {
      const row = db.row<VersionRow>(sql, ...values)
      return row && versionOf(row)
    }
  }
  const byFeed = (pointer: 'newest' | 'last_uploaded') =>
    finder<[feed: string]>(`feeds f JOIN versions v ON v.id = f.${pointer} WHERE f.name = ?`)
  const version = finder<[id: number]>('versions v WHERE v.id = ?')
  const lastUploaded = byFeed('last_uploaded')
  // Storage might have a version if the end of an attempt is unknown. Of several such versions, the largest counts.
  const maybeStored = finder<[feed: string, after: number, except: number]>(
    `versions v INDEXED BY versions_feed WHERE v.feed = ? AND v.id > ? AND v.id <> ?
       AND EXISTS (SELECT 1 FROM attempts a WHERE a.version = v.id AND a.outcome = 'unknown')
     ORDER BY v.postings DESC LIMIT 1`,
  )

  const list = (filter: ListFilter): Version[] => {
    const { all, feed, limit = NO_LIMIT, since, states } = filter
    const conditions = [
      !all && 'f.forgotten_at IS NULL',
      feed !== undefined && (all ? 'v.feed = ?' : 'f.name = ?'),
      states !== undefined && `v.state IN (${states.map(() => '?').join(', ')})`,
      since !== undefined && 'v.detected_at >= ?',
    ].filter((sql) => sql !== false)
    const values = [feed, ...(states ?? []), since].filter((value) => value !== undefined)
    const sql = `SELECT ${VERSION_FIELDS} FROM ${source(filter)} WHERE ${conditions.join(' AND ') || 'true'}
       ORDER BY ${all ? 'v.id' : 'f.newest'} DESC LIMIT ?`
    return db.rows<VersionRow>(sql, ...values, limit).map(versionOf)
  }

  const confirmed = (feed: string, except: number): Version | null => {
    const uploaded = lastUploaded(feed)
    const approved = db.value<number>(
      `SELECT max(id) FROM versions INDEXED BY versions_approved
         WHERE approved = 1 AND feed = ? AND id <> ?`,
      feed,
      except,
    )
    return approved === null || approved <= (uploaded?.id ?? 0) ? uploaded : version(approved)
  }

  return {
    version,
    /** list returns versions, newest first. Without `all` it leaves out feeds that a person forgot. */
    list,
    newest: byFeed('newest'),
    /**
     * newestRead returns the newest version of a feed with known bytes (sha256 set), in any state, or null. A version
     * that came later but has an older date in its name does not count.
     */
    newestRead: finder<[feed: string]>(
      `versions v WHERE v.feed = ? AND v.sha256 IS NOT NULL AND v.reason_code IS NOT '${OLDER}'
         ORDER BY v.id DESC LIMIT 1`,
    ),
    lastUploaded,
    /** onService returns the version of a feed that the current service has: the last upload to it, or null. */
    onService: (feed: string) =>
      db.row<Pick<Version, 'id' | 'postings' | 'uploadedAt'>>(
        `SELECT v.id, v.postings, v.uploaded_at AS uploadedAt FROM feeds f JOIN versions v ON v.id = f.last_uploaded
           WHERE f.name = ? AND v.id > (SELECT other_service_up_to FROM settings)`,
        feed,
      ),
    /**
     * maybeOnService returns the newest version of a feed that the service might have: its upload had no answer, and
     * nothing that came later is confirmed. null if the service has the version that `onService` returns.
     */
    maybeOnService: (feed: string) =>
      db.row<Pick<Version, 'id' | 'postings'>>(
        `SELECT v.id, v.postings FROM versions v INDEXED BY versions_feed WHERE v.feed = @feed
           AND v.id > coalesce((SELECT last_uploaded FROM feeds WHERE name = @feed), 0)
           AND v.id > (SELECT other_service_up_to FROM settings)
           AND EXISTS (SELECT 1 FROM attempts a WHERE a.version = v.id AND a.outcome = 'unknown')
         ORDER BY v.id DESC LIMIT 1`,
        { feed },
      ),
    /** olderFeeds returns the feeds whose newest version has an older date, or was followed by a version that has. */
    olderFeeds: () =>
      db.values<string>(
        `SELECT f.name FROM feeds f WHERE f.forgotten_at IS NULL AND EXISTS (
           SELECT 1 FROM versions v INDEXED BY versions_older
             WHERE v.reason_code = '${OLDER}' AND v.feed = f.name AND v.id >= f.newest)`,
      ),
    /**
     * confirmed returns the newest version of a feed that was uploaded, released or restored, or null. That a person
     * released or restored the version `except` does not count.
     */
    confirmed,
    /** hasNewerAt returns whether a later version of the same path, also a restored one, is in one of these states. */
    hasNewerAt: ({ id, path }: Pick<Version, 'id' | 'path'>, states: readonly State[]) => {
      // Few versions have a higher id, and no index has the paths.
      const sql = `SELECT id FROM versions NOT INDEXED
         WHERE id > ? AND path = ? AND state IN ${sqlStates(states)} LIMIT 1`
      return db.value(sql, id, path) !== null
    },
    /**
     * baselines returns the versions that a version of this feed is compared with before it is sent, at most three: the
     * last confirmed version, the newest accepted version, and a version after the confirmed one that storage might
     * have. Held, rejected and discarded versions are left out: the service never received them, and the vendor did not
     * intend them.
     */
    baselines: (feed: string, except = 0): Version[] => {
      // Most feeds of a first start have only versions that are being read, and nothing to compare with.
      if (db.value(OTHER, feed, except) === null) return []
      const last = confirmed(feed, except)
      const accepted = list({ feed, states: ACCEPTED, all: true }).find(({ id }) => id !== except)
      const maybe = maybeStored(feed, last?.id ?? 0, except)
      const found = [last, accepted, maybe].flatMap((each) => each ?? [])
      return [...new Map(found.map((each) => [each.id, each])).values()]
    },
    /** turnovers returns the share of postings (0 to 1) that each of the last uploads removed, newest first. */
    turnovers: (feed: string): number[] => {
      const uploads = db.rows<{ changes: string; postings: number; at: number }>(
        `SELECT changes, postings, uploaded_at AS at FROM versions INDEXED BY versions_feed_state
           WHERE feed = ? AND state = 'uploaded' AND changes IS NOT NULL ORDER BY id DESC LIMIT ?`,
        feed,
        MOST_TURNOVERS,
      )
      const since = (uploads[0]?.at ?? 0) - TURNOVERS_MS
      const recent = uploads.filter(({ at }, n) => n < TURNOVERS || at >= since)
      return recent.map(({ changes, postings }) => {
        const { added, removed } = JSON.parse(changes) as PostingChanges
        return removed / Math.max(1, postings - added + removed)
      })
    },
    /** hasOtherAt returns whether another version of this feed came from this path, and is queued, sent or approved. */
    hasOtherAt: ({ feed, id = 0, path }: Pick<Version, 'feed' | 'path'> & { id?: number }) => {
      const sql = `SELECT id FROM versions INDEXED BY versions_at
         WHERE path = ? AND sha256 IS NOT NULL AND feed = ? AND id <> ?
           AND ${IS_RIVAL} LIMIT 1`
      return db.value(sql, path, feed, id) !== null
    },
    /** recent returns the last versions of a feed that were uploaded or that a person approved, newest first. */
    recent: (feed: string): Recent[] =>
      db
        .rows<Omit<Recent, 'changes'> & { changes: string | null }>(
          `SELECT path, postings, changes FROM versions WHERE id IN (
             SELECT id FROM versions INDEXED BY versions_feed_state
               WHERE feed = @feed AND state = 'uploaded'
             UNION SELECT id FROM versions INDEXED BY versions_approved
               WHERE feed = @feed AND approved = 1
             ORDER BY id DESC LIMIT @limit) ORDER BY id DESC`,
          { feed, limit: TURNOVERS },
        )
        .map((row) => ({ ...row, changes: JSON.parse(row.changes ?? 'null') })),
    /** spooled returns the versions of a feed with a copy in the spool, newest first. */
    spooled: (feed: string) =>
      db.rows<Pick<Version, 'id' | 'state' | 'reasonCode' | 'date'> & { spool: string }>(
        `SELECT id, state, reason_code AS reasonCode, date, spool
           FROM versions INDEXED BY versions_spooled
           WHERE feed = ? AND spool IS NOT NULL ORDER BY id DESC`,
        feed,
      ),

    /** postings returns the numbers of postings of a feed's last versions, newest first. */
    postings: (feed: string, limit: number) =>
      db.values<number | null>(
        'SELECT postings FROM versions WHERE feed = ? ORDER BY id DESC LIMIT ?',
        feed,
        limit,
      ),
    count: () => {
      const counts = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<State, number>
      const sql = 'SELECT state, versions FROM state_counts'
      for (const row of db.rows<{ state: State; versions: number }>(sql))
        counts[row.state] = row.versions
      return counts
    },
    /** oldest returns the wall ms at which the oldest version in these states was detected; null without versions. */
    oldest: (states: readonly State[]) =>
      db.value<number>(`SELECT min(detected_at) FROM versions WHERE state IN ${sqlStates(states)}`),
    /** lastSuccessAt returns the wall ms of the last upload that is not dated after `now`, or null. */
    lastSuccessAt: (now: number) =>
      db.value<number>(
        `SELECT max(v.uploaded_at) FROM feeds f JOIN versions v ON v.id = f.last_uploaded
           WHERE v.uploaded_at <= ?`,
        latestLegal(now, 0),
      ),
    /** events returns the events of a version, oldest first; with a limit, only the newest ones. */
    events: (id: number, limit = NO_LIMIT) =>
      db
        .rows<EventRow>(
          `SELECT at, from_state AS "from", to_state AS "to", reason, reason_code AS reasonCode, line, "column",
           count, first_at AS firstAt FROM events WHERE version = ? ORDER BY n DESC LIMIT ?`,
          id,
          limit,
        )
        .map(eventOf)
        .reverse(),
    /** reachedAt returns the wall ms at which a version last got into this state; null if it never did. */
    reachedAt: (id: number, state: State) => {
      const sql = 'SELECT at FROM events WHERE version = ? AND to_state = ? ORDER BY n DESC LIMIT 1'
      return db.value<number>(sql, id, state)
    },
    eventCount: (id: number) =>
      db.value<number>('SELECT max(n) FROM events WHERE version = ?', id) ?? 0,
    /** lastArrivalAt returns the wall ms up to `now` at which a file of this version last came, or null. */
    lastArrivalAt: (id: number, now: number) =>
      db.value<number>(
        `SELECT max(at) FROM events WHERE version = ? AND at <= ?
           AND (from_state IS NULL OR to_state IN ('settling', 'seen'))`,
        id,
        latestLegal(now, 0),
      ),
  }
}

type EventRow = Omit<HistoryEvent, 'count' | 'firstAt'> & { count: number; firstAt: number | null }

function eventOf({ count, firstAt, ...event }: EventRow): HistoryEvent {
  return firstAt === null ? event : { ...event, count, firstAt }
}

/** source returns the FROM clause of `list`. Without `all` it reads only the newest version of each feed. */
function source({ all, feed, states, since }: ListFilter): string {
  // CROSS fixes the order of the join. Without CROSS, SQLite searches the whole history for a state.
  if (!all) return 'feeds f CROSS JOIN versions v ON v.id = f.newest'
  // Without INDEXED BY, SQLite reads the whole history backwards, because it then need not sort.
  if (feed !== undefined) {
    return states === undefined ? 'versions v' : 'versions v INDEXED BY versions_feed_state'
  }
  // Few versions are open, so an index on the state finds them faster than an index on the date.
  const few = states?.every((state) => OPEN.includes(state))
  return since === undefined || few ? 'versions v' : 'versions v INDEXED BY versions_detected'
}
