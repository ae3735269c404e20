// Owns how a version begins, changes its state and disappears, each in one transaction with its event and with the
// pointers of its feed; and when something is to be done about it.

import { LONGEST_ATTEMPT_WAIT_MS, latestLegal } from '../lib/due.ts'
import { FeedsyncError } from '../lib/errors.ts'
import type { Connection, SqlValue } from './connection.ts'
import type { VersionReads, Versions } from './port.ts'
import type { HistoryEvent, Reason, Version, VersionPatch } from './records.ts'
import { assertStep, READING, type State, sqlStates } from './states.ts'
import { columnsOf, reasonFields } from './version-row.ts'

const NO_LIMIT = -1

export function versionWrites(
  db: Connection,
  { version }: Pick<Versions, 'version'>,
): Omit<Versions, keyof VersionReads | 'prune'> {
  const insertEvent = db.query<[Omit<HistoryEvent, 'count' | 'firstAt'> & { version: number }]>(
    `INSERT INTO events (version, at, from_state, to_state, reason, reason_code, line, "column", n)
       VALUES (@version, @at, @from, @to, @reason, @reasonCode, @line, @column,
         (SELECT coalesce(max(n), 0) + 1 FROM events WHERE version = @version))`,
  )
  const lastEvent = db.query<[version: number], { n: number; to: State | 'seen' }>(
    'SELECT n, to_state AS "to" FROM events WHERE version = ? ORDER BY n DESC LIMIT 1',
  )
  const seenAgain = db.query<[at: number, reason: string, version: number, n: number]>(
    `UPDATE events SET first_at = coalesce(first_at, at), count = count + 1, at = ?, reason = ?
       WHERE version = ? AND n = ?`,
  )
  const pointNewest = db.query<[feed: string, version: number]>(
    `INSERT INTO feeds (name, newest) VALUES (?, ?)
       ON CONFLICT (name) DO UPDATE SET newest = excluded.newest`,
  )
  const pointUploaded = db.query<[version: number, feed: string]>(
    'UPDATE feeds SET last_uploaded = max(coalesce(last_uploaded, 0), ?) WHERE name = ?',
  )
  const before = db.query<[feed: string, id: number], { id: number | null }>(
    'SELECT max(id) AS id FROM versions WHERE feed = ? AND id <> ?',
  )
  const dropFeed = db.query<[feed: string]>('DELETE FROM feeds WHERE name = ?')
  const dropFiles = db.query<[version: number]>('DELETE FROM files WHERE version = ?')
  const pointFiles = db.query<[to: number, from: number]>(
    'UPDATE files SET version = ? WHERE version = ?',
  )
  const pointRequests = db.query<[to: number | null, from: number]>(
    'UPDATE requests SET version = ? WHERE version = ?',
  )
  const drop = db.query<[id: number]>('DELETE FROM versions WHERE id = ?')
  const spooled = db.query<[feed: string], { id: number; state: State; spool: string }>(
    `SELECT id, state, spool FROM versions INDEXED BY versions_spooled
       WHERE feed = ? AND spool IS NOT NULL ORDER BY id DESC`,
  )
  const spoolNames = db.query<[], { spool: string }>(
    'SELECT DISTINCT spool FROM versions INDEXED BY versions_spooled WHERE spool IS NOT NULL',
  )
  const forgetApprovals = db.query(
    'UPDATE versions INDEXED BY versions_approved SET approved = 0 WHERE approved = 1',
  )
  const lastId = db.query<[], { seq: number }>(
    `SELECT seq FROM sqlite_sequence WHERE name = 'versions'`,
  )
  // Only the oldest of a feed: a younger one must not overtake it and then be overwritten by it.
  const due = db.query<
    [now: number, latest: number, limit: number],
    Pick<Version, 'id' | 'feed' | 'account'>
  >(
    `SELECT v.id, v.feed, v.account FROM versions v
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

  function event(
    version: number,
    at: number,
    step: { from: State | null; to: State | 'seen' },
    why: Reason | null,
  ): void {
    const { hint: _, ...reason } = reasonFields(why)
    insertEvent.run({ version, at, ...step, ...reason })
  }

  function existing(id: number): Version {
    const found = version(id)
    if (found !== null) return found
    throw new FeedsyncError(`there is no version ${id}`, {
      hint: 'List the versions with `feedsyncd status --all`.',
    })
  }

  function insert(fields: Partial<Version>): number {
    const columns = columnsOf(fields)
    const names = Object.keys(columns)
    return db
      .query<SqlValue[]>(
        `INSERT INTO versions (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
      )
      .run(...Object.values(columns)).id
  }

  /** Writes these fields only: a feed may carry thousands of campaign ids that need no rewriting. */
  function write(id: number, fields: Partial<Version>): void {
    const columns = columnsOf(fields)
    const set = Object.keys(columns).map((name) => `${name} = ?`)
    if (set.length === 0) return
    db.query<SqlValue[]>(`UPDATE versions SET ${set.join(', ')} WHERE id = ?`).run(
      ...Object.values(columns),
      id,
    )
  }

  return {
    add: ({ at, patch, reason, ...first }) =>
      db.joined(() => {
        assertStep(null, null, first.state, false)
        const id = insert({ ...patch, ...first, ...reasonFields(reason), detectedAt: at })
        event(id, at, { from: null, to: first.state }, reason)
        pointNewest.run(first.feed, id)
        return existing(id)
      }),

    move: (id, to, reason, at, patch = {}) =>
      db.joined(() => {
        const from = existing(id)
        assertStep(id, from.state, to, from.sha256 !== null)
        const changed = { ...leftBehind(to, at), ...patch, state: to, ...reasonFields(reason) }
        write(id, changed)
        event(id, at, { from: from.state, to }, reason)
        if (to === 'uploaded') pointUploaded.run(id, from.feed)
        return { ...from, ...changed }
      }),

    update: (id, patch, reason) =>
      db.joined(() => {
        const found = existing(id)
        const changed = reason === undefined ? patch : { ...patch, ...reasonFields(reason) }
        write(id, changed)
        return { ...found, ...changed }
      }),

    seen: (id, reason, at) =>
      db.joined(() => {
        // An export that writes the same bytes each minute must not make a row each time.
        const last = lastEvent.get(existing(id).id)
        if (last?.to === 'seen') seenAgain.run(at, reason.text, id, last.n)
        else event(id, at, { from: null, to: 'seen' }, reason)
      }),

    forget: (id, heir) =>
      db.joined(() => {
        const { feed, sha256 } = existing(id)
        if (sha256 !== null) {
          throw new FeedsyncError(`version ${id} has a known content and cannot be taken back`)
        }
        const newest = before.get(feed, id)?.id ?? null
        const named = heir ?? newest
        pointRequests.run(named, id)
        if (named === null) dropFiles.run(id)
        else pointFiles.run(named, id)
        if (newest === null) dropFeed.run(feed)
        else pointNewest.run(feed, newest)
        drop.run(id)
      }),

    spooled: (feed) => spooled.all(feed),
    spoolNames: () => spoolNames.all().map(({ spool }) => spool),
    forgetApprovals: () => void forgetApprovals.run(),
    lastId: () => lastId.get()?.seq ?? 0,

    due: (now, limit, except = new Set(), turns = null) =>
      due
        .all(
          now,
          latestLegal(now, LONGEST_ATTEMPT_WAIT_MS),
          limit === undefined || turns !== null ? NO_LIMIT : limit + except.size,
        )
        .filter(({ feed }) => !except.has(feed))
        .sort(turns ?? (() => 0))
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

/** What belonged to the state that is left, and what the new one implies, unless the caller says otherwise. */
function leftBehind(to: State, at: number): VersionPatch {
  return {
    guard: null,
    nextAttemptAt: null,
    // It survives the steps between those states that look at it.
    ...(READING.includes(to) ? {} : { deadlineAt: null }),
    ...(to === 'uploaded' ? { uploadedAt: at } : {}),
  }
}
