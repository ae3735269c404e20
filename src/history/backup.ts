// Owns the backup of the history. SQLite's online backup makes it while the daemon goes on writing; the finished copy
// is checked and then renamed to its final name.

import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { openReadOnly, syncDirectory } from './connection.ts'
import { databaseError, fileError } from './database-error.ts'

/** The backup copies all pages in one step. With several steps, each write of the daemon would restart the copy. */
const ALL_PAGES = 2 ** 31 - 1

/**
 * backUp copies the database `file` to `to` with mode 0600 and returns the size of the copy in bytes. It replaces an
 * existing file. Throws `FeedsyncError` when there is no history, or when the copy is damaged or cannot be written; it
 * then removes the unfinished copy.
 */
export async function backUp(file: string, to: string): Promise<number> {
  const target = resolve(to)
  // Two backups to one target each have their own part; both are whole, and the last one stays.
  const part = `${target}.${randomUUID()}.part`
  using history = openReadOnly(file)
  if (history === null) {
    const hint = 'look at state.directory: the history begins with the first run of the daemon'
    throw new FeedsyncError(`there is no history to copy: ${file} does not exist`, { hint })
  }
  if (statSync(target, { throwIfNoEntry: false })?.isFile() === false) {
    const hint = 'name a file, such as /var/backups/feedsyncd.db'
    throw new FeedsyncError(`${target} is not a file`, { hint, exitCode: EXIT.usage })
  }
  try {
    closeSync(openSync(part, 'wx', 0o600))
    await history.backUp(part, ALL_PAGES)
    checkCopy(part)
    renameSync(part, target)
    syncDirectory(dirname(target))
    return statSync(target).size
  } catch (error) {
    rmSync(part, { force: true })
    throw fileError(databaseError(error, target), target)
  }
}

/** checkCopy makes the copy one durable file that any SQLite can open. Throws when SQLite finds a fault in it. */
function checkCopy(path: string): void {
  const copy = new Database(path)
  try {
    copy.pragma('journal_mode = DELETE')
    const found = copy.pragma('integrity_check', { simple: true })
    if (found !== 'ok') {
      const hint = 'check the disks of the history and of the copy: feedsyncd doctor'
      throw new FeedsyncError(`the copy is damaged: ${String(found)}`, { hint })
    }
  } finally {
    copy.close()
  }
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
