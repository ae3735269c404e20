// Whether the open database is still what lies at its path. SQLite does not see when the file or its
// write-ahead log is deleted, replaced or moved away: it goes on writing to what nobody will open again.

import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { inodeAt, isAt } from '../lib/inode.ts'
import { type Connection, createPrivately, lockFile } from './connection.ts'

/**
 * `temporary`: a supervisor starts it again, and everything is in the file that it will open. `config`: it holds, because
 * feedsyncd would know of no upload, and a person has the history or a backup.
 */
const { config, temporary } = EXIT

const PUT_BACK = 'put it back, then start feedsyncd: it goes on from the history in it'
const TWO_DAEMONS =
  'start feedsyncd again, and leave that file alone: without it two daemons would send the same feeds'
const TWO_WRITERS =
  'start feedsyncd again, and leave that file alone: without it two processes write over each other'
const SAVED = 'start feedsyncd again: nothing is lost, what that file held is in the database now'

export class DatabaseWatch {
  readonly #connection: Connection
  /** Of each path what it named when there was first something at it. */
  readonly #inodes = new Map<string, string>()

  constructor(connection: Connection) {
    this.#connection = connection
    const { file } = connection
    const directory = dirname(file)
    for (const path of [directory, file, lockFile(directory), logOf(connection), `${file}-shm`])
      this.#isSame(path)
  }

  /**
   * Why nothing more may be written, null while all is well. Cheap enough for each second and each delivery.
   * What was written so far is saved first, as far as it can be.
   */
  lost(): FeedsyncError | null {
    const { file } = this.#connection
    const directory = dirname(file)
    const [index, lock] = [`${file}-shm`, lockFile(directory)]
    // What takes the others with it is looked at last: it may go between two of these looks.
    const hasIndex = this.#isSame(index)
    const hasLog = this.#isSame(logOf(this.#connection))
    const hasLock = this.#isSame(lock)
    const isSame = this.#isSame(file)
    if (hasIndex && hasLog && hasLock && isSame) return null
    if (!this.#isOnDisk(directory))
      return lost(`${directory} was moved away or unmounted`, config, PUT_BACK)
    if (isSame && !hasLock) return lost(`${lock} was deleted or replaced`, temporary, TWO_DAEMONS)
    if (isSame && hasLog) return lost(`${index} was deleted or replaced`, temporary, TWO_WRITERS)
    if (isSame && this.save()) return lost(`${file}-wal was deleted or replaced`, temporary, SAVED)
    const copy = this.#copied()
    const what = isSame ? `${file}-wal` : file
    const cure =
      copy === null
        ? 'put it back, or a backup'
        : `put back ${copy}, which holds all of it, as ${file}`
    const hint = `${cure}; then start feedsyncd`
    return lost(`${what} was deleted, replaced or moved away`, config, hint)
  }

  #isSame(path: string): boolean {
    const before = this.#inodes.get(path)
    if (before !== undefined) return isAt(path, before)
    const found = inodeAt(path)
    if (found !== null) this.#inodes.set(path, found)
    return true
  }

  /** Whether this is a directory on the same file system as before: a copy in it can be found again. */
  #isOnDisk(directory: string): boolean {
    const device = (identity: string | null | undefined) => identity?.split(' ')[0]
    const before = device(this.#inodes.get(directory))
    return this.#isSame(directory) || device(inodeAt(directory)) === before
  }

  /** Writes all into the database file, where no other process has written to another log since. */
  save(): boolean {
    const log = logOf(this.#connection)
    if (!this.#isSame(log) && !isEmpty(log)) return false
    try {
      return this.#connection.pragma('wal_checkpoint(TRUNCATE)') === 0
    } catch {
      return false
    }
  }

  /** The name of a copy of what this process still sees; null where none could be made. */
  #copied(): string | null {
    const { file } = this.#connection
    const copy = `${file}.saved-${process.pid}`
    try {
      createPrivately(copy, 0o640)
      this.#connection.script(`VACUUM INTO '${copy.replaceAll("'", "''")}'`)
      return copy
    } catch {
      return null
    }
  }
}

function lost(what: string, exitCode: number, hint: string): FeedsyncError {
  const message = `${what} while feedsyncd ran`
  return new FeedsyncError(message, { condition: 'database-lost', exitCode, hint })
}

const logOf = ({ file }: Pick<Connection, 'file'>) => `${file}-wal`

function isEmpty(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0
}
