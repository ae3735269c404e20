// Owns what the history forgets: settled versions that nothing refers to any more, and old refusals.

import type { Connection } from './connection.ts'
import type { Transactions, Versions } from './port.ts'
import { CLOSED, sqlStates } from './states.ts'

const NO_FEEDS = { endedBefore: Number.MIN_SAFE_INTEGER, removeCopy: async () => {} }

/** Versions looked at in one turn: with all that belongs to them they go within some ms. */
const PIECE = 100

/**
 * Besides each feed's newest, newest with known bytes, and last uploaded, a version stays while a file
 * in the folder is known as it (else that file would count as new and be sent again), while its bytes
 * are in the spool, and while anything happened to it since. Of a feed that is called by its path nothing
 * stays long after its file has left: names with a date in them come never again.
 */
export function pruner(db: Connection, commit: Transactions['commit']): Versions['prune'] {
  // Whatever it finds, it looks at one piece only: most of a long history may have to stay.
  const next = db.query<
    [at: number, id: number, before: number, limit: number, endedBefore: number, before: number],
    { id: number; at: number; copy: string | null; isOld: number }
  >(
    `WITH piece AS MATERIALIZED (
       SELECT id, detected_at AS at FROM versions INDEXED BY versions_detected
         WHERE (detected_at, id) > (?, ?) AND detected_at < ?
         ORDER BY detected_at, id LIMIT ?)
     SELECT v.id, p.at, v.spool AS copy,
         v.state IN ${sqlStates(CLOSED)}
         AND (v.spool IS NULL
           AND NOT EXISTS (SELECT 1 FROM feeds WHERE newest = v.id)
           AND NOT EXISTS (SELECT 1 FROM feeds WHERE last_uploaded = v.id)
           AND v.id <> (SELECT coalesce(max(id), 0) FROM versions
                          WHERE feed = v.feed AND sha256 IS NOT NULL)
           OR v.feed = v.path
           AND NOT EXISTS (SELECT 1 FROM versions WHERE feed = v.feed AND id <> v.id)
           AND NOT EXISTS (SELECT 1 FROM events WHERE version = v.id AND at >= ?))
         AND NOT EXISTS (SELECT 1 FROM files WHERE version = v.id)
         AND NOT EXISTS (SELECT 1 FROM events WHERE version = v.id AND at >= ?) AS isOld
       FROM piece p CROSS JOIN versions v ON v.id = p.id ORDER BY p.at, v.id`,
  )
  const dropFeed = db.query<[newest: number]>('DELETE FROM feeds WHERE newest = ?')
  const drop = db.query<[id: number]>('DELETE FROM versions WHERE id = ?')
  const dropRefused = db.query<[before: number]>(
    'DELETE FROM requests WHERE problem IS NOT NULL AND at < ?',
  )

  return async (before, signal, { endedBefore, removeCopy } = NO_FEEDS) => {
    let pruned = 0
    let last = { at: Number.MIN_SAFE_INTEGER, id: 0 }
    while (!signal?.aborted) {
      const { rows, old } = await commit(() => {
        const rows = next.all(last.at, last.id, before, PIECE, endedBefore, before)
        const old = rows.filter(({ isOld }) => isOld === 1)
        for (const { id } of old) {
          dropFeed.run(id)
          drop.run(id)
        }
        return { rows, old }
      }, 'soon')
      for (const { copy } of old) if (copy !== null) await removeCopy(copy)
      pruned += old.length
      const end = rows.at(-1)
      if (end === undefined) break
      last = end
    }
    await commit(() => dropRefused.run(before), 'soon')
    return pruned
  }
}
