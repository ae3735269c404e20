// This file recognises a disk that has no room left, at a file or in the database.

import { errorCode } from '../lib/errors.ts'

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'SQLITE_FULL'])

export function isDiskFull(error: unknown): boolean {
  const code = errorCode(error) ?? ''
  return FULL.has(code) || code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_READONLY')
}
