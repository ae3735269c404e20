// Owns what the history forgets: versions in a final state that nothing needs, and old refused requests.

import { CLOSED, sqlStates } from '../domain/states.ts'
import type { Connection } from './connection.ts'

const NO_WHOLE_FEEDS = { endedBefore: Number.MIN_SAFE_INTEGER, removeCopy: async (_: string) => {} }

/** How many versions one transaction examines, so that it takes only a few ms with its deletions. */
const PIECE = 100

/** NEXT reads one piece only, even if it finds nothing to forget, because most of a long history might have to stay. */
const NEXT = `
  WITH piece AS MATERIALIZED (
    SELECT id, detected_at AS at FROM versions INDEXED BY versions_detected
      WHERE (detected_at, id) > (@at, @id) AND detected_at < @before
      ORDER BY detected_at, id LIMIT @limit)
  SELECT v.id, p.at, v.spool AS copy,
      v.state IN ${sqlStates(CLOSED)}
      AND (v.spool IS NULL
        AND NOT EXISTS (SELECT 1 FROM feeds WHERE newest = v.id)
        AND NOT EXISTS (SELECT 1 FROM feeds WHERE last_uploaded = v.id)
        AND v.id <> (SELECT coalesce(max(id), 0) FROM versions
                       WHERE feed = v.feed AND sha256 IS NOT NULL)
        OR v.feed = v.path
        AND NOT EXISTS (SELECT 1 FROM versions WHERE feed = v.feed AND id <> v.id)
        AND NOT EXISTS (SELECT 1 FROM events WHERE version = v.id AND at >= @endedBefore))
      AND NOT EXISTS (SELECT 1 FROM files WHERE version = v.id)
      AND NOT EXISTS (SELECT 1 FROM events WHERE version = v.id AND at >= @before) AS isOld
    FROM piece p CROSS JOIN versions v ON v.id = p.id ORDER BY p.at, v.id`

export type Prune = ReturnType<typeof pruner>

/**
 * pruner returns a function that forgets versions in a final state older than `before` (wall ms) and returns their
 * number. It works in small steps and ends after the current step when the signal aborts.
 *
 * Each feed keeps its newest version, its newest version with known bytes, and its last uploaded version. Any version
 * stays while a known file is this version (otherwise that file would count as new and be sent again), while the spool
 * has its bytes, and while it has an event since `before`.
 *
 * A feed that is named by its path and has one version is forgotten completely when its file has left and the version
 * had no event since `endedBefore` (wall ms), because a dated file name never comes again. `removeCopy` then removes
 * the version's copy from the spool.
 */
export function pruner(db: Connection, commit: <T>(work: () => T, when?: 'soon') => Promise<T>) {
  return async (
    before: number,
    signal?: AbortSignal,
    { endedBefore, removeCopy } = NO_WHOLE_FEEDS,
  ): Promise<number> => {
    let pruned = 0
    let last = { at: Number.MIN_SAFE_INTEGER, id: 0 }
    while (!signal?.aborted) {
      const { rows, old } = await commit(() => {
        const rows = db.rows<{ id: number; at: number; copy: string | null; isOld: number }>(NEXT, {
          before,
          endedBefore,
          limit: PIECE,
          at: last.at,
          id: last.id,
        })
        const old = rows.filter(({ isOld }) => isOld === 1)
        for (const { id } of old) {
          db.run('DELETE FROM feeds WHERE newest = ?', id)
          db.run('DELETE FROM versions WHERE id = ?', id)
        }
        return { rows, old }
      }, 'soon')
      for (const { copy } of old) if (copy !== null) await removeCopy(copy)
      pruned += old.length
      const end = rows.at(-1)
      if (end === undefined) break
      last = end
    }
    const dropRefused = 'DELETE FROM requests WHERE reason IS NOT NULL AND at < ?'
    await commit(() => db.run(dropRefused, before), 'soon')
    return pruned
  }
}
