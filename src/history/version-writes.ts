// Owns how a version begins, changes its state and disappears. Each step is one transaction with its event and the
// pointers of its feed. Also owns the queries about versions that are due.

import { LONGEST_ATTEMPT_WAIT_MS, latestLegal } from '../lib/due.ts'
import { FeedsyncError } from '../lib/errors.ts'
import type { Connection } from './connection.ts'
import { OLDER, RETRIED } from './reason-codes.ts'
import type { NewVersion, Reason, Version, VersionPatch } from './rows.ts'
import { assertStep, READING, type State } from './states.ts'
import type { VersionReads } from './version-reads.ts'
import { columnsOf, reasonFields } from './version-row.ts'

const NO_LIMIT = -1
const NO_FEEDS: ReadonlySet<string> = new Set()

const NOT_OF_ACCOUNTS =
  'AND NOT EXISTS (SELECT 1 FROM json_each(+@accounts) WHERE value IS v.account)'

/** Except names the feeds and accounts whose versions are left out. */
interface Except {
  feeds?: Pick<ReadonlySet<string>, 'has' | 'size'>
  accounts?: readonly Version['account'][]
}

export type VersionWrites = ReturnType<typeof versionWrites>

export function versionWrites(
  db: Connection,
  { newest, version }: Pick<VersionReads, 'newest' | 'version'>,
) {
  function event(
    version: number,
    at: number,
    step: { from: State | null; to: State | 'seen' },
    why: Reason | null,
  ): void {
    const { hint: _, ...reason } = reasonFields(why)
    const sql = `INSERT INTO events (version, at, from_state, to_state, reason, reason_code, line, "column", n)
       VALUES (@version, @at, @from, @to, @reason, @reasonCode, @line, @column,
         (SELECT coalesce(max(n), 0) + 1 FROM events WHERE version = +@version))`
    db.run(sql, { version, at, ...step, ...reason })
  }

  function existing(id: number): Version {
    const found = version(id)
    if (found !== null) return found
    throw new FeedsyncError(`there is no version ${id}`, {
      hint: 'feedsyncd status --all',
    })
  }

  function insert(fields: Partial<Version>): number {
    const columns = columnsOf(fields)
    const names = Object.keys(columns)
    const sql = `INSERT INTO versions (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
    return db.run(sql, ...Object.values(columns)).id
  }

  /** write changes these fields only: a feed may have thousands of campaign ids, which are not written again. */
  function write(id: number, fields: Partial<Version>): void {
    const columns = columnsOf(fields)
    const set = Object.keys(columns).map((name) => `${name} = ?`)
    if (set.length === 0) return
    db.run(`UPDATE versions SET ${set.join(', ')} WHERE id = +?`, ...Object.values(columns), id)
  }

  function pointNewest(feed: string, id: number): void {
    const sql = `INSERT INTO feeds (name, newest) VALUES (?, ?)
       ON CONFLICT (name) DO UPDATE SET newest = excluded.newest, forgotten_at = NULL`
    db.run(sql, feed, id)
  }

  /** showAgain shows a forgotten feed again because a file of it came. */
  function showAgain(feed: string): void {
    db.run(
      'UPDATE feeds SET forgotten_at = NULL WHERE name = +? AND forgotten_at IS NOT NULL',
      feed,
    )
  }

  /** lastOther returns the last other version of the feed, without those that have an older date in their names. */
  function lastOther({ feed, id }: Pick<Version, 'feed' | 'id'>): number | null {
    const sql = `SELECT id FROM versions WHERE feed = +? AND id <> ? AND reason_code IS NOT '${OLDER}'
       ORDER BY id DESC LIMIT 1`
    return db.value<number>(sql, feed, id)
  }

  /**
   * becomesNewest returns whether a new version is the newest of its feed. A restored version always is. A version with
   * an older date in its name is not, unless the present newest is gone, superseded or discarded.
   */
  function becomesNewest({ feed, patch, state }: NewVersion): boolean {
    const before = newest(feed)
    const isOver = before === null || ['gone', 'superseded', 'discarded'].includes(before.state)
    if (isOver || state === 'queued') return true
    const date = patch?.date ?? null
    return date === null || before.date === null || date >= before.date
  }

  return {
    /** add adds a version in `settling` or another first state, with its first event. */
    add: (added: NewVersion & { at: number }): Version =>
      db.joinTransaction(() => {
        const { at, patch, reason, ...first } = added
        assertStep(null, null, first.state, false)
        const isNewest = becomesNewest(added)
        const id = insert({ ...patch, ...first, ...reasonFields(reason), detectedAt: at })
        event(id, at, { from: null, to: first.state }, reason)
        if (isNewest) pointNewest(first.feed, id)
        else showAgain(first.feed)
        return existing(id)
      }),

    /** move changes the state. Throws for a step that states.ts does not allow. */
    move: (
      id: number,
      to: State,
      reason: Reason | null,
      at: number,
      patch: VersionPatch = {},
    ): Version =>
      db.joinTransaction(() => {
        const from = existing(id)
        assertStep(id, from.state, to, from.sha256 !== null)
        const changed = { ...entryPatch(to, at), ...patch, state: to, ...reasonFields(reason) }
        write(id, changed)
        event(id, at, { from: from.state, to }, reason)
        if (to === 'uploaded') {
          const sql =
            'UPDATE feeds SET last_uploaded = max(coalesce(last_uploaded, 0), ?) WHERE name = +?'
          db.run(sql, id, from.feed)
        }
        // The superseded version was the newest only by its name, so the newest is now a version that came later.
        const last = to === 'superseded' && newest(from.feed)?.id === id && lastOther(from)
        if (last && last > id) pointNewest(from.feed, last)
        return { ...from, ...changed }
      }),

    /** update changes fields without a change of state or an event. Without `reason`, the present reason stays. */
    update: (id: number, patch: VersionPatch, reason?: Reason | null): Version =>
      db.joinTransaction(() => {
        const found = existing(id)
        const changed = reason === undefined ? patch : { ...patch, ...reasonFields(reason) }
        write(id, changed)
        return { ...found, ...changed }
      }),

    /** seen records that the same bytes came again, with one `seen` event for all times in a row. */
    seen: (id: number, reason: Reason, at: number): void =>
      db.joinTransaction(() => {
        showAgain(existing(id).feed)
        // An export that writes the same bytes each minute must not add a row each time.
        const again = db.run(
          `UPDATE events SET first_at = coalesce(first_at, at), count = count + 1, at = @at, reason = @text
             WHERE version = +@id AND n = (SELECT max(n) FROM events WHERE version = +@id) AND to_state = 'seen'`,
          { id, at, text: reason.text },
        )
        if (again.changes === 0) event(id, at, { from: null, to: 'seen' }, reason)
      }),

    /**
     * forget removes a version without a sha256, for example when its file has the same bytes as the newest version.
     * Files and requests then refer to `heir` or, without one, to the newest other version of the feed.
     */
    forget: (id: number, heir?: number): void =>
      db.joinTransaction(() => {
        const { feed, sha256 } = existing(id)
        if (sha256 !== null) {
          throw new FeedsyncError(`version ${id} has a known content and cannot be taken back`)
        }
        const isNewest = newest(feed)?.id === id
        const last = lastOther({ feed, id })
        const named = heir ?? last
        db.run('UPDATE requests SET version = ? WHERE version = ?', named, id)
        if (named === null) db.run('DELETE FROM files WHERE version = ?', id)
        else db.run('UPDATE files SET version = ? WHERE version = ?', named, id)
        if (last === null) db.run('DELETE FROM feeds WHERE name = ?', feed)
        else if (isNewest) pointNewest(feed, last)
        db.run('DELETE FROM versions WHERE id = ?', id)
      }),

    /** forgetFeed hides a feed until a file of it comes. Its history stays. */
    forgetFeed: (feed: string, at: number) =>
      void db.run('UPDATE feeds SET forgotten_at = ? WHERE name = ?', at, feed),

    /** spooled returns the versions of a feed with a copy in the spool, newest first. */
    spooled: (feed: string) =>
      db.rows<Pick<Version, 'id' | 'state' | 'reasonCode' | 'date'> & { spool: string }>(
        `SELECT id, state, reason_code AS reasonCode, date, spool
           FROM versions INDEXED BY versions_spooled
           WHERE feed = +? AND spool IS NOT NULL ORDER BY id DESC`,
        feed,
      ),

    /** spoolNames returns the names of all needed copies. A restored version shares the copy of the earlier one. */
    spoolNames: () =>
      db.values<string>(
        'SELECT DISTINCT spool FROM versions INDEXED BY versions_spooled WHERE spool IS NOT NULL',
      ),

    /** withCopy returns the versions with this copy in the spool, oldest first. */
    withCopy: (name: string) =>
      db
        .values<number>(
          `SELECT id FROM versions INDEXED BY versions_spooled
             WHERE spool = ? AND spool IS NOT NULL ORDER BY id`,
          name,
        )
        .flatMap((id) => version(id) ?? []),

    forgetApprovals: () =>
      void db.run(
        'UPDATE versions INDEXED BY versions_approved SET approved = 0 WHERE approved = 1',
      ),

    /** lastId returns the highest id that a version ever had, or 0 before the first version. */
    lastId: () => db.value<number>(`SELECT seq FROM sqlite_sequence WHERE name = 'versions'`) ?? 0,

    /**
     * due returns the queued versions that are due (lib/due.ts): one for each feed, but none for feeds that are
     * uploading, and none for feeds and accounts in `except`. Versions with the fewest attempts come first, so that a
     * version that always fails does not take probes from the others; then the oldest.
     */
    due: (
      now: number,
      limit?: number,
      { accounts = [], feeds = NO_FEEDS }: Except = {},
    ): Version[] =>
      db
        // Only the oldest of a feed: a newer version that is sent first would be overwritten by the older one.
        .rows<{ id: number; feed: string }>(
          `SELECT v.id, v.feed FROM versions v INDEXED BY versions_queued
             WHERE v.state = 'queued'
               AND (v.next_attempt_at IS NULL OR v.next_attempt_at <= +@now OR v.next_attempt_at > +@latest)
               ${accounts.length === 0 ? '' : NOT_OF_ACCOUNTS}
               AND NOT EXISTS (
                 SELECT 1 FROM versions o WHERE o.feed = v.feed AND o.state IN ('queued', 'uploading')
                   AND (o.state = 'uploading' OR o.id < v.id))
             ORDER BY v.attempts, v.id LIMIT +@limit`,
          {
            now,
            latest: latestLegal(now, LONGEST_ATTEMPT_WAIT_MS),
            ...(accounts.length === 0 ? {} : { accounts: JSON.stringify(accounts) }),
            limit: limit === undefined ? NO_LIMIT : limit + feeds.size,
          },
        )
        .filter(({ feed }) => !feeds.has(feed))
        .slice(0, limit)
        .flatMap(({ id }) => version(id) ?? []),

    /**
     * postpone gives all due versions of these accounts the reason and the time (wall ms) until which they wait, but no
     * version that a person retried.
     */
    postpone: (
      accounts: readonly Version['account'][] | 'all',
      { now, until, reason }: { now: number; until: number; reason: Reason },
    ): void =>
      void db.run(
        `UPDATE versions INDEXED BY versions_queued
           SET next_attempt_at = @until, reason = @reason, reason_code = @reasonCode, hint = @hint,
             line = @line, "column" = @column
           WHERE state = 'queued' AND reason_code IS NOT '${RETRIED}'
             AND (next_attempt_at IS NULL OR next_attempt_at <= @now OR next_attempt_at > @latest)
             AND (@accounts IS NULL OR EXISTS (SELECT 1 FROM json_each(+@accounts) WHERE value IS account))`,
        {
          ...{ now, until, ...reasonFields(reason) },
          latest: latestLegal(now, LONGEST_ATTEMPT_WAIT_MS),
          accounts: accounts === 'all' ? null : JSON.stringify(accounts),
        },
      ),

    /** moveWaits moves the times of all next attempts by `ms`, after somebody set the wall clock by that much. */
    moveWaits: (ms: number) =>
      void db.run(
        `UPDATE versions INDEXED BY versions_next_attempt SET next_attempt_at = next_attempt_at + ?
           WHERE state = 'queued' AND next_attempt_at IS NOT NULL`,
        ms,
      ),

    /** shortenWaits lets the versions whose last attempt lies ahead of `now` wait from now on, not from that time on. */
    shortenWaits: (now: number) =>
      void db.run(
        `WITH tried AS (
           SELECT v.id, (SELECT max(ended_at) FROM attempts WHERE version = v.id) AS at
             FROM versions v INDEXED BY versions_next_attempt
             WHERE v.state = 'queued' AND v.next_attempt_at > @now)
         UPDATE versions SET next_attempt_at = next_attempt_at - tried.at + @now
           FROM tried WHERE versions.id = tried.id AND tried.at > @now`,
        { now },
      ),

    /** makeDue makes all versions due now that are queued for later with one of these reason codes. */
    makeDue: (codes: readonly string[]) =>
      void db.run(
        `UPDATE versions SET next_attempt_at = NULL
           WHERE state = 'queued' AND next_attempt_at IS NOT NULL
             AND reason_code IN (SELECT value FROM json_each(?))`,
        JSON.stringify(codes),
      ),

    /**
     * expired returns the paths of files that have been incomplete for `afterMs`, or since a time in the future, which
     * a wrong clock stored (lib/due.ts).
     */
    expired: (now: number, afterMs: number) =>
      db.values<string>(
        `SELECT path FROM versions INDEXED BY versions_incomplete
           WHERE state = 'incomplete' AND incomplete_since <= ?
         UNION ALL SELECT path FROM versions INDEXED BY versions_incomplete
           WHERE state = 'incomplete' AND incomplete_since > ?`,
        now - afterMs,
        latestLegal(now, 0),
      ),

    nextDueAt: (now: number) =>
      // Without INDEXED BY, the planner uses the state alone and reads all waiting versions each time.
      db.value<number>(
        `SELECT min(next_attempt_at) FROM versions INDEXED BY versions_next_attempt
           WHERE state = 'queued' AND next_attempt_at > ?`,
        now,
      ),
  }
}

/** entryPatch returns the fields that a new state resets or sets, unless the caller gives other values. */
function entryPatch(to: State, at: number): VersionPatch {
  return {
    guard: null,
    nextAttemptAt: null,
    // An incomplete version keeps this time while its file is read again.
    ...(READING.includes(to) ? {} : { incompleteSince: null }),
    ...(to === 'uploaded' ? { uploadedAt: at } : {}),
  }
}
