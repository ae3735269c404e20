// Owns what each path in the folder was found to be, and which paths hold a version that is not read yet.

import type { Connection } from './connection.ts'
import type { Files, Versions } from './port.ts'
import type { KnownFile } from './records.ts'
import { READING, type State, sqlStates, UNREAD } from './states.ts'
import { orNull } from './version-row.ts'

type FileRow = KnownFile['identity'] & Omit<KnownFile, 'identity'>

const FIELDS =
  'path, dev, ino, size, mtime_ns AS mtimeNs, ctime_ns AS ctimeNs, version AS versionId, missing_since AS missingSince'

export function files(db: Connection, { version }: Pick<Versions, 'version'>): Files {
  const one = db.query<[path: string], FileRow>(`SELECT ${FIELDS} FROM files WHERE path = ?`)
  const all = db.query<[], FileRow>(`SELECT ${FIELDS} FROM files ORDER BY path`)
  const know = db.query<[Omit<FileRow, 'missingSince'>]>(
    `INSERT INTO files (path, dev, ino, size, mtime_ns, ctime_ns, version)
       VALUES (@path, @dev, @ino, @size, @mtimeNs, @ctimeNs, @versionId)
       ON CONFLICT (path) DO UPDATE SET dev = excluded.dev, ino = excluded.ino,
         size = excluded.size, mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns,
         version = excluded.version, missing_since = NULL`,
  )
  const setMissing = db.query<[since: number | null, path: string]>(
    'UPDATE files SET missing_since = ? WHERE path = ?',
  )
  const unknow = db.query<[path: string]>('DELETE FROM files WHERE path = ?')
  const unread = db.query<[], { path: string; state: State }>(
    `SELECT path, state FROM versions
       WHERE state IN ${sqlStates(READING)} AND sha256 IS NULL ORDER BY id`,
  )
  const pendingAt = db.query<[path: string], { id: number }>(
    `SELECT id FROM versions INDEXED BY versions_unread
       WHERE path = ? AND sha256 IS NULL AND state IN ${sqlStates(UNREAD)} ORDER BY id DESC LIMIT 1`,
  )
  const pathsOf = db.query<[version: number], { path: string }>(
    'SELECT path FROM files WHERE version = ?',
  )
  const rejected = db.query<[], { path: string }>(
    `SELECT f.path FROM versions v CROSS JOIN files f ON f.version = v.id
       WHERE v.state = 'rejected'`,
  )

  return {
    known: (path) => orNull(one.get(path), knownFileOf),
    knownFiles: () => all.all().map(knownFileOf),
    know: ({ path, identity, versionId }) => void know.run({ ...identity, path, versionId }),
    setMissing: (path, since) => void setMissing.run(since, path),
    unknow: (path) => void unknow.run(path),
    lastVersionAt: (path) => orNull(one.get(path), ({ versionId }) => version(versionId)),
    unread: () => unread.all(),
    pendingVersionAt: (path) => orNull(pendingAt.get(path), ({ id }) => version(id)),
    pathsOf: (id) => pathsOf.all(id).map(({ path }) => path),
    rejectedFiles: () => rejected.all().map(({ path }) => path),
  }
}

function knownFileOf({ path, versionId, missingSince, ...identity }: FileRow): KnownFile {
  return { path, identity, versionId, missingSince }
}
