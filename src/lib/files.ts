// What several rooms do with files: decide whether two looks saw the same file, read a whole file, compare paths.

import {
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { isAbsolute, relative } from 'node:path'
import { wallTime } from './clock.ts'
import { errorCode } from './errors.ts'
import { formatBytes } from './units.ts'

/** FileIdentity is what stat reports of a file and its bytes: equal values mean the same file with the same bytes. */
export interface FileIdentity {
  dev: string
  ino: string
  size: number
  mtimeNs: string
  ctimeNs: string
}

/** NO_IDENTITY stands for a path of which nothing is known; no file has it. */
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
  return a === b || (isUnchanged(a, b) && a.ctimeNs === b.ctimeNs)
}

/**
 * isUnchanged returns whether two identities are of one file with the same bytes. It ignores ctime, because our own
 * rename of a file changes ctime.
 */
export function isUnchanged(a: FileIdentity, b: FileIdentity): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs
}

/** specialKind names a file that is not a regular file, a directory or a link. */
export function specialKind(stats: Pick<BigIntStats, 'isFIFO' | 'isSocket'>): string {
  return stats.isFIFO() ? 'fifo' : stats.isSocket() ? 'socket' : 'device'
}

type Directory = Pick<BigIntStats, 'dev' | 'ino' | 'birthtimeNs'>

/** isSameDirectory also compares the times of birth: a new directory often gets the inode of an old directory. */
export function isSameDirectory(a: Directory, b: Directory): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.birthtimeNs === b.birthtimeNs
}

/** modifiedAt returns the wall ms of the last write; null without an identity, or if no calendar has this time. */
export function modifiedAt(identity: FileIdentity | null): number | null {
  return identity && msOf(identity.mtimeNs)
}

/** changedAt returns the wall ms of the last change of the file or its bytes; null if no calendar has this time. */
export function changedAt(identity: FileIdentity): number | null {
  return msOf(identity.ctimeNs)
}

const msOf = (ns: string) => wallTime(Number(BigInt(ns) / 1_000_000n))

/**
 * stampOf returns a `stamp` that differs after each change of the file, and `changedAt` in wall ms; null if there is no
 * file. If the file cannot be looked at, the stamp is the error's code, and `changedAt` is 0.
 */
export function stampOf(file: string): { stamp: string; changedAt: number } | null {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) return null
    const changedAt = Math.max(Number(stats.ctimeMs), Number(stats.mtimeMs))
    return { stamp: JSON.stringify(identityOf(stats)), changedAt }
  } catch (error) {
    return { stamp: errorCode(error) ?? 'unreadable', changedAt: 0 }
  }
}

/**
 * readWhole fills `memory` from position `at` of the file on. It returns the number of bytes, which is smaller only at
 * the end of the file. Throws the system's error.
 */
export function readWhole(fd: number, memory: Uint8Array, at: number): number {
  const { length } = memory
  let done = 0
  while (done < length) {
    const read = readSync(fd, memory, done, length - done, at + done)
    if (read === 0) break
    done += read
  }
  return done
}

/**
 * tryClone makes an open empty file share the blocks of another open file, which takes no room and reads no byte. It
 * returns false if their file systems cannot do that, and leaves the target empty. XFS and Btrfs can, within one file
 * system. The target gets the mode 0600. A clone can be a mixture if somebody writes to the source meanwhile.
 */
export async function tryClone(source: number, target: number): Promise<boolean> {
  const [from, to] = [`/proc/self/fd/${source}`, `/proc/self/fd/${target}`]
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE_FORCE)
    return true
  } catch {
    ftruncateSync(target, 0)
    return false
  } finally {
    // copyFile gives the target the mode of the source.
    fchmodSync(target, 0o600)
  }
}

/** LONGEST_SECRET is in bytes. It is longer than any PEM key, so that a wrong path to a large file is an error. */
export const LONGEST_SECRET = 64 * 1024

/**
 * readRegular returns the bytes of a regular file. Throws the system's error (`EISDIR` for a directory). Throws an
 * error without a code if the file is not regular, is larger than `mostBytes`, or is still being written; the message
 * of this error continues a sentence that begins with the file's name.
 */
export function readRegular(file: string, mostBytes: number): Buffer {
  const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(handle)
    if (stats.isDirectory()) throw Object.assign(new Error('is a directory'), { code: 'EISDIR' })
    if (!stats.isFile()) throw new Error('is not a regular file')
    if (stats.size > mostBytes) throw new Error(`is larger than ${formatBytes(mostBytes)}`)
    const bytes = Buffer.alloc(stats.size + 1)
    const size = readWhole(handle, bytes, 0)
    if (size !== stats.size) throw new Error('is still being written')
    return bytes.subarray(0, size)
  } finally {
    closeSync(handle)
  }
}

/** withoutNewline removes one newline at the end, which editors add to a secret. */
export function withoutNewline(bytes: Buffer): Buffer {
  if (bytes.at(-1) !== 0x0a) return bytes
  return bytes.subarray(0, bytes.at(-2) === 0x0d ? -2 : -1)
}

/** isWithin returns whether an absolute path is the folder itself or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way)
}
