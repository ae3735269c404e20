// The two hashes of a feed: SHA-256 identifies a version, and storage answers with MD5. A small feed is hashed by the
// checking thread after the check, a large one by the main thread meanwhile (hash-follower.ts). A packed feed is hashed
// while it is unpacked, because without a copy its unpacked bytes are stored nowhere.

import { createHash, type Hash } from 'node:crypto'
import { readAt, Unreadable } from './source-file.ts'

export interface Digests {
  /** Lower-case hexadecimal, like `md5`. */
  sha256: string
  /** Null if the file is not copied, because only copies are sent. */
  md5: string | null
}

export class Hashing {
  readonly #sha256 = createHash('sha256')
  readonly #md5: Hash | null

  constructor({ isCopied }: { isCopied: boolean }) {
    this.#md5 = isCopied ? createHash('md5') : null
  }

  update(bytes: Uint8Array): void {
    this.#sha256.update(bytes)
    this.#md5?.update(bytes)
  }

  digest(): Digests {
    return { sha256: this.#sha256.digest('hex'), md5: this.#md5?.digest('hex') ?? null }
  }
}

/** HashJob asks for the hashes of the first `size` bytes of an open file. */
export interface HashJob {
  descriptor: number
  size: number
  isCopied: boolean
}

/** PIECE is how many bytes are read and hashed at once. */
const PIECE = 65_536

/** hashFile reads and hashes a file. Rejects with `Unreadable`. */
export async function hashFile({ descriptor, size, isCopied }: HashJob): Promise<Digests> {
  const hashing = new Hashing({ isCopied })
  const memory = Buffer.allocUnsafeSlow(Math.min(PIECE, size))
  for (let at = 0; at < size; ) {
    const length = readAt(descriptor, memory.subarray(0, Math.min(PIECE, size - at)), at)
    if (length === 0) throw new Unreadable(new Error('became shorter while it was read'))
    hashing.update(memory.subarray(0, length))
    at += length
  }
  return hashing.digest()
}
