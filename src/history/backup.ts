// Owns the copy of the history that a person puts away: made by SQLite's online backup, so that a daemon goes on
// writing meanwhile, checked, and renamed into its place.

import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { openReadOnly, syncDirectory } from './connection.ts'
import { databaseError, fileError } from './database-error.ts'

/** All pages in one step: in several ones, each write of the daemon would begin the copy anew. */
const ALL_PAGES = 2 ** 31 - 1

/**
 * Copies the database `file` to `to`, mode 0600, in place of what is there, and answers the copy's size in bytes. Throws
 * `FeedsyncError` where there is no history, where the copy cannot be written, or where it is damaged; nothing is left
 * of a copy that failed.
 */
export async function backUp(file: string, to: string): Promise<number> {
  const target = resolve(to)
  const part = `${target}.part`
  using history = openReadOnly(file)
  if (history === null) {
    const hint = 'look at state.directory: the history begins with the first run of the daemon'
    throw new FeedsyncError(`there is no history to copy: ${file} does not exist`, { hint })
  }
  if (statSync(target, { throwIfNoEntry: false })?.isFile() === false) {
    const hint = 'name a file, such as /var/backups/feedsyncd.db'
    throw new FeedsyncError(`${target} is no file`, { hint, exitCode: EXIT.usage })
  }
  try {
    rmSync(part, { force: true })
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

/** Throws where SQLite finds a fault in it. It is one file afterwards, durable, that any SQLite opens. */
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
