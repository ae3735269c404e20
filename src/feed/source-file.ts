// Opens and reads a file that somebody else may be writing, replacing or removing: follows no link in
// its folder, never blocks on a fifo, and knows whether it is still the file that was looked at.

import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs'
import { basename, dirname, relative } from 'node:path'
import { OpenDirectory } from '../lib/beneath.ts'
import { errnoText, type Subject } from '../lib/errno.ts'
import { type FileIdentity, identityOf, readWhole, sameIdentity } from '../lib/files.ts'
import type { CheckResult } from './port.ts'

const FILE: Subject = {
  name: 'it',
  setting: 'the path',
  use: 'read',
  hints: { ELOOP: 'put the file itself in its place' },
}

/** A file that cannot be opened or read. */
export class Unreadable extends Error {
  readonly outcome: Extract<CheckResult, { kind: 'unreadable' }>

  /** `cause`: the system's error. */
  constructor(cause: unknown) {
    const { code, hint, reason } = errnoText(cause, FILE)
    super(reason, { cause })
    this.outcome = { kind: 'unreadable', code, reason, hint }
  }
}

/** Bytes that were read, fewer than `length` only at the end of the file. Throws `Unreadable`. */
export function readAt(descriptor: number, memory: Buffer, length: number, at: number): number {
  try {
    return readWhole(descriptor, memory, 0, length, at)
  } catch (error) {
    throw new Unreadable(error)
  }
}

const PADDING_STEP = 2 ** 20

/**
 * `root`: absolute path of a directory above the file, below which no link is followed; its own by default.
 * `opened`: its descriptor, which stays open. Throws `Unreadable`.
 */
export function openSource(
  path: string,
  root: string = dirname(path),
  opened?: number,
): SourceFile {
  const fd = opened ?? openedAt(path, root)
  const stats = fstatSync(fd, { bigint: true })
  const file = new SourceFile(path, root, fd, stats, opened !== undefined)
  if (stats.isFile()) return file
  file[Symbol.dispose]()
  const what = stats.isDirectory() ? 'a directory' : stats.isFIFO() ? 'a fifo' : 'a device'
  throw new Unreadable(new Error(`is ${what}, not a regular file`))
}

function openedAt(path: string, root: string): number {
  try {
    using directory = directoryOf(path, root)
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
    return openSync(directory.entry(basename(path)), flags)
  } catch (error) {
    throw new Unreadable(error)
  }
}

function directoryOf(path: string, root: string): OpenDirectory {
  return OpenDirectory.atSync(root, relative(root, dirname(path)))
}

export class SourceFile implements Disposable {
  readonly identity: FileIdentity
  readonly size: number
  /** Most of it is not stored: holes, which read as NUL bytes, and cost nothing to make. */
  readonly isSparse: boolean
  readonly #path: string
  readonly #root: string
  /** Open for reading until this is disposed of. */
  readonly descriptor: number
  /** Opened by another user: this one may not look at its path. */
  readonly #isHandedOver: boolean

  constructor(path: string, root: string, fd: number, stats: BigIntStats, isHandedOver: boolean) {
    this.#isHandedOver = isHandedOver
    this.#path = path
    this.#root = root
    this.descriptor = fd
    this.identity = identityOf(stats)
    this.size = Number(stats.size)
    // No compression of a file system gains as much on XML.
    this.isSparse = stats.blocks * 512n * 32n < stats.size
  }

  /** Pieces of the file up to `end`; all share the memory of one. Throws `Unreadable`. */
  *pieces(pieceSize: number, end = Number.POSITIVE_INFINITY): Generator<Buffer, void, void> {
    const memory = Buffer.allocUnsafeSlow(Math.max(1, Math.min(pieceSize, this.size)))
    for (let at = 0; at < end; ) {
      const length = readAt(this.descriptor, memory, Math.min(memory.length, end - at), at)
      if (length === 0) return
      yield memory.subarray(0, length)
      at += length
    }
  }

  /** Where the NUL bytes begin that the file ends in; its size when it ends in none; null: they are more than `most`. */
  nulPadding(most: number): number | null {
    const begin = this.#nulRun(most)
    if (begin === null) return null
    const head = Buffer.alloc(2)
    readAt(this.descriptor, head, 2, 0)
    const littleEndian = head[0] === 0xff ? head[1] === 0xfe : head[0] === 0x3c && head[1] === 0
    // In UTF-16LE a NUL in an odd place is the second half of a character such as ">".
    return littleEndian && begin > 2 && begin % 2 === 1 ? begin + 1 : begin
  }

  #nulRun(most: number): number | null {
    let memory = Buffer.alloc(4_096)
    let end = this.size
    while (end > 0) {
      const at = Math.max(0, end - memory.length)
      const piece = memory.subarray(0, readAt(this.descriptor, memory, end - at, at))
      let kept = piece.length
      while (kept > 0 && piece[kept - 1] === 0) kept--
      if (kept > 0) return at + kept
      end = at
      if (this.size - end > most) return null
      // Hardly any file ends in NUL bytes; one that does may end in many.
      memory = Buffer.alloc(PADDING_STEP)
    }
    return end
  }

  /** Whether descriptor and path still show the file as it was when it was opened. */
  unchanged(): boolean {
    try {
      const now = identityOf(fstatSync(this.descriptor, { bigint: true }))
      // A file that is removed or replaced gets another ctime.
      if (this.#isHandedOver) return sameIdentity(now, this.identity)
      using directory = directoryOf(this.#path, this.#root)
      const there = lstatSync(directory.entry(basename(this.#path)), { bigint: true })
      return sameIdentity(now, this.identity) && sameIdentity(identityOf(there), this.identity)
    } catch {
      return false
    }
  }

  /** Never throws: on a mount that is gone a close fails, after all bytes were read or a read has said so. */
  [Symbol.dispose](): void {
    if (this.#isHandedOver) return
    try {
      closeSync(this.descriptor)
    } catch {}
  }
}
