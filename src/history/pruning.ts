// Owns what the history forgets: settled versions that nothing refers to any more, and old refusals.

import type { Connection } from './connection.ts'
import type { History } from './port.ts'
import { SETTLED_STATES } from './states.ts'

/** Small enough that a command of another process gets its turn between two of them. */
const PRUNE_BATCH = 500

/**
 * Besides each feed's newest, newest with known bytes, and last uploaded, a version stays while a file
 * in the folder is known as it (else that file would count as new and be sent again), while its bytes
 * are in the spool, and while anything happened to it since.
 */
export function pruner(db: Connection): History['prune'] {
  const settled = SETTLED_STATES.map((state) => `'${state}'`).join(', ')
  const next = db.query<
    [at: number, id: number, before: number, before: number, limit: number],
    { id: number; at: number }
  >(
    `SELECT v.id, v.detected_at AS at FROM versions v INDEXED BY versions_detected
       WHERE (v.detected_at, v.id) > (?, ?) AND v.detected_at < ?
         AND v.state IN (${settled}) AND v.spool IS NULL
         AND NOT EXISTS (SELECT 1 FROM feeds WHERE newest = v.id)
         AND NOT EXISTS (SELECT 1 FROM feeds WHERE last_uploaded = v.id)
         AND v.id <> (SELECT coalesce(max(id), 0) FROM versions
                        WHERE feed = v.feed AND sha256 IS NOT NULL)
         AND NOT EXISTS (SELECT 1 FROM files WHERE version = v.id)
         AND NOT EXISTS (SELECT 1 FROM events WHERE version = v.id AND at >= ?)
       ORDER BY v.detected_at, v.id LIMIT ?`,
  )
  const drop = db.query<[id: number]>('DELETE FROM versions WHERE id = ?')
  const dropRefused = db.query<[before: number]>(
    'DELETE FROM requests WHERE problem IS NOT NULL AND at < ?',
  )

  return (before) => {
    let pruned = 0
    let last = { at: Number.MIN_SAFE_INTEGER, id: 0 }
    for (;;) {
      const batch = db.atomically(() => {
        const rows = next.all(last.at, last.id, before, before, PRUNE_BATCH)
        for (const { id } of rows) drop.run(id)
        return rows
      })
      const end = batch.at(-1)
      if (end === undefined) break
      pruned += batch.length
      last = end
    }
    dropRefused.run(before)
    return pruned
  }
}
