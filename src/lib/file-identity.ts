// What stat can tell of a file's sameness. Refuses to guess: two looks are the same only when every
// part is, so a preserved size or date hides no change.

import { type BigIntStats, statSync } from 'node:fs'
import { errorCode } from './errors.ts'

/** What makes two looks at a path the same file with the same bytes, as far as stat can tell. */
export interface FileIdentity {
  dev: string
  ino: string
  size: number
  mtimeNs: string
  ctimeNs: string
}

/** Of a path that cannot be looked at; equals no file's. */
export const NO_IDENTITY: FileIdentity = { dev: '0', ino: '0', size: 0, mtimeNs: '0', ctimeNs: '0' }

export function identityOf(stats: BigIntStats): FileIdentity {
  return {
    dev: String(stats.dev),
    ino: String(stats.ino),
    size: Number(stats.size),
    mtimeNs: String(stats.mtimeNs),
    ctimeNs: String(stats.ctimeNs),
  }
}

export function sameIdentity(a: FileIdentity, b: FileIdentity): boolean {
  return a === b || (sameBytes(a, b) && a.ctimeNs === b.ctimeNs)
}

/** The same but for ctime, which a rename of our own changes. */
export function sameBytes(a: FileIdentity, b: FileIdentity): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs
}

/** `text`: another one when the file changed; `changedAt`: wall ms. Null: there is none. */
export function stampOf(file: string): { text: string; changedAt: number } | null {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) return null
    const changedAt = Math.max(Number(stats.ctimeMs), Number(stats.mtimeMs))
    return { text: JSON.stringify(identityOf(stats)), changedAt }
  } catch (error) {
    return { text: errorCode(error) ?? 'unreadable', changedAt: 0 }
  }
}
