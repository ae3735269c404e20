// Owns which files are leaving the folder. After a crash, only these count as partly moved: a name proves nothing.

import type { FileIdentity } from '../lib/files.ts'
import type { Connection } from './connection.ts'
import type { MovedFile } from './rows.ts'

/** LeavingFile is a file that is being moved out of the folder or deleted. */
export interface LeavingFile extends Pick<MovedFile, 'path' | 'disposition'> {
  identity: FileIdentity
  /** SHA-256 of the feed in the file, lower-case hexadecimal; null if it was not read to its end. */
  sha256: string | null
  /** A part of the temporary name. */
  token: string
}

type DepartureRow = FileIdentity & Omit<LeavingFile, 'identity'>

export type Departures = ReturnType<typeof departures>

export function departures(db: Connection) {
  return {
    departures: () =>
      db
        .rows<DepartureRow>(
          `SELECT token, path, dev, ino, size, mtime_ns AS mtimeNs, ctime_ns AS ctimeNs, disposition, sha256
             FROM departures`,
        )
        .map(leavingFileOf),

    beginDeparture: ({ identity, token, path, disposition, sha256 }: LeavingFile): void =>
      void db.run(
        `INSERT INTO departures VALUES
           (@token, @path, @dev, @ino, @size, @mtimeNs, @ctimeNs, @disposition, @sha256)`,
        { ...identity, token, path, disposition, sha256 },
      ),

    endDeparture: (token: string): void =>
      void db.run('DELETE FROM departures WHERE token = ?', token),
  }
}

function leavingFileOf({
  token,
  path,
  disposition,
  sha256,
  ...identity
}: DepartureRow): LeavingFile {
  return { token, path, disposition, sha256, identity }
}
