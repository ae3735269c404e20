// This file recognises a full disk by the errors of files and of the database.

import { errorCode } from '../lib/errors.ts'

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'SQLITE_FULL'])

/** isDiskFull returns whether an error of a file or of SQLite means that the disk is full or cannot be written. */
export function isDiskFull(error: unknown): boolean {
  const code = errorCode(error) ?? ''
  return FULL.has(code) || code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_READONLY')
}
