// The two hashes of a feed: SHA-256, by which a version is known, and MD5, which storage answers with. The
// thread that checks a small feed hashes it afterwards; a large one is hashed by a thread beside it (hash-thread.ts);
// a packed one while it is unpacked, as it lies nowhere where nothing is copied.

import { createHash, type Hash } from 'node:crypto'
import { readAt, Unreadable } from './source-file.ts'

export interface Digests {
  /** Lower-case hexadecimal, both. */
  sha256: string
  /** Null: what is not copied is not sent. */
  md5: string | null
}

export class Hashing {
  readonly #sha256 = createHash('sha256')
  readonly #md5: Hash | null

  constructor(isCopied: boolean) {
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

/** The first `size` bytes of an open file. */
export interface HashJob {
  descriptor: number
  size: number
  isCopied: boolean
}

/** What the hashing thread is sent. */
export interface FollowedFile extends HashJob {
  /** One BigInt64: how many bytes may be read by now, or `GIVEN_UP`. */
  progress: SharedArrayBuffer
}

/** Nobody wants the hashes any more. */
export const GIVEN_UP = -1n

/** Bytes that are hashed at a time. */
const PIECE = 65_536

/**
 * Reads and hashes a file. `endAfter`: waits until more bytes are there than these, and answers how many. Rejects with
 * `Unreadable`.
 */
export async function hashFile(
  { descriptor, size, isCopied }: HashJob,
  endAfter: (bytes: number) => number = () => size,
): Promise<Digests> {
  const hashing = new Hashing(isCopied)
  const memory = Buffer.allocUnsafeSlow(Math.min(PIECE, size))
  for (let at = 0; at < size; ) {
    const length = readAt(descriptor, memory, Math.min(PIECE, endAfter(at) - at), at)
    if (length === 0) throw new Unreadable(new Error('got shorter while it was read'))
    hashing.update(memory.subarray(0, length))
    at += length
  }
  return hashing.digest()
}
