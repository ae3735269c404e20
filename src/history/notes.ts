// Owns the small texts that other parts of the program keep here, and the daemon's own record.

import { FeedsyncError } from '../lib/errors.ts'
import type { Connection } from './connection.ts'
import type { DaemonRecord } from './port.ts'

export type Notes = ReturnType<typeof notes>

export function notes(db: Connection) {
  const daemon = () =>
    JSON.parse(db.value('SELECT record FROM daemon WHERE id = 1') ?? 'null') as DaemonRecord | null
  const setDaemon = (record: DaemonRecord) =>
    void db.run('REPLACE INTO daemon VALUES (1, ?)', JSON.stringify(record))
  return {
    /** null where there is none. */
    note: (name: string) => db.value<string>('SELECT value FROM notes WHERE name = ?', name),

    notes: (prefix: string) =>
      db.values<string>(
        'SELECT name FROM notes WHERE substr(name, 1, length(@prefix)) = @prefix ORDER BY name',
        { prefix },
      ),

    /** null removes it. */
    setNote: (name: string, value: string | null): void => {
      if (value === null) db.run('DELETE FROM notes WHERE name = ?', name)
      else db.run('REPLACE INTO notes VALUES (?, ?)', name, value)
    },

    daemon,
    setDaemon,
    updateDaemon: (patch: Partial<DaemonRecord>): void =>
      db.atomically(() => {
        const present = daemon()
        if (present === null) throw new FeedsyncError('no daemon has written its record yet')
        setDaemon({ ...present, ...patch })
      }),
  }
}
