// Owns small texts that other parts of the program store under a name.

import type { Connection } from './connection.ts'

export type Notes = ReturnType<typeof notes>

export function notes(db: Connection) {
  return {
    note: (name: string) => db.value<string>('SELECT value FROM notes WHERE name = +?', name),

    /** notes returns all names that begin with `prefix`. */
    notes: (prefix: string) =>
      db.values<string>(
        'SELECT name FROM notes WHERE name >= @prefix AND name < @prefix || char(1114111) ORDER BY name',
        { prefix },
      ),

    /** setNote stores a text under a name; null removes it. */
    setNote: (name: string, value: string | null): void => {
      if (value === null) db.run('DELETE FROM notes WHERE name = ?', name)
      else db.run('REPLACE INTO notes VALUES (?, ?)', name, value)
    },
  }
}
