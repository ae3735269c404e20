// Owns which version each path in the folder is, and which paths have a version that is not read yet.

import { OLDER } from '../domain/reason-codes.ts'
import { READING, type State, sqlStates, UNREAD } from '../domain/states.ts'
import type { Connection } from './connection.ts'
import type { KnownFile, MovedFile, Version } from './rows.ts'
import type { VersionReads } from './version-reads.ts'

type FileRow = KnownFile['identity'] & Omit<KnownFile, 'identity'>

const FILES = `SELECT path, dev, ino, size, mtime_ns AS mtimeNs, ctime_ns AS ctimeNs, version AS versionId,
  missing_since AS missingSince FROM files`

const UNREAD_AT = `SELECT id FROM versions INDEXED BY versions_unread
  WHERE path = ? AND sha256 IS NULL AND state IN ${sqlStates(UNREAD)} ORDER BY id DESC LIMIT 1`

export type Files = ReturnType<typeof files>

export function files(db: Connection, { version }: VersionReads) {
  const versionAt = (id: number | null): Version | null => (id === null ? null : version(id))
  return {
    known: (path: string): KnownFile | null => {
      const row = db.row<FileRow>(`${FILES} WHERE path = ?`, path)
      return row && knownFileOf(row)
    },

    knownFiles: () => db.rows<FileRow>(`${FILES} ORDER BY path`).map(knownFileOf),

    /** rememberPath records which version the file at a path is. */
    rememberPath: ({ path, identity, versionId }: Omit<KnownFile, 'missingSince'>) =>
      void db.run(
        'REPLACE INTO files VALUES (@path, @dev, @ino, @size, @mtimeNs, @ctimeNs, @versionId, NULL)',
        { ...identity, path, versionId },
      ),

    /**
     * setMissing records since when (wall ms) a file is missing; null means the file is back. A feed that a person
     * forgot is shown again once a file of it is back.
     */
    setMissing: (path: string, since: number | null): void => {
      db.run('UPDATE files SET missing_since = ? WHERE path = ?', since, path)
      const sql = `UPDATE feeds SET forgotten_at = NULL WHERE forgotten_at IS NOT NULL AND name =
         (SELECT v.feed FROM files f JOIN versions v ON v.id = f.version WHERE f.path = ?)`
      if (since === null) db.run(sql, path)
    },

    /** pathOf returns the path of a file in the folder that is a version of this feed, or null. */
    pathOf: (feed: string) =>
      db.value<string>(
        `SELECT f.path FROM files f CROSS JOIN versions v ON v.id = f.version
           WHERE f.missing_since IS NULL AND v.feed = ? LIMIT 1`,
        feed,
      ),

    /** rememberMoved records what became of the file at a path. Records older than `before` (wall ms) are removed. */
    rememberMoved: (moved: MovedFile, before: number): void =>
      db.joinTransaction(() => {
        db.run('DELETE FROM moved_files WHERE at < ?', before)
        db.run('REPLACE INTO moved_files VALUES (@path, @versionId, @disposition, @at)', {
          ...moved,
        })
      }),

    /** movedFile returns what became of the last file at a path that the daemon moved or deleted, or null. */
    movedFile: (path: string) =>
      db.row<MovedFile>(
        'SELECT path, version AS versionId, disposition, at FROM moved_files WHERE path = ?',
        path,
      ),

    forgetPath: (path: string) => void db.run('DELETE FROM files WHERE path = ?', path),

    /** lastVersionAt returns the version of the file at a path, or null while that is not known. */
    lastVersionAt: (path: string) =>
      versionAt(db.value<number>('SELECT version FROM files WHERE path = ?', path)),

    /** unread returns the `settling`, `incomplete` and `checking` versions without known bytes, oldest first. */
    unread: () =>
      db.rows<{ path: string; state: State }>(
        `SELECT path, state FROM versions
           WHERE state IN ${sqlStates(READING)} AND sha256 IS NULL ORDER BY id`,
      ),

    /** unreadAt returns the version at a path whose bytes are not known yet; it can be `gone`. */
    unreadAt: (path: string) => versionAt(db.value<number>(UNREAD_AT, path)),

    pathsOf: (id: number) => db.values<string>('SELECT path FROM files WHERE version = ?', id),

    /** datedPaths returns the files in the folder of each feed whose file names have dates, newest name first. */
    datedPaths: (): Map<string, string[]> => {
      const sql = `SELECT v.feed, f.path FROM files f CROSS JOIN versions v ON v.id = f.version
         WHERE f.missing_since IS NULL AND v.date IS NOT NULL ORDER BY f.path DESC`
      const rows = Map.groupBy(db.rows<{ feed: string; path: string }>(sql), ({ feed }) => feed)
      return new Map([...rows].map(([feed, all]) => [feed, all.map(({ path }) => path)]))
    },

    /** missingSince returns, by version id, the wall ms at which the last file of a version went missing. */
    missingSince: (): Map<number, number> => {
      const sql = `SELECT version, max(missing_since) AS since FROM files f WHERE missing_since IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM files o WHERE o.version = f.version AND o.missing_since IS NULL)
         GROUP BY version`
      const rows = db.rows<{ version: number; since: number }>(sql)
      return new Map(rows.map(({ version, since }) => [version, since]))
    },

    /**
     * ruledFiles returns the files in the folder whose versions might get another judgement from other rules: they are
     * older by date than another version, or held by the guard `second-feed`.
     */
    ruledFiles: () =>
      db.values<string>(
        `SELECT f.path FROM files f CROSS JOIN versions v ON v.id = f.version
           WHERE f.missing_since IS NULL AND (v.reason_code = '${OLDER}' OR v.guard = 'second-feed')`,
      ),

    rejectedFiles: () =>
      db.values<string>(
        `SELECT f.path FROM versions v CROSS JOIN files f ON f.version = v.id
           WHERE v.state = 'rejected'`,
      ),
  }
}

function knownFileOf({ path, versionId, missingSince, ...identity }: FileRow): KnownFile {
  return { path, identity, versionId, missingSince }
}
