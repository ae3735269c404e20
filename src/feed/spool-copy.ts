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

/** A write of at least ASYNC_WRITE bytes uses another thread, so this thread need not wait for new memory pages. */
const ASYNC_WRITE = 2 ** 20
/**
 * CLONED_FROM is the size in bytes from which files are cloned. Before a clone the system writes the source to disk,
 * and a smaller file is copied in less time.
 */
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
   * cloneFrom makes the copy a clone of the source if the source is large and the file system can clone. Then the
   * source is read from the copy, and `write` does nothing, because a clone has all bytes. Rejects with `NoRoom`.
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

  /** write appends bytes unless the copy is a clone. Await it before the next call. Rejects with `NoRoom`. */
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

  /** sync makes the bytes durable, but not the file's temporary name. Rejects with `NoRoom`. */
  async sync(): Promise<void> {
    try {
      await promisify(fsync)(this.descriptor)
    } catch (error) {
      throw new NoRoom(this.#what, this.#path, error)
    }
  }

  /** keep closes the descriptor and lets the file outlive this object. */
  keep(): void {
    this.#isKept = true
    closeSync(this.descriptor)
  }

  /** Disposal closes the descriptor and removes the file, unless the file was kept. */
  [Symbol.dispose](): void {
    if (this.#isKept) return
    closeSync(this.descriptor)
    rmSync(this.#path, { force: true })
  }
}
