// Owns "one daemon per state directory": a lock that the kernel releases when the process ends in any way. There is no
// pid file, and nothing to clean up.

import { join, resolve } from 'node:path'
import { errorCode } from '../lib/errors.ts'
import {
  type Connection,
  connect,
  createPrivately,
  exists,
  lockFile,
  watched,
} from './connection.ts'

/** InstanceLock is held until it is disposed or its process ends. Keep a reference: garbage collection releases it. */
export interface InstanceLock extends Disposable {
  /** isLost returns whether somebody deleted or replaced the file. Another process might then hold the lock as well. */
  isLost(): boolean
}

/** How long a start waits for the lock. `status` holds it for microseconds, to see whether a daemon has it. */
const PATIENCE_MS = 1000
/**
 * How long a start waits after somebody deleted the lock file. The daemon that held the lock sees this within a second
 * and then ends its uploads.
 */
const LOSS_SEEN_MS = 3000

/**
 * acquireLock takes the lock of a state directory and makes the directory. Returns null when another process still
 * holds the lock after 1 s. If somebody deleted the lock file, it blocks the thread for 3 s. The lock is an open
 * transaction on an empty SQLite file, hence an fcntl lock. Throws `FeedsyncError` when the file cannot be made or
 * locked.
 */
export function acquireLock(directory: string): InstanceLock | null {
  const file = lockFile(directory)
  // Each history is made together with its lock file, so a lock missing beside a history was deleted.
  const wasDeleted = !exists(file) && exists(join(resolve(directory), 'feedsyncd.db'))
  createPrivately(file, 0o640)
  using opening = new DisposableStack()
  const connection = opening.use(connect(file, file, { timeout: PATIENCE_MS }))
  if (!tryRun(connection, 'BEGIN EXCLUSIVE')) return null
  if (wasDeleted) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOSS_SEEN_MS)
  const isThere = watched(file)
  opening.move()
  return {
    isLost: () => !isThere(),
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  }
}

/**
 * isLocked returns whether a process holds the lock. It asks for a read lock and releases it at once, so read access to
 * the file is enough. Returns false when no daemon ever ran. Throws `FeedsyncError` if the lock cannot be read, because
 * either answer could be wrong.
 */
export function isLocked(directory: string): boolean {
  const file = lockFile(directory)
  if (!exists(file)) return false
  using connection = connect(file, file, { readonly: true, timeout: 0 })
  return !tryRun(connection, 'SELECT 1 FROM sqlite_schema')
}

/** tryRun runs a statement that needs a lock. Returns false when another connection holds the lock. */
export function tryRun(connection: Connection, sql: string): boolean {
  try {
    connection.script(sql)
    return true
  } catch (error) {
    if (errorCode(error)?.startsWith('SQLITE_BUSY')) return false
    throw error
  }
}
