// Owns the small tables beside the versions: known files, the daemon's own row, requests of
// `feedsyncd upload`; and pruning.

import { FeedsyncError } from '../lib/errors.ts'
import type { Connection } from './connection.ts'
import type { History, UploadRequest } from './port.ts'
import type { FileRow, Reads } from './reads.ts'
import { SETTLED_STATES } from './states.ts'

/** Small enough that a command of another process gets its turn between two of them. */
const PRUNE_BATCH = 500

export type LedgerWrites = Pick<
  History,
  'know' | 'unknow' | 'setDaemon' | 'updateDaemon' | 'addRequest' | 'answerRequest' | 'prune'
>

export function ledgerWrites(db: Connection, { daemon, request }: Reads): LedgerWrites {
  const know = db.query<[FileRow]>(
    `INSERT INTO files (path, dev, ino, size, mtime_ns, ctime_ns, version)
       VALUES (@path, @dev, @ino, @size, @mtimeNs, @ctimeNs, @versionId)
       ON CONFLICT (path) DO UPDATE SET dev = excluded.dev, ino = excluded.ino,
         size = excluded.size, mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns,
         version = excluded.version`,
  )
  const unknow = db.query<[path: string]>('DELETE FROM files WHERE path = ?')
  const setDaemon = db.query<[record: string]>(
    `INSERT INTO daemon (id, record) VALUES (1, ?)
       ON CONFLICT (id) DO UPDATE SET record = excluded.record`,
  )
  const addRequest = db.query<[Pick<UploadRequest, 'path' | 'source' | 'feed' | 'at'>]>(
    'INSERT INTO requests (path, source, feed, at) VALUES (@path, @source, @feed, @at)',
  )
  const answerRequest = db.query<[version: number | null, problem: string | null, id: number]>(
    'UPDATE requests SET version = ?, problem = ? WHERE id = ?',
  )

  return {
    know: ({ path, identity, versionId }) => {
      know.run({ ...identity, path, versionId })
    },
    unknow: (path) => {
      unknow.run(path)
    },
    setDaemon: (record) => {
      setDaemon.run(JSON.stringify(record))
    },
    updateDaemon: (patch) =>
      db.atomically(() => {
        const record = daemon()
        if (record === null) throw new FeedsyncError('no daemon has written its record yet')
        setDaemon.run(JSON.stringify({ ...record, ...patch }))
      }),
    addRequest: (file) => {
      const { id } = addRequest.run(file)
      return { id, ...file, versionId: null, problem: null }
    },
    answerRequest: (id, answer) =>
      db.atomically(() => {
        if (request(id) === null) throw new FeedsyncError(`there is no request ${id}`)
        if ('versionId' in answer) answerRequest.run(answer.versionId, null, id)
        else answerRequest.run(null, answer.problem, id)
      }),
    prune: pruner(db),
  }
}

/**
 * Besides each feed's newest, newest with known bytes, and last uploaded, a version stays while a file
 * in the folder is known as it (else that file would count as new and be sent again), while its bytes
 * are in the spool, and while anything happened to it since.
 */
function pruner(db: Connection): (before: number) => number {
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
