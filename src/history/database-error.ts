// Owns the translation of what SQLite and the file system report into errors for a person. The cause
// is kept, so `errorCode()` still answers SQLite's code (`SQLITE_FULL`, `SQLITE_BUSY_RECOVERY`, ...).

import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { type ConditionCode, stateCondition } from '../lib/conditions.ts'
import { EXIT, errorCode, FeedsyncError, messageOf } from '../lib/errors.ts'

/** The -shm file beside the database cannot be made as large as it has to be. */
const NO_ROOM_FOR_INDEX = 'SQLITE_IOERR_SHMSIZE'

interface Advice {
  what: string
  hint: string
  condition?: ConditionCode
  exitCode: number
}

/** Answers a `FeedsyncError` for what SQLite reported. Anything else is the caller's own and stays as it is. */
export function databaseError(error: unknown, file: string): unknown {
  return error instanceof Database.SqliteError ? translated(error, file) : error
}

/** The same for what the system reported when the file or its directory was made or looked at. */
export function fileError(error: unknown, file: string): unknown {
  return errorCode(error) === null ? error : translated(error, file)
}

function translated(error: unknown, file: string): FeedsyncError {
  const code = errorCode(error) ?? ''
  const { what, ...options } = advice(code, file, messageOf(error))
  return new FeedsyncError(what, { ...options, cause: error })
}

function advice(code: string, file: string, detail: string): Advice {
  // Extended codes name the circumstance (`SQLITE_READONLY_DIRECTORY`), the second word the kind.
  const kind = code.startsWith('SQLITE_') ? code.split('_')[1] : code
  switch (code === NO_ROOM_FOR_INDEX ? 'FULL' : kind) {
    case 'FULL':
    case 'ENOSPC':
    case 'EDQUOT':
      return {
        what: `the disk is full: ${file} cannot be written`,
        hint: 'Free some space on that disk; nothing that was recorded is lost.',
        condition: 'state-full',
        exitCode: EXIT.temporary,
      }
    case 'READONLY':
    case 'EROFS':
      return {
        what: `${file} cannot be written: the file, its directory or the disk is read-only`,
        hint: `Run this as root or as the user that owns ${dirname(file)}; all files in it must belong to that user, on a writable disk.`,
        condition: 'state-read-only',
        exitCode: EXIT.temporary,
      }
    case 'BUSY':
    case 'LOCKED':
      return {
        what: `${file} is locked by another process`,
        hint: 'Try again; if it stays locked, end the command or database tool that keeps it open.',
        condition: 'database-locked',
        exitCode: EXIT.temporary,
      }
    case 'IOERR':
      return {
        what: `the disk reports an error for ${file} (${code})`,
        hint: 'Look at the kernel log (dmesg) for that disk, then start feedsyncd again.',
        condition: 'state-failing',
        exitCode: EXIT.temporary,
      }
    case 'CORRUPT':
    case 'NOTADB':
      return {
        what: `${file} is damaged, or is no SQLite database (${detail})`,
        hint:
          'Stop feedsyncd and put a backup in its place; without one, move the file away together ' +
          'with its -wal and -shm files, but leave the spool: each feed of the folder is then held. To accept them ' +
          'as they are: feedsyncd release --lost-history',
        condition: 'database-damaged',
        exitCode: EXIT.config,
      }
    case 'CANTOPEN':
    case 'PERM':
    case 'AUTH':
    case 'EACCES':
    case 'EPERM':
    case 'ENOENT':
    case 'ENOTDIR':
    case 'EEXIST':
    case 'ELOOP':
    case 'ENAMETOOLONG':
      return {
        what: `${file} cannot be opened (${code})`,
        hint:
          `${dirname(file)} must be a directory on a local disk, and it and all files in it must belong to ` +
          'one user: run this as that user, or as root.',
        // A disk that is read-only after an error, or not mounted yet, is for a supervisor to try again.
        condition: stateCondition(code),
        exitCode: /^E(NOTDIR|EXIST|LOOP|NAMETOOLONG)$/.test(code) ? EXIT.config : EXIT.temporary,
      }
    default:
      return {
        what: `${file}: ${detail} (${code})`,
        hint: 'This is an internal error of feedsyncd; please report it with this message.',
        exitCode: 1,
      }
  }
}
