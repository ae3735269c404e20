// Opens and reads a file that another process can write, replace or remove. It follows no link below the root, never
// blocks on a fifo, and detects whether the file changed.

import { type BigIntStats, closeSync, fstatSync, lstatSync, openSync } from 'node:fs'
import { basename, dirname, relative } from 'node:path'
import { OpenDirectory, READ_FLAGS } from '../lib/beneath.ts'
import { CallMark } from '../lib/call-mark.ts'
import { type ErrnoSubject, errnoText } from '../lib/errno.ts'
import {
  type FileIdentity,
  identityOf,
  readWhole,
  sameIdentity,
  specialKind,
} from '../lib/files.ts'
import type { CheckResult } from './port.ts'

const FILE: ErrnoSubject = {
  name: 'it',
  setting: 'the path',
  use: 'read',
  hints: { ELOOP: 'replace the link with the file itself' },
}

export class Unreadable extends Error {
  readonly outcome: Extract<CheckResult, { kind: 'unreadable' }>

  /** `cause` is the system's error. `isOpen` says that the error came after the file was opened. */
  constructor(cause: unknown, { isOpen = false }: { isOpen?: boolean } = {}) {
    const { code, hint, reason } = errnoText(cause, { ...FILE, isOpen })
    super(reason, { cause })
    this.outcome = { kind: 'unreadable', code, reason, hint }
  }
}

/**
 * mark shows another thread the call about a vendor's file that runs in this thread; null means that no thread looks.
 */
let mark: CallMark | null = null

/** markCalls lets another thread see a call about a vendor's file that does not return (lib/call-mark.ts). */
export function markCalls(memory: SharedArrayBuffer): void {
  mark = new CallMark(memory)
}

/** marked makes a call about a vendor's file, so that another thread can see that it does not return. */
function marked<T>(path: string, call: () => T): T {
  mark?.begin(path)
  try {
    return call()
  } finally {
    mark?.end()
  }
}

/** readAt fills `memory` and returns how many bytes it read: fewer only at the end of the file. Throws `Unreadable`. */
export function readAt(descriptor: number, memory: Buffer, at: number): number {
  try {
    return readWhole(descriptor, memory, at)
  } catch (error) {
    throw new Unreadable(error, { isOpen: true })
  }
}

/** PADDING_STEP is how many bytes at the end of a file are read at once to find the last byte that is not NUL. */
const PADDING_STEP = 2 ** 20

/**
 * openSource opens a file for reading. `root` is the absolute path of a folder above the file: no link below it is
 * followed. The default is the file's own folder. `opened` is a descriptor of the file, which the caller closes. Throws
 * `Unreadable`, also for anything that is not a regular file.
 */
export function openSource(
  path: string,
  root: string = dirname(path),
  opened?: number,
): SourceFile {
  const fd = opened ?? marked(path, () => openedAt(path, root))
  const stats = marked(path, () => fstatSync(fd, { bigint: true }))
  const file = new SourceFile({ path, root, fd, stats, isHandedOver: opened !== undefined })
  if (stats.isFile() && Number.isSafeInteger(file.size)) return file
  file[Symbol.dispose]()
  if (stats.isFile()) throw new Unreadable(new Error('is larger than any feed can be'))
  const what = stats.isDirectory() ? 'a directory' : `a ${specialKind(stats)}`
  throw new Unreadable(new Error(`is ${what}, not a regular file`))
}

function openedAt(path: string, root: string): number {
  try {
    using directory = directoryOf(path, root)
    return openSync(directory.entry(basename(path)), READ_FLAGS)
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
  /** isSparse is true if most of the file is holes, which read as NUL bytes and use no disk space. */
  readonly isSparse: boolean
  readonly #path: string
  readonly #root: string
  /** #fd is the descriptor of the vendor's file. Disposal closes it unless `#isHandedOver`. */
  readonly #fd: number
  #descriptor: number
  readonly #isHandedOver: boolean

  constructor({
    fd,
    isHandedOver,
    path,
    root,
    stats,
  }: {
    fd: number
    /** Another user opened the file, and this user might be unable to look at its path. */
    isHandedOver: boolean
    path: string
    root: string
    stats: BigIntStats
  }) {
    this.#isHandedOver = isHandedOver
    this.#path = path
    this.#root = root
    this.#fd = fd
    this.#descriptor = fd
    this.identity = identityOf(stats)
    this.size = Number(stats.size)
    // A compressing file system cannot shrink XML by a factor of 32.
    this.isSparse = stats.blocks * 512n * 32n < stats.size
  }

  /** descriptor is the descriptor of the file, or of its clone. It is open for reading until disposal. */
  get descriptor(): number {
    return this.#descriptor
  }

  /** readFrom makes all later reads use the descriptor of a clone. `isUnchanged` still looks at the file itself. */
  readFrom(clone: number): void {
    this.#descriptor = clone
  }

  /**
   * pieces reads the file up to the byte `end`. Each piece overwrites the memory of the one before. Throws
   * `Unreadable`.
   */
  *pieces(pieceSize: number, end = Number.POSITIVE_INFINITY): Generator<Buffer, void, void> {
    const memory = Buffer.allocUnsafeSlow(Math.max(1, Math.min(pieceSize, this.size)))
    for (let at = 0; at < end; ) {
      const length = this.#readAt(memory.subarray(0, Math.min(memory.length, end - at)), at)
      if (length === 0) return
      yield memory.subarray(0, length)
      at += length
    }
  }

  /**
   * paddingStart returns where the NUL bytes at the end of the file begin; null if the file ends in more than `most`.
   */
  paddingStart(most: number): number | null {
    const start = this.#nulStart(most)
    if (start === null) return null
    const head = Buffer.alloc(2)
    this.#readAt(head, 0)
    const beginsWithMark = head[0] === 0xff && head[1] === 0xfe
    const beginsWithWideTag = head[0] === 0x3c && head[1] === 0
    const isLittleEndian = beginsWithMark || beginsWithWideTag
    // In UTF-16LE a NUL at an odd offset is the second half of a character such as ">".
    return isLittleEndian && start > 2 && start % 2 === 1 ? start + 1 : start
  }

  #readAt(memory: Buffer, at: number): number {
    return marked(this.#path, () => readAt(this.descriptor, memory, at))
  }

  /** #nulStart returns the place after the last byte that is not NUL; null if more than `most` NUL bytes follow it. */
  #nulStart(most: number): number | null {
    let memory = Buffer.alloc(4_096)
    let end = this.size
    while (end > 0) {
      const at = Math.max(0, end - memory.length)
      const piece = memory.subarray(0, this.#readAt(memory.subarray(0, end - at), at))
      let kept = piece.length
      while (kept > 0 && piece[kept - 1] === 0) kept--
      if (kept > 0) return at + kept
      end = at
      if (this.size - end > most) return null
      // Few files end in NUL bytes, but such a file can end in many of them, so the next pieces are larger.
      memory = Buffer.alloc(PADDING_STEP)
    }
    return end
  }

  /** isUnchanged returns true if descriptor and path still lead to the file as it was opened. */
  isUnchanged(): boolean {
    return marked(this.#path, () => this.#hasSameIdentity())
  }

  #hasSameIdentity(): boolean {
    try {
      const now = identityOf(fstatSync(this.#fd, { bigint: true }))
      // The ctime of the open file changes when its path is removed or replaced.
      if (this.#isHandedOver) return sameIdentity(now, this.identity)
      using directory = directoryOf(this.#path, this.#root)
      const there = lstatSync(directory.entry(basename(this.#path)), { bigint: true })
      return sameIdentity(now, this.identity) && sameIdentity(identityOf(there), this.identity)
    } catch {
      return false
    }
  }

  /** Disposal ignores a failed close, which a lost mount can cause: every read has reported its own error. */
  [Symbol.dispose](): void {
    if (this.#isHandedOver) return
    try {
      closeSync(this.#fd)
    } catch {}
  }
}
