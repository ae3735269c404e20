// Owns the translation of errors of SQLite and the file system into errors for people. The cause is kept, so
// `errorCode()` still returns the code of SQLite (`SQLITE_FULL`, `SQLITE_BUSY_RECOVERY`, ...).

import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { type ConditionCode, ConditionError, stateCondition } from '../domain/conditions.ts'
import { groupHint } from '../lib/access.ts'
import { EXIT, errorCode, FeedsyncError, messageOf } from '../lib/errors.ts'

/** SQLite reports this code when the disk has no room for the -shm file beside the database. */
const NO_ROOM_FOR_INDEX = 'SQLITE_IOERR_SHMSIZE'

interface Advice {
  what: string
  hint: string
  condition?: ConditionCode
  exitCode: number
}

/** databaseError translates an error of SQLite into a `FeedsyncError`. It returns any other error unchanged. */
export function databaseError(error: unknown, file: string): unknown {
  return error instanceof Database.SqliteError ? translated(error, file) : error
}

/** fileError translates an error of the system about the database file or its directory into a `FeedsyncError`. */
export function fileError(error: unknown, file: string): unknown {
  return errorCode(error) === null ? error : translated(error, file)
}

function translated(error: unknown, file: string): FeedsyncError {
  const code = errorCode(error) ?? ''
  const { condition, what, ...words } = advice(code, file, messageOf(error))
  const options = { ...words, cause: error }
  return condition === undefined
    ? new FeedsyncError(what, options)
    : new ConditionError(condition, what, options)
}

function advice(code: string, file: string, detail: string): Advice {
  // The second word of a code is its kind: `SQLITE_READONLY_DIRECTORY` is one of several READONLY codes.
  const kind = code.startsWith('SQLITE_') ? code.split('_')[1] : code
  const isBlocked = kind === 'CANTOPEN' || kind === 'READONLY'
  const cause = isBlocked && isReadOnlyAt(dirname(file)) ? 'EROFS' : kind
  switch (code === NO_ROOM_FOR_INDEX ? 'FULL' : cause) {
    case 'FULL':
    case 'ENOSPC':
    case 'EDQUOT':
      return {
        what: `the disk is full: ${file} cannot be written`,
        hint: 'Free some space on that disk; the recorded history is safe.',
        condition: 'state-full',
        exitCode: EXIT.temporary,
      }
    case 'EROFS':
      return {
        what: `${file} cannot be written: its disk is read-only`,
        hint: 'Look for its error in the kernel log (dmesg), then mount the disk writable.',
        condition: 'state-read-only',
        exitCode: EXIT.temporary,
      }
    case 'READONLY':
      return {
        what: `${file} cannot be written: this user may not write the file or its directory`,
        hint: `Run this as root or as the user that owns ${dirname(file)}; all files in it must belong to that user.`,
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
        what: `${file} is damaged, or is not a SQLite database (${detail})`,
        hint:
          'Stop feedsyncd and put a backup in its place. Without a backup, move the file away together ' +
          'with its -wal and -shm files, but leave the spool: each feed of the folder is then held once, and ' +
          'status says how to decide.',
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
          groupHint(file) ??
          `${dirname(file)} must be a directory on a local disk, and it and all files in it must belong to ` +
            'one user: run this as that user, or as root.',
        // A disk can be read-only after an error, or not mounted yet: a supervisor should try again.
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

/** isReadOnlyAt returns whether the disk of a directory is read-only. SQLite only says that it cannot open a file. */
function isReadOnlyAt(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK)
    return false
  } catch (error) {
    return errorCode(error) === 'EROFS'
  }
}
