// A file without a name: what does not fit into memory is put there and read again. It is gone with its
// descriptor, so that nothing is left of it, not even by a SIGKILL.

import { randomUUID } from 'node:crypto'
import { closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { translated } from '../lib/no-room.ts'
import { readWhole } from '../lib/read-whole.ts'
import { writeAll } from '../lib/write-all.ts'

export class ScratchFile {
  readonly #path: string
  readonly #fd: number
  #size = 0

  /** Throws `NoRoom`, as every method does. */
  constructor(directory: string) {
    this.#path = join(directory, `${randomUUID()}.part`)
    this.#fd = translated('the scratch file', this.#path, () => {
      const fd = openSync(this.#path, 'wx+', 0o600)
      rmSync(this.#path)
      return fd
    })
  }

  get size(): number {
    return this.#size
  }

  append(bytes: Uint8Array): void {
    translated('the scratch file', this.#path, () => {
      writeAll(this.#fd, bytes, this.#size)
      this.#size += bytes.length
    })
  }

  /** Fills `bytes` from `at` on; all of them were written before. */
  read(bytes: Uint8Array, at: number): void {
    translated('the scratch file', this.#path, () => {
      const read = readWhole(this.#fd, bytes, 0, bytes.length, at)
      if (read < bytes.length) throw new Error('it is shorter than it was')
    })
  }

  close(): void {
    closeSync(this.#fd)
  }
}
