// Makes the private copy of a feed, or its posting index, in a new file that only this user can read. The file is
// removed unless the caller keeps it. A copy is durable before its use; the spool gives it its final name. Where the
// file system can, the copy of a large feed is a clone, which shares the blocks of the vendor's file.

import { closeSync, fsync, openSync, rmSync, write, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { errnoText } from '../lib/errno.ts'
import { systemReason } from '../lib/errors.ts'
import { tryClone } from '../lib/files.ts'
import type { SourceFile } from './source-file.ts'

/** A write of at least ASYNC_WRITE bytes uses another thread: that costs less than waiting for the kernel's pages. */
const ASYNC_WRITE = 2 ** 20
/** CLONED_FROM, in bytes: a smaller file is copied in less time than it takes the system to write the source first. */
const CLONED_FROM = 2 ** 20

/** NoRoom means that the copy or index cannot be written. It says nothing about the feed. */
export class NoRoom extends Error {
  readonly outcome: { kind: 'no-room'; code: string; reason: string; hint: string }

  constructor(what: string, path: string, cause: unknown) {
    // The message leaves out the file's name, which differs each time.
    super(`${what} in ${dirname(path)} cannot be written: ${systemReason(cause)}`, { cause })
    const subject = { name: what, setting: 'state.directory', use: 'write' } as const
    const { code, hint } = errnoText(cause, subject)
    this.outcome = { kind: 'no-room', code: code ?? 'EIO', reason: this.message, hint }
  }
}

export class SpoolCopy implements Disposable {
  /** descriptor is open for writing and reading until the copy is kept or disposed of. */
  readonly descriptor: number
  readonly #what: string
  readonly #path: string
  #isClone = false
  #isKept = false

  /** `what` names the content in messages. Throws `NoRoom`. An existing file stays untouched. */
  constructor(path: string, what = 'the copy') {
    this.#what = what
    this.#path = path
    try {
      this.descriptor = openSync(path, 'wx+', 0o600)
    } catch (error) {
      throw new NoRoom(what, path, error)
    }
  }

  /**
   * cloneFrom makes the copy a clone of the source if it can, and then the source is read from the copy. It decides
   * alone how the bytes come into the copy: a clone has them all, and `write` adds nothing to it.
   */
  async cloneFrom(source: SourceFile): Promise<void> {
    if (source.size < CLONED_FROM) return
    try {
      this.#isClone = await tryClone(source.descriptor, this.descriptor)
    } catch (error) {
      throw new NoRoom(this.#what, this.#path, error)
    }
    if (this.#isClone) source.readFrom(this.descriptor)
  }

  /** write appends bytes; large writes do not block this thread. One call at a time. Rejects with `NoRoom`. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#isClone) return
    try {
      let at = 0
      while (bytes.length - at >= ASYNC_WRITE) {
        const { bytesWritten } = await promisify(write)(this.descriptor, bytes.subarray(at))
        at += bytesWritten
      }
      writeFileSync(this.descriptor, bytes.subarray(at))
    } catch (error) {
      throw new NoRoom(this.#what, this.#path, error)
    }
  }

  /** sync makes the bytes durable, but not the file's temporary name. It does not block. Rejects with `NoRoom`. */
  async sync(): Promise<void> {
    try {
      await promisify(fsync)(this.descriptor)
    } catch (error) {
      throw new NoRoom(this.#what, this.#path, error)
    }
  }

  keep(): void {
    this.#isKept = true
    closeSync(this.descriptor)
  }

  /** Disposal removes the file unless it was kept. */
  [Symbol.dispose](): void {
    if (this.#isKept) return
    closeSync(this.descriptor)
    rmSync(this.#path, { force: true })
  }
}
