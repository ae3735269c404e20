// Owns how a version begins, changes its state and disappears, each in one transaction with its event and with the
// pointers of its feed; and when something is to be done about it.

import { isOlder } from '../lib/dated-name.ts'
import { LONGEST_ATTEMPT_WAIT_MS, latestLegal } from '../lib/due.ts'
import { FeedsyncError } from '../lib/errors.ts'
import type { Connection } from './connection.ts'
import { OLDER } from './reason-codes.ts'
import type { Reason, Version, VersionPatch } from './rows.ts'
import { assertStep, READING, type State, UNSENT } from './states.ts'
import type { VersionReads } from './version-reads.ts'
import { columnsOf, reasonFields } from './version-row.ts'

const NO_LIMIT = -1

interface NewVersion extends Pick<Version, 'feed' | 'path' | 'account' | 'state'> {
  reason: Reason | null
  at: number
  patch?: VersionPatch
}

export type VersionWrites = ReturnType<typeof versionWrites>

/** Each write is one transaction with its event. */
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

  /** Writes these fields only: a feed may carry thousands of campaign ids that need no rewriting. */
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

  /** A file of it came. */
  function showAgain(feed: string): void {
    db.run(
      'UPDATE feeds SET forgotten_at = NULL WHERE name = +? AND forgotten_at IS NOT NULL',
      feed,
    )
  }

  /** The last other version of its feed that was not older by its name. */
  function lastOther({ feed, id }: Pick<Version, 'feed' | 'id'>): number | null {
    const sql = `SELECT id FROM versions WHERE feed = +? AND id <> ? AND reason_code IS NOT '${OLDER}'
       ORDER BY id DESC LIMIT 1`
    return db.value<number>(sql, feed, id)
  }

  /** What a person restored is the newest. What a name says to be older than the newest is not, unless that is over. */
  function becomesNewest({ feed, path, patch, state }: NewVersion): boolean {
    const before = newest(feed)
    const isOver = before === null || ['gone', 'superseded', 'discarded'].includes(before.state)
    if (isOver || state === 'queued') return true
    return !isOlder(feed, { path, modifiedAt: patch?.modifiedAt ?? null }, before)
  }

  return {
    /** Adds a version in `settling` (or another first state) with its first event, as its feed's newest if it is that. */
    add: (added: NewVersion): Version =>
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

    /** Changes the state. Throws on a step that states.ts does not have. */
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
            'UPDATE feeds SET last_uploaded = max(coalesce(last_uploaded, 0), ?) WHERE name = ?'
          db.run(sql, id, from.feed)
        }
        // By its name it was younger than what took its place.
        const last = to === 'superseded' && newest(from.feed)?.id === id && lastOther(from)
        if (last && last > id) pointNewest(from.feed, last)
        return { ...from, ...changed }
      }),

    /** Changes fields without a change of state (hence without an event); `reason` absent: it stays. */
    update: (id: number, patch: VersionPatch, reason?: Reason | null): Version =>
      db.joinTransaction(() => {
        const found = existing(id)
        const changed = reason === undefined ? patch : { ...patch, ...reasonFields(reason) }
        write(id, changed)
        return { ...found, ...changed }
      }),

    /** The same bytes were found again: a `seen` event, one for all times in a row. */
    seen: (id: number, reason: Reason, at: number): void =>
      db.joinTransaction(() => {
        showAgain(existing(id).feed)
        // An export that writes the same bytes each minute must not make a row each time.
        const again = db.run(
          `UPDATE events SET first_at = coalesce(first_at, at), count = count + 1, at = @at, reason = @text
             WHERE version = +@id AND n = (SELECT max(n) FROM events WHERE version = +@id) AND to_state = 'seen'`,
          { id, at, text: reason.text },
        )
        if (again.changes === 0) event(id, at, { from: null, to: 'seen' }, reason)
      }),

    /**
     * Takes back a version that turned out to be no version (the same bytes as its feed's newest). Only without a sha256.
     * What names it names `heir` then; without one, the newest of its feed.
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

    /** The feed is not shown until a file of it comes. All that is known of it stays. */
    forgetFeed: (feed: string, at: number) =>
      void db.run('UPDATE feeds SET forgotten_at = ? WHERE name = ?', at, feed),

    /** Versions of a feed whose bytes are kept, the newest first. */
    spooled: (feed: string) =>
      db.rows<
        Pick<Version, 'id' | 'path' | 'state' | 'reasonCode' | 'modifiedAt'> & { spool: string }
      >(
        `SELECT id, path, state, reason_code AS reasonCode, modified_at AS modifiedAt, spool
           FROM versions INDEXED BY versions_spooled
           WHERE feed = +? AND spool IS NOT NULL ORDER BY id DESC`,
        feed,
      ),

    /** Names of the spool files that versions still need: a restored version shares that of the earlier one. */
    spoolNames: () =>
      db.values<string>(
        'SELECT DISTINCT spool FROM versions INDEXED BY versions_spooled WHERE spool IS NOT NULL',
      ),

    /** This copy is not in the spool any more. Answers the versions that are not delivered and have no bytes now. */
    copyLost: (name: string) => {
      const ids = db.values<number>(
        `UPDATE versions INDEXED BY versions_spooled SET spool = NULL
           WHERE spool = ? AND spool IS NOT NULL RETURNING id`,
        name,
      )
      return ids.flatMap((id) => version(id) ?? []).filter(({ state }) => UNSENT.includes(state))
    },

    /** Takes back all approvals. */
    forgetApprovals: () =>
      void db.run(
        'UPDATE versions INDEXED BY versions_approved SET approved = 0 WHERE approved = 1',
      ),

    /** The highest id that a version ever had; 0 before the first one. */
    lastId: () => db.value<number>(`SELECT seq FROM sqlite_sequence WHERE name = 'versions'`) ?? 0,

    /**
     * Waiting versions whose time has come (lib/due.ts), one a feed, none that uploads or is in `except`: those with the
     * fewest attempts first, so that what fails each time takes no probe from the others, then the oldest.
     */
    due: (
      now: number,
      limit?: number,
      except: Pick<ReadonlySet<string>, 'has' | 'size'> = new Set(),
    ): Version[] =>
      db
        // Only the oldest of a feed: a younger one must not overtake it and then be overwritten by it.
        .rows<{ id: number; feed: string }>(
          `SELECT v.id, v.feed FROM versions v INDEXED BY versions_queued
             WHERE v.state = 'queued'
               AND (v.next_attempt_at IS NULL OR v.next_attempt_at <= ? OR v.next_attempt_at > ?)
               AND NOT EXISTS (
                 SELECT 1 FROM versions o WHERE o.feed = v.feed AND o.state IN ('queued', 'uploading')
                   AND (o.state = 'uploading' OR o.id < v.id))
             ORDER BY v.attempts, v.id LIMIT ?`,
          now,
          latestLegal(now, LONGEST_ATTEMPT_WAIT_MS),
          limit === undefined ? NO_LIMIT : limit + except.size,
        )
        .filter(({ feed }) => !except.has(feed))
        .slice(0, limit)
        .flatMap(({ id }) => version(id) ?? []),

    /** Makes due now what is queued for later, for one of these reasons. */
    makeDue: (codes: readonly string[]) =>
      void db.run(
        `UPDATE versions SET next_attempt_at = NULL
           WHERE state = 'queued' AND next_attempt_at IS NOT NULL
             AND reason_code IN (SELECT value FROM json_each(?))`,
        JSON.stringify(codes),
      ),

    /** Paths of files that have been incomplete for `afterMs`, or since a time that a clock ahead has stored (lib/due.ts). */
    expired: (now: number, afterMs: number) =>
      db.values<string>(
        `SELECT path FROM versions INDEXED BY versions_incomplete
           WHERE state = 'incomplete' AND incomplete_since <= ?
         UNION ALL SELECT path FROM versions INDEXED BY versions_incomplete
           WHERE state = 'incomplete' AND incomplete_since > ?`,
        now - afterMs,
        latestLegal(now, 0),
      ),

    /** The earliest `nextAttemptAt` after now, or null. */
    nextDueAt: (now: number) =>
      // Without statistics the planner prefers the state alone and reads all that wait, at each look.
      db.value<number>(
        `SELECT min(next_attempt_at) FROM versions INDEXED BY versions_next_attempt
           WHERE state = 'queued' AND next_attempt_at > ?`,
        now,
      ),
  }
}

/** What belonged to the state that is left, and what the new one implies, unless the caller says otherwise. */
function entryPatch(to: State, at: number): VersionPatch {
  return {
    guard: null,
    nextAttemptAt: null,
    // It survives the steps between those states that look at it.
    ...(READING.includes(to) ? {} : { incompleteSince: null }),
    ...(to === 'uploaded' ? { uploadedAt: at } : {}),
  }
}
