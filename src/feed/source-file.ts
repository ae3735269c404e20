// Opens and reads a file that somebody else may be writing, replacing or removing: never follows a
// link, never blocks on a fifo, and knows whether it is still the file that was looked at.

import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
} from 'node:fs'
import { errorCode, messageOf } from '../lib/errors.ts'
import { type FileIdentity, identityOf, sameIdentity } from '../lib/file-identity.ts'

export type Opened =
  | { kind: 'opened'; file: SourceFile }
  | { kind: 'unreadable'; code: string; reason: string }

/** A file that cannot be read: `code` is the system's. */
export class Unreadable extends Error {
  readonly code: string

  constructor(cause: unknown) {
    super(`the file cannot be read: ${messageOf(cause)}`, { cause })
    this.code = errorCode(cause) ?? 'EIO'
  }
}

const REASONS: Record<string, string> = {
  ELOOP: 'the path is a symbolic link, which is never followed',
  ENOENT: 'there is no such file',
  EACCES: 'the file may not be read by this user; check its permissions and those of its folders',
  EPERM: 'the file may not be read by this user; check its permissions and those of its folders',
  ENXIO: 'the path is a socket or device, not a regular file',
}

export function openSource(path: string): Opened {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const code = errorCode(error) ?? 'EIO'
    return {
      kind: 'unreadable',
      code,
      reason: REASONS[code] ?? `the file cannot be opened (${code})`,
    }
  }
  const stats = fstatSync(fd, { bigint: true })
  if (stats.isFile()) return { kind: 'opened', file: new SourceFile(path, fd, stats) }
  closeSync(fd)
  const what = stats.isDirectory() ? 'a directory' : stats.isFIFO() ? 'a fifo' : 'a device'
  const code = stats.isDirectory() ? 'EISDIR' : 'EINVAL'
  return { kind: 'unreadable', code, reason: `the path is ${what}, not a regular file` }
}

export class SourceFile {
  readonly identity: FileIdentity
  readonly size: number
  readonly #path: string
  readonly #fd: number

  constructor(path: string, fd: number, stats: BigIntStats) {
    this.#path = path
    this.#fd = fd
    this.identity = identityOf(stats)
    this.size = Number(stats.size)
  }

  /** Pieces of the file up to `end`; all share the memory of one. Throws `Unreadable`. */
  *pieces(
    pieceSize: number,
    end = Number.POSITIVE_INFINITY,
    from = 0,
  ): Generator<Buffer, void, void> {
    const memory = Buffer.allocUnsafeSlow(Math.max(1, Math.min(pieceSize, this.size)))
    for (let at = from; at < end; ) {
      const length = this.#read(memory, Math.min(memory.length, end - at), at)
      if (length === 0) return
      yield memory.subarray(0, length)
      at += length
    }
  }

  /** Where the NUL bytes begin that the file ends in; its size when it ends in none. */
  nulPadding(): number {
    const begin = this.#nulRun()
    const head = Buffer.alloc(2)
    this.#read(head, 2, 0)
    const littleEndian = head[0] === 0xff ? head[1] === 0xfe : head[0] === 0x3c && head[1] === 0
    // In UTF-16LE a NUL in an odd place is the second half of a character such as ">".
    return littleEndian && begin > 2 && begin % 2 === 1 ? begin + 1 : begin
  }

  #nulRun(): number {
    const memory = Buffer.alloc(4_096)
    let end = this.size
    while (end > 0) {
      const at = Math.max(0, end - memory.length)
      const piece = memory.subarray(0, this.#read(memory, end - at, at))
      let kept = piece.length
      while (kept > 0 && piece[kept - 1] === 0) kept--
      if (kept > 0) return at + kept
      end = at
    }
    return end
  }

  /** Whether descriptor and path still show the file as it was when it was opened. */
  unchanged(): boolean {
    try {
      const now = identityOf(fstatSync(this.#fd, { bigint: true }))
      const there = lstatSync(this.#path, { bigint: true })
      return sameIdentity(now, this.identity) && sameIdentity(identityOf(there), this.identity)
    } catch {
      return false
    }
  }

  close(): void {
    closeSync(this.#fd)
  }

  #read(memory: Buffer, length: number, at: number): number {
    try {
      return readSync(this.#fd, memory, 0, length, at)
    } catch (error) {
      throw new Unreadable(error)
    }
  }
}
