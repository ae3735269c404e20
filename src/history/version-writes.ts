// Owns how a version begins, changes its state and disappears, each in one transaction with its event
// and with the pointers of its feed.

import { FeedsyncError } from '../lib/errors.ts'
import type { Connection, SqlValue } from './connection.ts'
import type { History, State, Version, VersionPatch } from './port.ts'
import type { Reads } from './reads.ts'
import { assertStep } from './states.ts'
import { columnsOf } from './version-row.ts'

/** Only these look at `deadlineAt`; it survives the steps between them. */
const WAITING_FOR_CONTENT: readonly State[] = ['settling', 'incomplete', 'checking']

export type VersionWrites = Pick<History, 'add' | 'move' | 'update' | 'seen' | 'forget'>

export function versionWrites(db: Connection, { version }: Pick<Reads, 'version'>): VersionWrites {
  const event = db.query<
    [
      version: number,
      at: number,
      from: State | null,
      to: State | 'seen',
      reason: string | null,
      version: number,
    ]
  >(
    `INSERT INTO events (version, at, from_state, to_state, reason, n) VALUES (?, ?, ?, ?, ?,
       (SELECT coalesce(max(n), 0) + 1 FROM events WHERE version = ?))`,
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
    add: ({ at, patch, ...first }) =>
      db.joined(() => {
        assertStep(null, null, first.state, false)
        const id = insert({ ...patch, ...first, detectedAt: at })
        event.run(id, at, null, first.state, first.reason, id)
        pointNewest.run(first.feed, id)
        return existing(id)
      }),

    move: (id, to, reason, at, patch = {}) =>
      db.joined(() => {
        const from = existing(id)
        assertStep(id, from.state, to, from.sha256 !== null)
        const changed = { ...leftBehind(to, at), ...patch, state: to, reason }
        write(id, changed)
        event.run(id, at, from.state, to, reason, id)
        if (to === 'uploaded') pointUploaded.run(id, from.feed)
        return { ...from, ...changed }
      }),

    update: (id, patch) =>
      db.joined(() => {
        const found = existing(id)
        write(id, patch)
        return { ...found, ...patch }
      }),

    seen: (id, reason, at) =>
      db.joined(() => {
        // An export that writes the same bytes each minute must not make a row each time.
        const last = lastEvent.get(existing(id).id)
        if (last?.to === 'seen') seenAgain.run(at, reason, id, last.n)
        else event.run(id, at, null, 'seen', reason, id)
      }),

    forget: (id) =>
      db.joined(() => {
        const { feed, sha256 } = existing(id)
        if (sha256 !== null) {
          throw new FeedsyncError(`version ${id} has a known content and cannot be taken back`)
        }
        const newest = before.get(feed, id)?.id ?? null
        pointRequests.run(newest, id)
        if (newest === null) {
          dropFiles.run(id)
          dropFeed.run(feed)
        } else {
          pointFiles.run(newest, id)
          pointNewest.run(feed, newest)
        }
        drop.run(id)
      }),
  }
}

/** What belonged to the state that is left, and what the new one implies, unless the caller says otherwise. */
function leftBehind(to: State, at: number): VersionPatch {
  return {
    hint: null,
    guard: null,
    nextAttemptAt: null,
    ...(WAITING_FOR_CONTENT.includes(to) ? {} : { deadlineAt: null }),
    ...(to === 'uploaded' ? { uploadedAt: at } : {}),
  }
}
