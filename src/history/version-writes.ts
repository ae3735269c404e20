// Owns how a version begins, changes its state and disappears. Each step is one transaction with its event and the
// pointers of its feed.

import { commandFor, hintWith } from '../domain/command.ts'
import { likenessOf } from '../domain/likeness.ts'
import { OLDER } from '../domain/reason-codes.ts'
import { assertAllowed, OVER, READING, type State } from '../domain/states.ts'
import { FeedsyncError } from '../lib/errors.ts'
import type { Connection } from './connection.ts'
import type { NewVersion, Reason, Version, VersionPatch } from './rows.ts'
import type { VersionReads } from './version-reads.ts'
import { columnsOf, reasonFields } from './version-row.ts'

/** StateEntry is what is recorded when a version gets into a state. */
interface StateEntry {
  /** Wall ms. */
  at: number
  /** Without a reason here, the version has no reason in its new state. */
  reason?: Reason | null
  patch?: VersionPatch | undefined
}

export type VersionWrites = ReturnType<typeof versionWrites>

export function versionWrites(db: Connection, { newest, version }: VersionReads) {
  function addEvent(
    version: number,
    step: { at: number; from: State | null; to: State | 'seen' },
    why: Reason | null,
  ): void {
    const { hint: _, ...reason } = reasonFields(why)
    const sql = `INSERT INTO events (version, at, from_state, to_state, reason, reason_code, line, "column", n)
       VALUES (@version, @at, @from, @to, @reason, @reasonCode, @line, @column,
         (SELECT coalesce(max(n), 0) + 1 FROM events WHERE version = @version))`
    db.run(sql, { version, ...step, ...reason })
  }

  function existing(id: number): Version {
    const found = version(id)
    if (found !== null) return found
    throw new FeedsyncError(`there is no version ${id}`, {
      hint: hintWith(null, commandFor('status --all')),
    })
  }

  function insert(fields: Partial<Version> & Pick<Version, 'feed' | 'path'>): number {
    const columns = { ...columnsOf(fields), likeness: likenessOf(fields) }
    const names = Object.keys(columns)
    const sql = `INSERT INTO versions (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
    return db.run(sql, ...Object.values(columns)).id
  }

  /** write changes these fields only, because a feed can have thousands of campaign ids that need no second write. */
  function write(id: number, fields: Partial<Version>): void {
    const columns = columnsOf(fields)
    const set = Object.keys(columns).map((name) => `${name} = ?`)
    if (set.length === 0) return
    db.run(`UPDATE versions SET ${set.join(', ')} WHERE id = ?`, ...Object.values(columns), id)
  }

  function pointNewest(feed: string, id: number): void {
    const sql = `INSERT INTO feeds (name, newest) VALUES (?, ?)
       ON CONFLICT (name) DO UPDATE SET newest = excluded.newest, forgotten_at = NULL`
    db.run(sql, feed, id)
  }

  /** showAgain shows a feed again that a person forgot, because a file of the feed came. */
  function showAgain(feed: string): void {
    db.run('UPDATE feeds SET forgotten_at = NULL WHERE name = ? AND forgotten_at IS NOT NULL', feed)
  }

  /**
   * lastOther returns the last other version of the feed. Versions that are older by the date in their names do not
   * count.
   */
  function lastOther({ feed, id }: Pick<Version, 'feed' | 'id'>): number | null {
    const sql = `SELECT id FROM versions WHERE feed = ? AND id <> ? AND reason_code IS NOT '${OLDER}'
       ORDER BY id DESC LIMIT 1`
    return db.value<number>(sql, feed, id)
  }

  /**
   * becomesNewest returns whether a new version is the newest of its feed. A restored version always is. A version with
   * an older date in its name is not, unless the newest version so far is gone, superseded or discarded.
   */
  function becomesNewest({ feed, patch, state }: NewVersion): boolean {
    const before = newest(feed)
    const isOver = before === null || OVER.includes(before.state)
    if (isOver || state === 'queued') return true
    const date = patch?.date ?? null
    return date === null || before.date === null || date >= before.date
  }

  return {
    /** add adds a version in one of FIRST_STATES, with its first event. Throws for any other state. */
    add: (added: NewVersion & { at: number }): Version =>
      db.joinTransaction(() => {
        const { at, patch, reason, ...first } = added
        assertAllowed({ id: null, from: null, to: first.state, hashed: false })
        const isNewest = becomesNewest(added)
        const id = insert({ ...patch, ...first, ...reasonFields(reason), detectedAt: at })
        addEvent(id, { at, from: null, to: first.state }, reason)
        if (isNewest) pointNewest(first.feed, id)
        else showAgain(first.feed)
        return existing(id)
      }),

    /**
     * move changes the state of a version, and points its feed at the last uploaded and the newest version. Throws for
     * a step that states.ts does not allow.
     */
    move: (id: number, to: State, { at, reason = null, patch = {} }: StateEntry): Version =>
      db.joinTransaction(() => {
        const from = existing(id)
        assertAllowed({ id, from: from.state, to, hashed: from.sha256 !== null })
        const changed = { ...entryPatch(to, at), ...patch, state: to, ...reasonFields(reason) }
        write(id, changed)
        addEvent(id, { at, from: from.state, to }, reason)
        if (to === 'uploaded') {
          const sql =
            'UPDATE feeds SET last_uploaded = max(coalesce(last_uploaded, 0), ?) WHERE name = ?'
          db.run(sql, id, from.feed)
        }
        // The superseded version was the newest by the date in its name. Now a version that came later is the newest.
        const last = to === 'superseded' && newest(from.feed)?.id === id && lastOther(from)
        if (last && last > id) pointNewest(from.feed, last)
        return { ...from, ...changed }
      }),

    /** update changes fields without a change of state or an event. Without `reason`, the version keeps its reason. */
    update: (id: number, patch: VersionPatch, reason?: Reason | null): Version =>
      db.joinTransaction(() => {
        const found = existing(id)
        const changed = reason === undefined ? patch : { ...patch, ...reasonFields(reason) }
        write(id, changed)
        return { ...found, ...changed }
      }),

    /** seen records that the same bytes came again, with one `seen` event for all times in a row. */
    seen: (id: number, why: Reason, at: number): void =>
      db.joinTransaction(() => {
        showAgain(existing(id).feed)
        // An export that writes the same bytes each minute must not add a row each time.
        const again = db.run(
          `UPDATE events SET first_at = coalesce(first_at, at), count = count + 1, at = @at, reason = @reason
             WHERE version = @id AND n = (SELECT max(n) FROM events WHERE version = @id) AND to_state = 'seen'`,
          { id, at, reason: why.reason },
        )
        if (again.changes === 0) addEvent(id, { at, from: null, to: 'seen' }, why)
      }),

    /**
     * forget removes a version, for example when its file has the same bytes as the newest version. Throws for a
     * version with a sha256. Its files and requests then belong to `heir` or, without `heir`, to the newest other
     * version of the feed. If there is no such version, its files are forgotten.
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
