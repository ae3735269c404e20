// Composes the history from its parts: connection, migrations, tables, shared commits, pruning.

import { dirname } from 'node:path'
import { ConditionError } from '../domain/conditions.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { EXIT, errorCode, FeedsyncError } from '../lib/errors.ts'
import { type Log, silentLog } from '../lib/log.ts'
import {
  type Connection,
  LOG_LIMIT,
  lockFile,
  openReadOnly,
  openWritable,
  watched,
} from './connection.ts'
import { GroupCommit } from './group-commit.ts'
import { APPLICATION, migrate, schemaVersion } from './migrations.ts'
import type { History } from './port.ts'
import { pruner } from './pruning.ts'
import { stateMark } from './state-mark.ts'
import { tables } from './tables.ts'

interface HistoryOptions {
  /** Path of the database. A missing directory is made (0750). */
  file: string
  log?: Log
  clock?: Clock
  /**
   * The longest time in ms that a call waits for the transaction of another process, once the history is open. The
   * default of 5 s suits a command. A daemon needs a shorter wait, because the wait blocks its thread. `commit` never
   * blocks the thread for it.
   */
  busyTimeoutMs?: number
  /** If true, a missing database is an error with the exit code 78. */
  isExpected?: boolean
}

/**
 * openHistory opens the history for writing, in the daemon or in a command such as `release` while the daemon runs. It
 * creates a missing database and applies missing migrations. It waits up to 5 s for the transaction of another process.
 * Throws `FeedsyncError` when the database cannot be opened, is damaged, or was written by a newer feedsyncd.
 */
export function openHistory({
  file,
  log = silentLog,
  clock = systemClock,
  busyTimeoutMs,
  isExpected = false,
}: HistoryOptions): History {
  if (isExpected) requireHistory(file)
  using opening = new DisposableStack()
  const connection = opening.use(openWritable(file))
  const startedAt = clock.monotonic()
  const applied = migrate(connection)
  if (applied.length > 0) {
    const ms = Math.round(clock.monotonic() - startedAt)
    log.info({ event: 'history.migrated', file, applied, ms }, 'history migrated')
  }
  if (busyTimeoutMs !== undefined) connection.pragma(`busy_timeout = ${busyTimeoutMs}`)
  const history = historyOn(connection, clock)
  opening.move()
  return history
}

/** requireHistory throws `FeedsyncError` (78) unless the file is a history that a daemon has used. */
function requireHistory(file: string): void {
  if (isHistory(file)) return
  throw new FeedsyncError(`there is no history at ${file}, and state.expectHistory requires one`, {
    hint: 'mount its disk, or put a backup there; without a backup, remove state.expectHistory: then no guard compares the first version of each feed',
    exitCode: EXIT.config,
  })
}

/** isHistory returns whether the file has our application id, our tables and the mark of a daemon's first start. */
function isHistory(file: string): boolean {
  try {
    using connection = openReadOnly(file)
    return (
      connection !== null &&
      connection.pragma('application_id') === APPLICATION &&
      schemaVersion(connection) > 0 &&
      stateMark(connection, file).madeAt() !== null
    )
  } catch (error) {
    // A file that is not a database is not a history. The caller gets any other error.
    if (errorCode(error) === 'SQLITE_NOTADB') return false
    throw error
  }
}

/** historyOn returns the history over a connection with the current schema. The history then owns the connection. */
export function historyOn(connection: Connection, clock = systemClock): History {
  const group = new GroupCommit(connection, clock)
  return {
    ...tables(connection),
    prune: pruner(connection, (work, when) => group.add(work, when)),
    atomically: (work) => connection.atomically(work),
    afterCommit: (step) => connection.afterCommit(step),
    commit: (work, when) => group.add(work, when),
    lost: lossOf(connection.file),
    mark: stateMark(connection, connection.file),
    keepLogSmall: (): number => {
      if (connection.logBytes() > LOG_LIMIT) connection.shrinkLog()
      return connection.logBytes()
    },
    dataVersion: () => Number(connection.pragma('data_version')),
    // SQLite itself moves the WAL into the file when the last connection closes.
    [Symbol.dispose]: () => {
      group.close()
      connection[Symbol.dispose]()
    },
  }
}

/**
 * lossOf returns a check that says whether the database file or a file beside it was deleted, replaced or moved away;
 * null if not. SQLite does not see this and goes on writing to a file that nobody will open again. The check is cheap
 * enough for each second and each delivery.
 */
function lossOf(file: string): () => FeedsyncError | null {
  const paths = [file, `${file}-wal`, `${file}-shm`, lockFile(dirname(file))]
  const files = paths.map((path) => ({ path, isThere: watched(path) }))
  return () => {
    const lost = files.find(({ isThere }) => !isThere())
    if (lost === undefined) return null
    const message = `${lost.path} was deleted, replaced or moved away while feedsyncd ran`
    const hint =
      lost.path === file
        ? 'put it back, or a backup, then start feedsyncd'
        : 'leave the files beside the database alone, and start feedsyncd again'
    return new ConditionError('database-lost', message, { exitCode: EXIT.config, hint })
  }
}
