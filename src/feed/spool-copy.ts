// Writes the private copy of a feed, or its posting index, into a new file that only this user can read. The file is
// removed unless the caller keeps it. A copy is durable before its use; the spool gives it its final name.

import { closeSync, fsync, openSync, rmSync, write, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { errnoText } from '../lib/errno.ts'
import { systemReason } from '../lib/errors.ts'

/** A write of at least ASYNC_WRITE bytes uses another thread: that costs less than waiting for the kernel's pages. */
const ASYNC_WRITE = 2 ** 20

/** NoRoom means that the copy or index cannot be written; the feed may be fine. */
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

export class SpoolCopy {
  /** descriptor is open for writing and reading until the copy is kept or discarded. */
  readonly descriptor: number
  readonly #what: string
  readonly #path: string
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

  /** write appends bytes; large writes do not block this thread. One call at a time. Rejects with `NoRoom`. */
  async write(bytes: Uint8Array): Promise<void> {
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

  /** discard removes the file unless it was kept. */
  discard(): void {
    if (this.#isKept) return
    closeSync(this.descriptor)
    rmSync(this.#path, { force: true })
  }
}
