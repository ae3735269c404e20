// Owns the connection to SQLite: creating and opening files, statements, transactions. It does not know the tables.
// Every SQLite error that leaves this file is translated for people.

import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import { EXIT, errorCode, FeedsyncError } from '../lib/errors.ts'
import { databaseError, fileError } from './database-error.ts'

// A reader that may not write to the directory needs `immutable=1`, which only a URI can carry. better-sqlite3 reads
// this variable once, before its first connection. Our paths are absolute, so SQLite takes none of them for a URI.
process.env.SQLITE_USE_URI ??= '1'

const BUSY_TIMEOUT_MS = 5000
/** SQLite cuts the write-ahead log to LOG_LIMIT bytes once no reader needs more of it. The log usually has 4 MB. */
export const LOG_LIMIT = 16 * 2 ** 20

export type SqlValue = string | number | null
/** The value of one `?`, or an object with the values of the named parameters. */
export type Parameter = SqlValue | object

/** Connection runs SQL. It prepares each statement once, at its first use. */
export class Connection implements Disposable {
  readonly file: string
  readonly #db: Database.Database
  readonly #statements = new Map<string, Database.Statement>()
  /** #plucked has the statements that return the first column alone. */
  readonly #plucked = new Map<string, Database.Statement>()
  readonly #transaction: Database.Transaction<(work: () => unknown) => unknown>
  /** Steps to run once the current transaction is committed. */
  readonly #later: (() => void)[] = []

  constructor(db: Database.Database, file: string) {
    this.file = file
    this.#db = db
    this.#transaction = db.transaction((work: () => unknown) => work())
  }

  rows<R>(sql: string, ...parameters: Parameter[]): R[] {
    return this.#translated(() => this.#prepared(sql).all(...parameters) as R[])
  }

  /** row returns the first row, or null. */
  row<R>(sql: string, ...parameters: Parameter[]): R | null {
    return this.#translated(() => (this.#prepared(sql).get(...parameters) ?? null) as R | null)
  }

  values<V extends SqlValue>(sql: string, ...parameters: Parameter[]): V[] {
    return this.#translated(() => this.#firstColumn(sql).all(...parameters) as V[])
  }

  /** value returns the first column of the first row, or null when there is no row. */
  value<V extends SqlValue>(sql: string, ...parameters: Parameter[]): V | null {
    return this.#translated(() => (this.#firstColumn(sql).get(...parameters) ?? null) as V | null)
  }

  /** run executes a statement. Returns the last inserted id and the number of changed rows. */
  run(sql: string, ...parameters: Parameter[]): { id: number; changes: number } {
    const done = this.#translated(() => this.#prepared(sql).run(...parameters))
    return { id: Number(done.lastInsertRowid), changes: done.changes }
  }

  /**
   * atomically runs `work` in one transaction; nested calls run in savepoints. It takes the write lock at the start,
   * because only there SQLite waits for that lock. A transaction that takes the lock at its first write can fail.
   */
  atomically<T>(work: () => T): T {
    const before = this.#later.length
    try {
      const done = this.#translated(() => this.#transaction.immediate(work) as T)
      if (!this.#db.inTransaction) for (const step of this.#later.splice(0)) step()
      return done
    } catch (error) {
      // A step must not run when its transaction was rolled back.
      this.#later.length = Math.min(this.#later.length, before)
      throw error
    }
  }

  /** afterCommit runs `step` once the outermost transaction is committed, or at once when none is running. */
  afterCommit(step: () => void): void {
    if (this.#db.inTransaction) this.#later.push(step)
    else step()
  }

  /**
   * joinTransaction runs `work` as part of the current transaction, which then fails as a whole, or in a new one when
   * none is running.
   */
  joinTransaction<T>(work: () => T): T {
    return this.#db.inTransaction ? work() : this.atomically(work)
  }

  /** script runs several statements at once, for migrations. */
  script(sql: string): void {
    this.#translated(() => this.#db.exec(sql))
  }

  pragma(text: string): unknown {
    return this.#translated(() => this.#db.pragma(text, { simple: true }))
  }

  /** backUp copies the database to the file `to` with SQLite's online backup, `pages` pages in each step. */
  async backUp(to: string, pages: number): Promise<void> {
    await this.#db.backup(to, { progress: () => pages })
  }

  /** usedBytes returns the size of the file without its free pages. SQLite uses the free pages again for new rows. */
  usedBytes(): number {
    const count = (name: string) => Number(this.pragma(name))
    return (count('page_count') - count('freelist_count')) * count('page_size')
  }

  /** logBytes returns the size of the write-ahead log, which a reader with an old transaction lets grow. */
  logBytes(): number {
    return statSync(`${this.file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  }

  /** shrinkLog moves the write-ahead log into the file and empties it, unless a reader still needs it. */
  shrinkLog(): void {
    this.pragma('wal_checkpoint(TRUNCATE)')
  }

  [Symbol.dispose](): void {
    this.#translated(() => this.#db.close())
  }

  #firstColumn(sql: string): Database.Statement {
    let statement = this.#plucked.get(sql)
    if (statement === undefined) {
      statement = this.#db.prepare(planned(sql)).pluck()
      this.#plucked.set(sql, statement)
    }
    return statement
  }

  #prepared(sql: string): Database.Statement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#db.prepare(planned(sql))
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

/**
 * planned returns a statement that SQLite plans once. A statement with a bare parameter in its WHERE or LIMIT clause is
 * planned again for each value (6 to 100 us instead of 1), so each parameter becomes an expression: `WHERE id = +?`.
 */
const planned = (sql: string) => sql.replace(/\?|@\w/g, '+$&')

/**
 * openWritable opens a database for writing. It creates a missing file (0640: a group may read), its lock file and its
 * directory (0750). Throws `FeedsyncError` (78) on a file system without shared memory.
 */
export function openWritable(path: string): Connection {
  const file = resolve(path)
  const isNew = !exists(file)
  createPrivately(file, 0o640)
  const lock = lockFile(dirname(file))
  // Each history gets its lock file here, so a lock that is missing later was deleted (see instance-lock.ts).
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
  connection.pragma(`journal_size_limit = ${LOG_LIMIT}`)
  connection.pragma('foreign_keys = ON')
  opening.move()
  return connection
}

/** openReadOnly opens a database for reading only. Returns null when there is no file. */
export function openReadOnly(path: string): Connection | null {
  const file = resolve(path)
  if (!exists(file)) return null
  const connection = connect(file, file, { readonly: true, timeout: BUSY_TIMEOUT_MS })
  try {
    // The first read shows whether this user can use the -wal and -shm files.
    connection.pragma('user_version')
    return connection
  } catch (error) {
    connection[Symbol.dispose]()
    const isUnwritable = /^SQLITE_(READONLY|CANTOPEN|IOERR_SHM)/.test(errorCode(error) ?? '')
    // A reader of a WAL database creates the -wal and -shm files. Without permission or space for them, it can still
    // read the database file alone, but only while the -wal is missing or empty: then that file holds everything.
    const wal = `${file}-wal`
    if (!isUnwritable || (exists(wal) && statSync(wal).size > 0)) throw error
    return connect(`${pathToFileURL(file).href}?immutable=1`, file, { readonly: true })
  }
}

/** lockFile returns the path of a state directory's lock (see instance-lock.ts). */
export function lockFile(directory: string): string {
  return join(resolve(directory), 'daemon.lock')
}

/** createPrivately makes an empty file with this mode, and its directories (0750), unless they exist. */
export function createPrivately(file: string, mode: number): void {
  try {
    const firstMade = mkdirSync(dirname(file), { recursive: true, mode: 0o750 })
    if (firstMade !== undefined) syncDirectory(dirname(firstMade))
    // `wx` never opens an existing file: closing any handle on it would drop this process's locks (fcntl).
    closeSync(openSync(file, 'wx', mode))
  } catch (error) {
    if (errorCode(error) !== 'EEXIST' || !exists(file)) throw fileError(error, file)
  }
}

/** connect opens a database with better-sqlite3 and translates its errors. */
export function connect(name: string, file: string, options: Database.Options): Connection {
  try {
    return new Connection(new Database(name, options), file)
  } catch (error) {
    throw databaseError(error, file)
  }
}

/** exists returns whether a file exists. Unlike `existsSync`, it throws when this user may not look. */
export function exists(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    throw fileError(error, file)
  }
}

/** watched returns a check that the path still names the same file. An unreadable path counts as unchanged. */
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

/** syncDirectory makes new names in a directory durable. SQLite does this only for the files that it creates itself. */
export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
