// Writes the private copy of a feed, or its posting index: a new file for this user alone, that is removed
// again unless it is kept. A copy is durable before anybody hears of it; its lasting name is the spool's business.

import { closeSync, fsync, fsyncSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { NoRoom, translated } from '../lib/no-room.ts'
import { giveToOwnerOf } from '../lib/owner.ts'
import { writeAll } from '../lib/write-all.ts'

export class SpoolCopy {
  readonly #what: string
  readonly #path: string
  readonly #fd: number
  #length = 0
  #closed = false

  /** `what` it holds, for a sentence. Throws `NoRoom`; a file that is there already is left alone. */
  constructor(path: string, what = 'the copy') {
    this.#what = what
    this.#path = path
    this.#fd = translated(what, path, () => openSync(path, 'wx', 0o600))
    giveToOwnerOf(dirname(path), this.#fd)
  }

  /** Answers the bytes that it holds now. */
  write(bytes: Uint8Array): number {
    translated(this.#what, this.#path, () => writeAll(this.#fd, bytes))
    this.#length += bytes.length
    return this.#length
  }

  /** Makes the bytes durable. The name is not: it lasts until the spool gives them another one. */
  sync(): void {
    translated(this.#what, this.#path, () => fsyncSync(this.#fd))
  }

  /** The same while this thread goes on, and keeps the copy. Rejects with `NoRoom`, and it is gone then. */
  keptDurably(): Promise<void> {
    return new Promise((resolve, reject) => {
      fsync(this.#fd, (error) => {
        if (error === null) {
          this.#close()
          resolve()
        } else {
          this.discard()
          reject(new NoRoom(this.#what, this.#path, error))
        }
      })
    })
  }

  keep(): void {
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
