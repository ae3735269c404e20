// Owns the small texts that other parts of the program keep here.

import type { Connection } from './connection.ts'

/** The last id of what was uploaded to another service than the present one. */
export const OTHER_SERVICE_UP_TO = 'other service up to'

export type Notes = ReturnType<typeof notes>

export function notes(db: Connection) {
  return {
    /** null where there is none. */
    note: (name: string) => db.value<string>('SELECT value FROM notes WHERE name = +?', name),

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
  }
}
