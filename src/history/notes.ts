// Owns the small texts that other parts of the program keep here, and the daemon's own record.

import { FeedsyncError } from '../lib/errors.ts'
import type { Connection } from './connection.ts'
import type { Notes } from './port.ts'
import type { DaemonRecord } from './records.ts'
import { orNull } from './version-row.ts'

export function notes(db: Connection): Notes {
  const one = db.query<[name: string], { value: string }>('SELECT value FROM notes WHERE name = ?')
  const names = db.query<[prefix: string, prefix: string], { name: string }>(
    'SELECT name FROM notes WHERE substr(name, 1, length(?)) = ? ORDER BY name',
  )
  const set = db.query<[name: string, value: string]>(
    `INSERT INTO notes (name, value) VALUES (?, ?)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  )
  const drop = db.query<[name: string]>('DELETE FROM notes WHERE name = ?')
  const record = db.query<[], { record: string }>('SELECT record FROM daemon WHERE id = 1')
  const setRecord = db.query<[record: string]>(
    `INSERT INTO daemon (id, record) VALUES (1, ?)
       ON CONFLICT (id) DO UPDATE SET record = excluded.record`,
  )

  const daemon = () => orNull(record.get(), (row) => JSON.parse(row.record) as DaemonRecord)
  const setDaemon = (value: DaemonRecord) => void setRecord.run(JSON.stringify(value))
  return {
    ...{ daemon, setDaemon },
    updateDaemon: (patch) =>
      db.atomically(() => {
        const present = daemon()
        if (present === null) throw new FeedsyncError('no daemon has written its record yet')
        setDaemon({ ...present, ...patch })
      }),
    note: (name) => one.get(name)?.value ?? null,
    notes: (prefix) => names.all(prefix, prefix).map(({ name }) => name),
    setNote: (name, value) => void (value === null ? drop.run(name) : set.run(name, value)),
  }
}
