// Owns the backup of the history. SQLite's online backup copies the database while the daemon goes on writing. The
// finished copy is checked and then renamed to its final name.

import { randomUUID } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { commandFor, hintWith } from '../domain/command.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { connect, exists, openReadOnly, syncDirectory } from './connection.ts'
import { databaseError, fileError } from './database-error.ts'
import { tryRun } from './instance-lock.ts'

/** The backup copies all pages in one step, because each write of the daemon restarts a copy in several steps. */
const ALL_PAGES = 2 ** 31 - 1

/**
 * backUp copies the database `file` to `to` with mode 0600 and returns the size of the copy in bytes. It replaces an
 * existing file. Throws `FeedsyncError` when there is no history, when another backup to `to` runs (75), or when the
 * copy is damaged or cannot be written; it then removes the unfinished copy.
 */
export async function backUp(file: string, to: string): Promise<number> {
  const target = resolve(to)
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
  using _claim = claim(target)
  try {
    using copy = createCopy(part)
    await history.backUp(part, ALL_PAGES)
    finishCopy(part)
    fsyncSync(copy.handle)
    // Another user of the directory might have put another file in the place of the copy that was checked.
    copy.refuseOther(part)
    renameSync(part, target)
    copy.refuseOther(target)
    syncDirectory(dirname(target))
    return fstatSync(copy.handle).size
  } catch (error) {
    rmSync(part, { force: true })
    throw fileError(databaseError(error, target), target)
  }
}

/**
 * claim locks a file beside the target until the claim is disposed, which removes the file. Throws `FeedsyncError` (75)
 * while another backup has the lock.
 */
function claim(target: string): Disposable {
  const file = join(dirname(target), `.${basename(target)}.lock`)
  try {
    using claiming = new DisposableStack()
    const connection = claiming.use(connect(file, file, { timeout: 0 }))
    // A backup that ends removes the lock file, perhaps just after we opened it.
    if (!tryRun(connection, 'BEGIN EXCLUSIVE') || !exists(file)) {
      const hint = 'try again when it has ended'
      const message = `another backup to ${target} runs`
      throw new FeedsyncError(message, { hint, exitCode: EXIT.temporary })
    }
    claiming.defer(() => rmSync(file, { force: true }))
    return claiming.move()
  } catch (error) {
    throw fileError(databaseError(error, target), target)
  }
}

/** createCopy creates a file and keeps it open. `refuseOther` throws `FeedsyncError` if a path names another file. */
function createCopy(
  file: string,
): { handle: number; refuseOther(path: string): void } & Disposable {
  const handle = openSync(file, 'wx', 0o600)
  const { dev, ino } = fstatSync(handle)
  return {
    handle,
    refuseOther: (path) => {
      const there = statSync(path, { throwIfNoEntry: false })
      if (there?.dev === dev && there.ino === ino) return
      const hint = 'copy it into a directory that only you can write to'
      throw new FeedsyncError(`another program replaced the copy ${path}`, { hint })
    },
    [Symbol.dispose]: () => closeSync(handle),
  }
}

/** finishCopy makes the copy one file that any SQLite can open. Throws `FeedsyncError` when the copy is damaged. */
function finishCopy(path: string): void {
  const copy = new Database(path)
  try {
    copy.pragma('journal_mode = DELETE')
    const found = copy.pragma('integrity_check', { simple: true })
    if (found !== 'ok') {
      const message = `the copy is damaged: ${String(found)}`
      throw new FeedsyncError(message, {
        hint: hintWith('check the disks of the history and of the copy', commandFor('doctor')),
      })
    }
  } finally {
    copy.close()
  }
}
