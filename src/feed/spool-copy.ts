// Writes the private copy of a feed: a new file for this user alone, its bytes durable before anybody
// hears of it, and gone again unless it is kept. Its lasting name is the spool's business.

import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { errorCode, messageOf } from '../lib/errors.ts'

/** The copy cannot be written: `code` is the system's (`ENOSPC`, `EROFS`, `EEXIST`). */
export class NoRoom extends Error {
  readonly code: string

  constructor(path: string, cause: unknown) {
    super(`the copy ${path} cannot be written: ${messageOf(cause)}`, { cause })
    this.code = errorCode(cause) ?? 'EIO'
  }
}

export class SpoolCopy {
  readonly #path: string
  readonly #fd: number
  #closed = false

  /** Throws `NoRoom`; a file that is there already is left alone. */
  constructor(path: string) {
    this.#path = path
    this.#fd = translated(path, () => openSync(path, 'wx', 0o600))
  }

  write(bytes: Buffer): void {
    translated(this.#path, () => {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at)
    })
  }

  /** Makes the bytes durable. The name is not: it lasts until the spool gives them another one. */
  keep(): void {
    translated(this.#path, () => fsyncSync(this.#fd))
    this.#close()
  }

  /** Does nothing once the copy is kept. */
  discard(): void {
    if (this.#closed) return
    this.#close()
    rmSync(this.#path, { force: true })
  }

  #close(): void {
    this.#closed = true
    closeSync(this.#fd)
  }
}

function translated<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new NoRoom(path, error)
  }
}
