// Owns the small tables beside the versions: known files, the daemon's own row, the requests of
// `feedsyncd upload`, and notes.

import { FeedsyncError } from '../lib/errors.ts'
import type { Connection } from './connection.ts'
import type { History, State, UploadRequest } from './port.ts'
import type { FileRow, Reads } from './reads.ts'

export type RecordWrites = Pick<
  History,
  | 'know'
  | 'unknow'
  | 'setDaemon'
  | 'updateDaemon'
  | 'addRequest'
  | 'answerRequest'
  | 'note'
  | 'notes'
  | 'setNote'
  | 'spooled'
  | 'forgetApprovals'
  | 'lastId'
  | 'unread'
  | 'unreadAt'
  | 'rejectedFiles'
>

export function recordWrites(db: Connection, { daemon, request, version }: Reads): RecordWrites {
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
  const note = db.query<[name: string], { value: string }>('SELECT value FROM notes WHERE name = ?')
  const notes = db.query<[prefix: string, prefix: string], { name: string }>(
    'SELECT name FROM notes WHERE substr(name, 1, length(?)) = ? ORDER BY name',
  )
  const setNote = db.query<[name: string, value: string]>(
    'INSERT INTO notes VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  )
  const spooled = db.query<[feed: string], { id: number; state: State; spool: string }>(
    `SELECT id, state, spool FROM versions INDEXED BY versions_spooled
       WHERE feed = ? AND spool IS NOT NULL ORDER BY id DESC`,
  )
  const unread = db.query<[], { path: string; state: State }>(
    `SELECT path, state FROM versions
       WHERE state IN ('settling', 'incomplete', 'checking') AND sha256 IS NULL ORDER BY id`,
  )
  const unreadAt = db.query<[path: string], { id: number }>(
    `SELECT id FROM versions INDEXED BY versions_unread
       WHERE path = ? AND sha256 IS NULL AND state IN ('settling', 'incomplete', 'checking', 'gone')
       ORDER BY id DESC LIMIT 1`,
  )
  const rejectedFiles = db.query<[], { path: string }>(
    `SELECT f.path FROM versions v CROSS JOIN files f ON f.version = v.id
       WHERE v.state = 'rejected'`,
  )
  const forgetApprovals = db.query(
    'UPDATE versions INDEXED BY versions_approved SET approved = 0 WHERE approved = 1',
  )
  const lastId = db.query<[], { seq: number }>(
    `SELECT seq FROM sqlite_sequence WHERE name = 'versions'`,
  )
  const dropNote = db.query<[name: string]>('DELETE FROM notes WHERE name = ?')

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
    unread: () => unread.all(),
    unreadAt: (path) => {
      const found = unreadAt.get(path)
      return found === undefined ? null : version(found.id)
    },
    rejectedFiles: () => rejectedFiles.all().map(({ path }) => path),
    forgetApprovals: () => {
      forgetApprovals.run()
    },
    lastId: () => lastId.get()?.seq ?? 0,
    spooled: (feed) => spooled.all(feed),
    note: (name) => note.get(name)?.value ?? null,
    notes: (prefix) => notes.all(prefix, prefix).map(({ name }) => name),
    setNote: (name, value) => {
      if (value === null) dropNote.run(name)
      else setNote.run(name, value)
    },
  }
}
