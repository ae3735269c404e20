// Writes the private copy of a feed: a new file for this user alone, its bytes durable before anybody
// hears of it, and gone again unless it is kept. Its lasting name is the spool's business.

import { closeSync, fsync, fsyncSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { NoRoom, translated } from '../lib/no-room.ts'
import { giveToOwnerOf } from '../lib/owner.ts'
import { writeAll } from '../lib/write-all.ts'

const WHAT = 'the copy'

export class SpoolCopy {
  readonly #path: string
  readonly #fd: number
  #length = 0
  #closed = false

  /** Throws `NoRoom`; a file that is there already is left alone. */
  constructor(path: string) {
    this.#path = path
    this.#fd = translated(WHAT, path, () => openSync(path, 'wx', 0o600))
    giveToOwnerOf(dirname(path), this.#fd)
  }

  /** Answers the bytes that it holds now. */
  write(bytes: Buffer): number {
    translated(WHAT, this.#path, () => writeAll(this.#fd, bytes))
    this.#length += bytes.length
    return this.#length
  }

  /** Makes the bytes durable. The name is not: it lasts until the spool gives them another one. */
  sync(): void {
    translated(WHAT, this.#path, () => fsyncSync(this.#fd))
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
          reject(new NoRoom(WHAT, this.#path, error))
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
