// Writes the private copy of a feed, or its posting index: a new file for this user alone, that is removed
// again unless it is kept. A copy is durable before it is used; the spool gives it its lasting name.

import { closeSync, fsync, openSync, rmSync, write, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { errorCode, systemReason } from '../lib/errors.ts'

/** From so many bytes on a write goes to another thread: the way there costs less than the kernel's new pages. */
const BESIDE = 2 ** 20

/** The file cannot be written: nothing is said of the feed, which may be fine. */
export class NoRoom extends Error {
  readonly outcome: { kind: 'no-room'; code: string; reason: string }

  constructor(what: string, path: string, cause: unknown) {
    // Not the name, which is another one each time.
    super(`${what} in ${dirname(path)} cannot be written: ${systemReason(cause)}`, { cause })
    this.outcome = { kind: 'no-room', code: errorCode(cause) ?? 'EIO', reason: this.message }
  }
}

export class SpoolCopy {
  /** Open for writing and reading until the copy is kept or discarded. */
  readonly descriptor: number
  readonly #what: string
  readonly #path: string
  #isKept = false

  /** `what` it holds, for a sentence. Throws `NoRoom`; a file that is there already is left alone. */
  constructor(path: string, what = 'the copy') {
    this.#what = what
    this.#path = path
    try {
      this.descriptor = openSync(path, 'wx+', 0o600)
    } catch (error) {
      throw new NoRoom(what, path, error)
    }
  }

  /** Writes the next bytes, many of them while this thread goes on. Rejects with `NoRoom`. One call at a time. */
  async write(bytes: Uint8Array): Promise<void> {
    try {
      let at = 0
      while (bytes.length - at >= BESIDE) {
        const { bytesWritten } = await promisify(write)(this.descriptor, bytes.subarray(at))
        at += bytesWritten
      }
      writeFileSync(this.descriptor, bytes.subarray(at))
    } catch (error) {
      throw new NoRoom(this.#what, this.#path, error)
    }
  }

  /**
   * Makes the bytes durable while this thread goes on. The name is not: it lasts until the spool gives them
   * another one. Rejects with `NoRoom`.
   */
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

  /** Does nothing once the copy is kept. */
  discard(): void {
    if (this.#isKept) return
    closeSync(this.descriptor)
    rmSync(this.#path, { force: true })
  }
}
