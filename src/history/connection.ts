// Owns the connection to SQLite: how files are created and opened, statements, transactions.
// Knows nothing of what is stored. Every error that leaves this file is translated.

import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import { EXIT, errorCode, FeedsyncError } from '../lib/errors.ts'
import { databaseError, fileError } from './database-error.ts'

// better-sqlite3 reads this once, before its first connection: the only way to `immutable=1`, which a
// reader needs that may not write the directory. Our paths are absolute, so none is taken for a URI.
process.env.SQLITE_USE_URI ??= '1'

const BUSY_TIMEOUT_MS = 5000

export type SqlValue = string | number | null
/** A value of a `?`, or an object with the values of the named ones. */
export type Parameter = SqlValue | object

/**
 * Runs SQL; each statement is prepared once, when it is first used. SQLite plans a statement anew with each value that
 * is bound to a bare parameter of its WHERE clause (6 us in place of 1). What runs for each file or version therefore
 * compares with an expression: `WHERE id = +?`.
 */
export class Connection implements Disposable {
  readonly file: string
  readonly #db: Database.Database
  readonly #statements = new Map<string, Database.Statement>()
  readonly #transaction: Database.Transaction<(work: () => unknown) => unknown>
  /** What follows from the transaction that runs. */
  readonly #later: (() => void)[] = []

  constructor(db: Database.Database, file: string) {
    this.file = file
    this.#db = db
    this.#transaction = db.transaction((work: () => unknown) => work())
  }

  rows<R>(sql: string, ...parameters: Parameter[]): R[] {
    return this.#translated(() => this.#reading(sql, false).all(...parameters) as R[])
  }

  /** The first row; null where there is none. */
  row<R>(sql: string, ...parameters: Parameter[]): R | null {
    return this.#translated(
      () => (this.#reading(sql, false).get(...parameters) ?? null) as R | null,
    )
  }

  /** The first column of each row. */
  values<V extends SqlValue>(sql: string, ...parameters: Parameter[]): V[] {
    return this.#translated(() => this.#reading(sql, true).all(...parameters) as V[])
  }

  /** The first column of the first row; null where there is none. */
  value<V extends SqlValue>(sql: string, ...parameters: Parameter[]): V | null {
    return this.#translated(() => (this.#reading(sql, true).get(...parameters) ?? null) as V | null)
  }

  /** Answers the last inserted id and the number of rows changed. */
  run(sql: string, ...parameters: Parameter[]): { id: number; changes: number } {
    const done = this.#translated(() => this.#prepared(sql).run(...parameters))
    return { id: Number(done.lastInsertRowid), changes: done.changes }
  }

  /**
   * Runs `work` in one transaction, nested calls in savepoints. It takes the write lock at its start:
   * a transaction that only asks for it at its first write cannot wait for it.
   */
  atomically<T>(work: () => T): T {
    const before = this.#later.length
    try {
      const done = this.#translated(() => this.#transaction.immediate(work) as T)
      if (!this.#db.inTransaction) for (const step of this.#later.splice(0)) step()
      return done
    } catch (error) {
      // Nothing follows from what was rolled back.
      this.#later.length = Math.min(this.#later.length, before)
      throw error
    }
  }

  afterCommit(step: () => void): void {
    if (this.#db.inTransaction) this.#later.push(step)
    else step()
  }

  /** The same, but as a part of a transaction that runs already: what fails then fails with all of it. */
  joinTransaction<T>(work: () => T): T {
    return this.#db.inTransaction ? work() : this.atomically(work)
  }

  /** Runs several statements of a script, for migrations. */
  script(sql: string): void {
    this.#translated(() => this.#db.exec(sql))
  }

  pragma(text: string): unknown {
    return this.#translated(() => this.#db.pragma(text, { simple: true }))
  }

  /** Copies the database with SQLite's online backup, so many pages in a step. */
  async backUp(to: string, pages: number): Promise<void> {
    await this.#db.backup(to, { progress: () => pages })
  }

  /** Bytes of the file that hold something. What was deleted leaves room in it, which is used again. */
  usedBytes(): number {
    const count = (name: string) => Number(this.pragma(name))
    return (count('page_count') - count('freelist_count')) * count('page_size')
  }

  [Symbol.dispose](): void {
    this.#translated(() => this.#db.close())
  }

  #reading(sql: string, firstColumn: boolean): Database.Statement {
    return this.#prepared(sql).pluck(firstColumn)
  }

  #prepared(sql: string): Database.Statement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#db.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  #translated<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw databaseError(error, this.file)
    }
  }
}

/** Opens for reading and writing; creates the file (0640: a group may read) and its directory (0750) if missing. */
export function openWritable(path: string): Connection {
  const file = resolve(path)
  const isNew = !exists(file)
  createPrivately(file, 0o640)
  const lock = lockFile(dirname(file))
  // A lock that is missing beside a history was deleted (instance-lock.ts), also where a command made the history.
  if (isNew && !exists(lock)) createPrivately(lock, 0o640)
  using opening = new DisposableStack()
  const connection = opening.use(connect(file, file, { timeout: BUSY_TIMEOUT_MS }))
  if (connection.pragma('journal_mode = WAL') !== 'wal') {
    throw new FeedsyncError(`${file} is on a file system that cannot hold the history`, {
      hint: 'Put state.directory on a local disk; SQLite needs shared memory beside the file.',
      exitCode: EXIT.config,
    })
  }
  connection.pragma('synchronous = FULL')
  connection.pragma('foreign_keys = ON')
  opening.move()
  return connection
}

/** Opens for reading only; null where there is no file. */
export function openReadOnly(path: string): Connection | null {
  const file = resolve(path)
  if (!exists(file)) return null
  const connection = connect(file, file, { readonly: true, timeout: BUSY_TIMEOUT_MS })
  try {
    connection.pragma('user_version')
    return connection
  } catch (error) {
    connection[Symbol.dispose]()
    const mayNotWrite = /^SQLITE_(READONLY|CANTOPEN|IOERR_SHM)/.test(errorCode(error) ?? '')
    // A reader of a WAL database creates the -wal and -shm files. Who may not do that, or has no room for it,
    // can read the bare file while the -wal is missing or empty: then everything is in that file.
    const wal = `${file}-wal`
    if (!mayNotWrite || (exists(wal) && statSync(wal).size > 0)) throw error
    return connect(`${pathToFileURL(file).href}?immutable=1`, file, { readonly: true })
  }
}

/** The lock of a state directory, which instance-lock.ts takes. */
export function lockFile(directory: string): string {
  return join(resolve(directory), 'daemon.lock')
}

/** Makes an empty file with this mode, and its directories, unless they exist. */
export function createPrivately(file: string, mode: number): void {
  try {
    becomeOwner(existingAbove(file))
    const firstMade = mkdirSync(dirname(file), { recursive: true, mode: 0o750 })
    if (firstMade !== undefined) syncDirectory(dirname(firstMade))
    // Never opens an existing file: closing any handle on it would drop this process's locks (fcntl).
    closeSync(openSync(file, 'wx', mode))
  } catch (error) {
    if (errorCode(error) !== 'EEXIST' || !exists(file)) throw fileError(error, file)
  }
}

/** existingAbove returns the nearest directory above `path` that exists. */
function existingAbove(path: string): string {
  const directory = dirname(path)
  return exists(directory) ? directory : existingAbove(directory)
}

/**
 * Turns root into the owner of the state directory before it writes there, so that no file of root's is left in it. What
 * only root may read was read before: the configuration and the key.
 */
function becomeOwner(directory: string): void {
  const { gid, uid } = statSync(directory)
  if (uid === 0 || process.geteuid?.() !== 0) return
  // Node has it, its types do not.
  const { initgroups } = process as unknown as { initgroups: (user: number, group: number) => void }
  try {
    initgroups(uid, gid)
  } catch {
    // An owner without an account, as in a container, has no other groups.
    process.setgroups?.([gid])
  }
  process.setgid?.(gid)
  process.setuid?.(uid)
}

/** Opens a database as better-sqlite3 does, with translated errors. */
export function connect(name: string, file: string, options: Database.Options): Connection {
  try {
    return new Connection(new Database(name, options), file)
  } catch (error) {
    throw databaseError(error, file)
  }
}

/** Unlike `existsSync`, does not call a file missing that this user may not see: throws instead. */
export function exists(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    throw fileError(error, file)
  }
}

/** Returns a check that the path still names the same file. A path that cannot be looked at counts as unchanged. */
export function watched(path: string): () => boolean {
  const inode = () => statSync(path, { throwIfNoEntry: false })?.ino
  const before = inode()
  return () => {
    try {
      return inode() === before
    } catch {
      return true
    }
  }
}

/** SQLite syncs the directory of its file; what we make there ourselves needs its directory synced as well. */
export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
