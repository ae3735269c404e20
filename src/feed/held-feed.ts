// Holds a small feed in memory while it is read, for whoever makes it durable together with others.

import type { HeldCopy } from './port.ts'

export class HeldFeed {
  readonly #bytes: Uint8Array
  #length = 0

  constructor(size: number) {
    // Not of Node's pool: it is handed over to another thread.
    this.#bytes = new Uint8Array(size)
  }

  /** Answers the bytes that it holds now. */
  write(piece: Uint8Array): number {
    this.#bytes.set(piece, this.#length)
    this.#length += piece.length
    return this.#length
  }

  copy(index: Uint8Array): HeldCopy {
    return { bytes: this.#bytes, index }
  }
}
