// Hashes a large feed in a thread of its own, behind the one that checks it: it reads again what that one
// has written, from the kernel's cache, and follows it through two counters in shared memory. What the
// copy holds is read from the copy, so that the hashes are those of the bytes that will be sent.

import { type FileIdentity, sameIdentity } from '../lib/file-identity.ts'
import { type Digests, Hashes, type Hashing } from './hashes.ts'
import { openSource, type SourceFile, Unreadable } from './source-file.ts'

export interface Followed {
  /** The same for the whole reading: whatever else is found, the file has changed. */
  size: number
  source: string
  /** See `CheckJob`. */
  root?: string | undefined
  /** See `CheckJob`. */
  expected?: FileIdentity | null
  copy: string | null
  /** See `FollowedState`. */
  shared: SharedArrayBuffer
}

const PIECE = 65_536
const SHA256_BYTES = 32
const MD5_BYTES = 16
/** Two counters and the outcome, in 8 bytes each, then the digests. */
const DIGESTS_AT = 24
const [READ, COPIED, OUTCOME] = [0, 1, 2]
const [PENDING, DONE, FAILED] = [0n, 1n, 2n]

export function sharedState(): SharedArrayBuffer {
  return new SharedArrayBuffer(DIGESTS_AT + SHA256_BYTES + MD5_BYTES)
}

/** The memory that the threads share. */
class FollowedState {
  readonly #words: BigInt64Array<SharedArrayBuffer>
  readonly #digests: Uint8Array<SharedArrayBuffer>

  constructor(shared: SharedArrayBuffer) {
    this.#words = new BigInt64Array(shared, 0, DIGESTS_AT / 8)
    this.#digests = new Uint8Array(shared, DIGESTS_AT)
  }

  /** Bytes of the copy, which are published before those read. */
  get copied(): number {
    return Number(Atomics.load(this.#words, COPIED))
  }

  publish(read: number, copied: number): void {
    Atomics.store(this.#words, COPIED, BigInt(copied))
    Atomics.store(this.#words, READ, BigInt(read))
    Atomics.notify(this.#words, READ)
  }

  /** Bytes that were read; waits until they are more than `known`. */
  readBeyond(known: number): number {
    Atomics.wait(this.#words, READ, BigInt(known))
    return Number(Atomics.load(this.#words, READ))
  }

  done({ sha256, md5 }: Digests): void {
    this.#digests.set(Buffer.from(sha256 + (md5 ?? ''), 'hex'))
    this.#end(DONE)
  }

  failed(): void {
    this.#end(FAILED)
  }

  /** Waits for the other thread; null: it failed. */
  digests(isCopied: boolean): Digests | null {
    Atomics.wait(this.#words, OUTCOME, PENDING)
    if (Atomics.load(this.#words, OUTCOME) !== DONE) return null
    const hex = Buffer.from(this.#digests).toString('hex')
    const md5 = isCopied ? hex.slice(SHA256_BYTES * 2) : null
    return { sha256: hex.slice(0, SHA256_BYTES * 2), md5 }
  }

  #end(outcome: bigint): void {
    Atomics.compareExchange(this.#words, OUTCOME, PENDING, outcome)
    Atomics.notify(this.#words, OUTCOME)
  }
}

/** The hashing thread: follows to the end, or fails. */
export function follow(followed: Followed): void {
  const state = new FollowedState(followed.shared)
  try {
    state.done(hashFollowed(followed, state))
  } catch {
    state.failed()
  }
}

/** The hashing thread ended, for whatever reason: nobody waits for it any more. */
export function giveUp(shared: SharedArrayBuffer): void {
  new FollowedState(shared).failed()
}

/** The checking thread's side. */
export class HashedBeside implements Hashing {
  readonly #followed: Followed
  readonly #state: FollowedState

  constructor(followed: Followed) {
    this.#followed = followed
    this.#state = new FollowedState(followed.shared)
  }

  take(_bytes: Uint8Array, read: number, copied: number): void {
    this.#state.publish(read, copied)
  }

  /** Waits for the other thread, and does its work if it failed. */
  digest(): Digests {
    return (
      this.#state.digests(this.#followed.copy !== null) ?? hashFollowed(this.#followed, this.#state)
    )
  }
}

/** Throws `Unreadable`. */
function hashFollowed(followed: Followed, state: FollowedState): Digests {
  const { size, copy } = followed
  const hashes = new Hashes(copy !== null)
  const memory = Buffer.allocUnsafeSlow(PIECE)
  using files = new OpenFiles()
  for (let at = 0; at < size; ) {
    const read = state.readBeyond(at)
    const { copied } = state
    // Nothing is copied behind a fault.
    const inCopy = copy !== null && at < copied
    const file = inCopy ? files.copy(copy) : files.source(followed)
    const left = (inCopy ? copied : read) - at
    const length = file.read(memory, Math.min(PIECE, left), at)
    if (length === 0) throw new Unreadable(new Error('the file is shorter than it was'))
    hashes.take(memory.subarray(0, length))
    at += length
  }
  return hashes.digest()
}

class OpenFiles implements Disposable {
  readonly #files = new Map<string, SourceFile>()

  copy(path: string): SourceFile {
    return this.#files.get(path) ?? this.#open(path)
  }

  /** The file that is checked, and no other that came to its path. */
  source({ source, root, expected }: Followed): SourceFile {
    const file = this.#files.get(source) ?? this.#open(source, root)
    if (expected == null || sameIdentity(file.identity, expected)) return file
    throw new Unreadable(new Error('another file is at its path'))
  }

  #open(path: string, root?: string): SourceFile {
    const opened = openSource(path, root)
    if (opened.kind === 'unreadable') {
      throw new Unreadable(Object.assign(new Error(opened.reason), { code: opened.code }))
    }
    this.#files.set(path, opened.file)
    return opened.file
  }

  [Symbol.dispose](): void {
    for (const file of this.#files.values()) file.close()
  }
}
