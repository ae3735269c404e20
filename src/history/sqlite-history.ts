// Composes the history out of its parts: what opens, what migrates, what reads, what writes.

import type { Clock } from '../lib/clock.ts'
import { systemClock } from '../lib/clock.ts'
import { type Log, silentLog } from '../lib/log.ts'
import { type Connection, openReadOnly, openWritable } from './connection.ts'
import { deliveryWrites } from './delivery-writes.ts'
import { assertNotNewer, migrate, schemaVersion } from './migrations.ts'
import type { History, HistoryReader } from './port.ts'
import { pruner } from './pruning.ts'
import { reads } from './reads.ts'
import { recordWrites } from './record-writes.ts'
import { versionWrites } from './version-writes.ts'

export interface HistoryOptions {
  /** Path of the database; its directory is made (0750) where it is missing. */
  file: string
  log?: Log
  /** Only for how long a migration took. */
  clock?: Clock
}

/**
 * Opens the history for writing, in the daemon or beside it: commands like `release` do so while the
 * daemon runs. Waits up to 5 s for another process's transaction. Throws `FeedsyncError` when the
 * database cannot be opened, is damaged, or was written by a newer feedsyncd.
 */
export function openHistory({
  file,
  log = silentLog,
  clock = systemClock,
}: HistoryOptions): History {
  const connection = openWritable(file)
  try {
    const startedAt = clock.monotonic()
    const applied = migrate(connection)
    if (applied.length > 0) {
      log.info({ file, applied, ms: Math.round(clock.monotonic() - startedAt) }, 'history migrated')
    }
    return historyOn(connection)
  } catch (error) {
    connection[Symbol.dispose]()
    throw error
  }
}

/**
 * Opens the history for reading, for one answer; null where there is none yet. Works while the daemon
 * runs, after a crash, and for a user who may read but not write. Throws `FeedsyncError`.
 */
export function openHistoryReader({ file }: { file: string }): HistoryReader | null {
  const connection = openReadOnly(file)
  if (connection === null) return null
  try {
    assertNotNewer(connection)
    if (schemaVersion(connection) > 0) {
      return { ...reads(connection), [Symbol.dispose]: () => connection[Symbol.dispose]() }
    }
  } catch (error) {
    connection[Symbol.dispose]()
    throw error
  }
  connection[Symbol.dispose]()
  return null
}

/** The history over a connection whose schema is current. It owns the connection. */
export function historyOn(connection: Connection): History {
  const questions = reads(connection)
  const versions = versionWrites(connection, questions)
  return {
    ...questions,
    ...versions,
    ...deliveryWrites(connection, versions),
    ...recordWrites(connection, questions),
    prune: pruner(connection),
    atomically: (work) => connection.atomically(work),
    foreignChanges: () => Number(connection.pragma('data_version')),
    // SQLite itself moves the WAL into the file when the last connection closes.
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  }
}
