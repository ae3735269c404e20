// Owns "one daemon per state directory": a lock that the kernel drops with the process, however it
// ends. No pid file, nothing to clean up.

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

/** Held until disposed or until the process ends. Keep a reference: a collected one lets go. */
export interface InstanceLock extends Disposable {
  /** Somebody deleted or replaced the file: another process may hold the lock as well. */
  isLost(): boolean
}

/** A look of `status` at the lock lasts microseconds; a start waits this long for it to pass. */
const PATIENCE_MS = 1000
/** A daemon whose lock was deleted sees it within a second, and ends what it sends. */
const LOSS_SEEN_MS = 3000

/**
 * Takes the lock of a state directory, or answers null when another process holds it (after waiting
 * 1 s). It is an open transaction on an empty SQLite file, hence an fcntl lock. Makes the directory.
 * Throws `FeedsyncError` when the file cannot be made or locked.
 */
export function acquireLock(directory: string): InstanceLock | null {
  const file = lockFile(directory)
  // Beside a history that is missing only where somebody deleted it.
  const wasDeleted = !exists(file) && exists(join(resolve(directory), 'feedsyncd.db'))
  createPrivately(file, 0o640)
  using opening = new DisposableStack()
  const connection = opening.use(connect(file, file, { timeout: PATIENCE_MS }))
  if (!begins(connection, 'BEGIN EXCLUSIVE')) return null
  if (wasDeleted) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOSS_SEEN_MS)
  const isThere = watched(file)
  opening.move()
  return {
    isLost: () => !isThere(),
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  }
}

/**
 * Whether a process holds the lock: a read lock is asked for and given back at once, so read access to
 * the file is enough. False where no daemon ever ran. Throws `FeedsyncError` for a user who may not even
 * read it, since neither answer would be known to be true.
 */
export function isLocked(directory: string): boolean {
  const file = lockFile(directory)
  if (!exists(file)) return false
  using connection = connect(file, file, { readonly: true, timeout: 0 })
  return !begins(connection, 'SELECT 1 FROM sqlite_schema')
}

/** False when another process is in the way. */
function begins(connection: Connection, sql: string): boolean {
  try {
    connection.script(sql)
    return true
  } catch (error) {
    if (errorCode(error)?.startsWith('SQLITE_BUSY')) return false
    throw error
  }
}
