// Holds a small feed in memory while it is read, for whoever makes it durable together with others.

import { HeldIndex } from './index-place.ts'
import type { HeldCopy } from './port.ts'

export class HeldFeed {
  readonly #bytes: Uint8Array
  #length = 0
  #index = new HeldIndex()

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

  /** For a reading from the start: what an earlier one has counted is of no use then. */
  newIndex(): HeldIndex {
    this.#index = new HeldIndex()
    return this.#index
  }

  get copy(): HeldCopy {
    return { bytes: this.#bytes, index: this.#index.bytes }
  }
}
