// The two hashes of a feed: SHA-256, by which a version is known, and MD5, which storage answers with, and
// which takes longer than everything else. Small feeds are hashed by the thread that checks them.

import { createHash, type Hash } from 'node:crypto'

export interface Digests {
  /** Lower-case hexadecimal, both. */
  sha256: string
  /** Null: what is not copied is not sent. */
  md5: string | null
}

/** What the reader of a feed hands its bytes to. */
export interface Hashing {
  /** The next bytes; `read` and `copied`: how many there were with them, in the file and in the copy. */
  take(bytes: Uint8Array, read: number, copied: number): void
  /** After the last byte. Throws the system's error. */
  digest(): Digests
}

/** In the thread that calls. */
export class Hashes implements Hashing {
  readonly #sha256 = createHash('sha256')
  readonly #md5: Hash | null

  constructor(isCopied: boolean) {
    this.#md5 = isCopied ? createHash('md5') : null
  }

  take(bytes: Uint8Array): void {
    this.#sha256.update(bytes)
    this.#md5?.update(bytes)
  }

  digest(): Digests {
    return { sha256: this.#sha256.digest('hex'), md5: this.#md5?.digest('hex') ?? null }
  }
}
