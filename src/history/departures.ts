// Owns which files are leaving the folder, so that the next start completes a move that a crash interrupted.

import type { Departure } from '../domain/departure.ts'
import type { Connection } from './connection.ts'

type DepartureRow = Departure['identity'] & Omit<Departure, 'identity'>

export function departures(db: Connection) {
  return {
    departures: () =>
      db
        .rows<DepartureRow>(
          `SELECT token, path, dev, ino, size, mtime_ns AS mtimeNs, ctime_ns AS ctimeNs, disposition, sha256
             FROM departures`,
        )
        .map(departureOf),

    beginDeparture: ({ identity, token, path, disposition, sha256 }: Departure): void =>
      void db.run(
        `INSERT INTO departures VALUES
           (@token, @path, @dev, @ino, @size, @mtimeNs, @ctimeNs, @disposition, @sha256)`,
        { ...identity, token, path, disposition, sha256 },
      ),

    endDeparture: (token: string): void =>
      void db.run('DELETE FROM departures WHERE token = ?', token),
  }
}

function departureOf({ token, path, disposition, sha256, ...identity }: DepartureRow): Departure {
  return { token, path, disposition, sha256, identity }
}
