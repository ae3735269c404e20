// Which file a path names at this moment, whatever happened to it since it was opened.

import { statSync } from 'node:fs'
import { errorCode } from './errors.ts'

/** Device and inode; null: there is nothing. Throws the system's error. */
export function inodeAt(path: string): string | null {
  try {
    const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
    return stats === undefined ? null : `${stats.dev} ${stats.ino}`
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return null
    throw error
  }
}

/** What cannot be looked at now is taken for what it was: other errors tell of that. */
export function isAt(path: string, inode: string | null): boolean {
  try {
    return inodeAt(path) === inode
  } catch {
    return true
  }
}
