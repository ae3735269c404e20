// Opens and reads a file that somebody else may be writing, replacing or removing: follows no link in
// its folder, never blocks on a fifo, and knows whether it is still the file that was looked at.

import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs'
import { basename, dirname, relative } from 'node:path'
import { OpenDirectory } from '../lib/beneath.ts'
import { errorCode, messageOf } from '../lib/errors.ts'
import { isLasting } from '../lib/file-errors.ts'
import { type FileIdentity, identityOf, sameIdentity } from '../lib/file-identity.ts'
import { readWhole } from '../lib/read-whole.ts'

/** `code` is the system's. `lasting`: it stays so until somebody changes the file (lib/file-errors.ts). */
export interface UnreadableFile {
  kind: 'unreadable'
  code: string
  reason: string
  lasting: boolean
}

export type Opened = { kind: 'opened'; file: SourceFile } | UnreadableFile

/** A file that cannot be read. */
export class Unreadable extends Error {
  readonly outcome: UnreadableFile

  constructor(cause: unknown) {
    const code = errorCode(cause) ?? 'EIO'
    const reason = `the file cannot be read (${code})`
    super(reason, { cause })
    this.outcome = { kind: 'unreadable', code, reason, lasting: isLasting(code) }
  }
}

const PADDING_STEP = 2 ** 20

const REASONS: Record<string, string> = {
  ELOOP: 'the path is a symbolic link, which is never followed',
  ENOENT: 'there is no such file',
  ENAMETOOLONG: 'its name is too long',
  ENOTDIR: 'a part of its path is a link, or no directory',
  EACCES: 'the file may not be read by this user; check its permissions and those of its folders',
  EPERM: 'the file may not be read by this user; check its permissions and those of its folders',
  ENXIO: 'the path is a socket or device, not a regular file',
}

/** `root`: absolute path of a directory above the file, below which no link is followed; its own by default. */
export function openSource(path: string, root: string = dirname(path)): Opened {
  let fd: number
  try {
    using directory = directoryOf(path, root)
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
    fd = openSync(directory.entry(basename(path)), flags)
  } catch (error) {
    const code = errorCode(error) ?? 'EIO'
    const said = errorCode(error) === null ? messageOf(error) : code
    const reason = REASONS[code] ?? `the file cannot be opened (${said})`
    // A socket; a read or a look that ends so is about the disk.
    const lasting = code === 'ENXIO' || isLasting(code)
    return { kind: 'unreadable', code, reason, lasting }
  }
  const stats = fstatSync(fd, { bigint: true })
  if (stats.isFile()) return { kind: 'opened', file: new SourceFile(path, root, fd, stats) }
  closeSync(fd)
  const what = stats.isDirectory() ? 'a directory' : stats.isFIFO() ? 'a fifo' : 'a device'
  const code = stats.isDirectory() ? 'EISDIR' : 'EINVAL'
  const reason = `the path is ${what}, not a regular file`
  return { kind: 'unreadable', code, reason, lasting: true }
}

function directoryOf(path: string, root: string): OpenDirectory {
  return OpenDirectory.atSync(root, relative(root, dirname(path)))
}

export class SourceFile {
  readonly identity: FileIdentity
  readonly size: number
  /** Most of it is not stored: holes, which read as NUL bytes, and cost nothing to make. */
  readonly isSparse: boolean
  readonly #path: string
  readonly #root: string
  /** Open for reading until `close`. */
  readonly descriptor: number

  constructor(path: string, root: string, fd: number, stats: BigIntStats) {
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
      const length = this.read(memory, Math.min(memory.length, end - at), at)
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
    this.read(head, 2, 0)
    const littleEndian = head[0] === 0xff ? head[1] === 0xfe : head[0] === 0x3c && head[1] === 0
    // In UTF-16LE a NUL in an odd place is the second half of a character such as ">".
    return littleEndian && begin > 2 && begin % 2 === 1 ? begin + 1 : begin
  }

  #nulRun(most: number): number | null {
    let memory = Buffer.alloc(4_096)
    let end = this.size
    while (end > 0) {
      const at = Math.max(0, end - memory.length)
      const piece = memory.subarray(0, this.read(memory, end - at, at))
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
      using directory = directoryOf(this.#path, this.#root)
      const there = lstatSync(directory.entry(basename(this.#path)), { bigint: true })
      return sameIdentity(now, this.identity) && sameIdentity(identityOf(there), this.identity)
    } catch {
      return false
    }
  }

  /** Never throws: on a mount that is gone a close fails, after all bytes were read or a read has said so. */
  close(): void {
    try {
      closeSync(this.descriptor)
    } catch {}
  }

  /** Bytes that were read, fewer than `length` only at the end. Throws `Unreadable`. */
  read(memory: Buffer, length: number, at: number): number {
    try {
      return readWhole(this.descriptor, memory, 0, length, at)
    } catch (error) {
      throw new Unreadable(error)
    }
  }
}
