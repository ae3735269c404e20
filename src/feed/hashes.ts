// The two hashes of a feed: SHA-256, by which a version is known, and MD5, which storage answers with. The
// thread that checks a small feed hashes it, too; a large one is hashed by a thread beside it (hash-thread.ts).

import { createHash, type Hash } from 'node:crypto'
import { readWhole } from '../lib/read-whole.ts'

export interface Digests {
  /** Lower-case hexadecimal, both. */
  sha256: string
  /** Null: what is not copied is not sent. */
  md5: string | null
}

/** What the reader of a feed hands its bytes to. */
export interface Hashing extends AsyncDisposable {
  /** The next bytes. `end`: how many of the file there are with them, in the file and in its copy. */
  take(bytes: Uint8Array, end: number): void
  /** After the last byte. */
  digest(): Promise<Digests>
}

const PIECE = 65_536

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

  async digest(): Promise<Digests> {
    return { sha256: this.#sha256.digest('hex'), md5: this.#md5?.digest('hex') ?? null }
  }

  async [Symbol.asyncDispose](): Promise<void> {}
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

/** Reads and hashes a file. `endAfter`: waits until more bytes are there than these, and answers how many. Rejects with the system's error. */
export async function hashFile(
  { descriptor, size, isCopied }: HashJob,
  endAfter: (bytes: number) => number = () => size,
): Promise<Digests> {
  const hashes = new Hashes(isCopied)
  const memory = Buffer.allocUnsafeSlow(PIECE)
  for (let at = 0; at < size; ) {
    const length = Math.min(PIECE, endAfter(at) - at)
    if (readWhole(descriptor, memory, 0, length, at) < length)
      throw new Error('the file got shorter')
    hashes.take(memory.subarray(0, length))
    at += length
  }
  return hashes.digest()
}
