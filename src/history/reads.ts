// Owns the questions that any process may ask the history, whether or not it may write.

import { latestLegal } from '../lib/due.ts'
import { baselines } from './baselines.ts'
import type { Connection } from './connection.ts'
import { listQuery } from './list-query.ts'
import {
  type Attempt,
  type DaemonRecord,
  type HistoryEvent,
  type HistoryReader,
  type KnownFile,
  STATES,
  type State,
  type UploadRequest,
} from './port.ts'
import { VERSION_FIELDS, type VersionRow, versionOf } from './version-row.ts'

const FILE_FIELDS = `path, dev, ino, size, mtime_ns AS mtimeNs, ctime_ns AS ctimeNs, version AS versionId`
const REQUEST_FIELDS = 'id, path, source, feed, at, version AS versionId, problem'

export type FileRow = KnownFile['identity'] & Omit<KnownFile, 'identity'>

type EventRow = Omit<HistoryEvent, 'count' | 'firstAt'> & { count: number; firstAt: number | null }

const NO_LIMIT = -1

/** What the writing side reads beside what the port shows. */
export interface Reads extends Omit<HistoryReader, keyof Disposable> {
  knownFiles(): KnownFile[]
  openRequests(): UploadRequest[]
  spoolNames(): string[]
}

export function reads(db: Connection): Reads {
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
  const attempts = db.query<[id: number, limit: number], Attempt>(
    `SELECT n, started_at AS startedAt, ended_at AS endedAt, outcome, status, code,
       bytes_sent AS bytesSent, key FROM attempts WHERE version = ? ORDER BY n DESC LIMIT ?`,
  )
  const events = db.query<[id: number, limit: number], EventRow>(
    `SELECT at, from_state AS "from", to_state AS "to", reason, count, first_at AS firstAt
       FROM events WHERE version = ? ORDER BY n DESC LIMIT ?`,
  )
  const eventCount = db.query<[id: number], { n: number | null }>(
    'SELECT max(n) AS n FROM events WHERE version = ?',
  )
  const lastArrival = db.query<[id: number, latest: number], { at: number | null }>(
    `SELECT max(at) AS at FROM events WHERE version = ?
       AND at <= ? AND (from_state IS NULL OR to_state IN ('settling', 'seen'))`,
  )
  const file = db.query<[path: string], FileRow>(`SELECT ${FILE_FIELDS} FROM files WHERE path = ?`)
  const files = db.query<[], FileRow>(`SELECT ${FILE_FIELDS} FROM files ORDER BY path`)
  const daemon = db.query<[], { record: string }>('SELECT record FROM daemon WHERE id = 1')
  const request = db.query<[id: number], UploadRequest>(
    `SELECT ${REQUEST_FIELDS} FROM requests WHERE id = ?`,
  )
  const openRequests = db.query<[], UploadRequest>(
    `SELECT ${REQUEST_FIELDS} FROM requests WHERE version IS NULL AND problem IS NULL ORDER BY id`,
  )

  const spoolNames = db.query<[], { spool: string }>(
    'SELECT DISTINCT spool FROM versions INDEXED BY versions_spooled WHERE spool IS NOT NULL',
  )

  const versions: Pick<HistoryReader, 'lastUploaded' | 'list' | 'version'> = {
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
    attempts: (id, limit = NO_LIMIT) => attempts.all(id, limit).reverse(),
    events: (id, limit = NO_LIMIT) => events.all(id, limit).map(eventOf).reverse(),
    eventCount: (id) => eventCount.get(id)?.n ?? 0,
    lastArrivalAt: (id, now) => lastArrival.get(id, latestLegal(now, 0))?.at ?? null,
    known: (path) => orNull(file.get(path), knownFileOf),
    knownFiles: () => files.all().map(knownFileOf),
    daemon: () => orNull(daemon.get(), ({ record }) => JSON.parse(record) as DaemonRecord),
    request: (id) => request.get(id) ?? null,
    openRequests: () => openRequests.all(),
    spoolNames: () => spoolNames.all().map(({ spool }) => spool),
  }
}

function eventOf({ count, firstAt, ...event }: EventRow): HistoryEvent {
  return firstAt === null ? event : { ...event, count, firstAt }
}

function knownFileOf({ path, versionId, ...identity }: FileRow): KnownFile {
  return { path, identity, versionId }
}

function orNull<R, T>(row: R | undefined, make: (row: R) => T): T | null {
  return row === undefined ? null : make(row)
}
