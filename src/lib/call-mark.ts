// Notices calls that do not return, because a network mount without its server, or a disk with errors, might never
// answer. The thread that calls writes the path of its call into memory that two threads share, and the other thread
// looks there.

/** Longer paths are cut; Linux allows a call 4,096 bytes. */
const LONGEST_PATH = 4_096
const COUNT = 0
const LENGTH = 1
const NUMBERS_BYTES = 8

const encoder = new TextEncoder()

/** CallMark says which path a thread asks a file system for. One thread writes it, and another thread reads it. */
export class CallMark {
  /** Pass this memory to the other thread, which makes its own CallMark of it. */
  readonly memory: SharedArrayBuffer
  readonly #numbers: Int32Array
  readonly #path: Uint8Array

  constructor(memory = new SharedArrayBuffer(NUMBERS_BYTES + LONGEST_PATH)) {
    this.memory = memory
    this.#numbers = new Int32Array(memory, 0, 2)
    this.#path = new Uint8Array(memory, NUMBERS_BYTES)
  }

  /** begin writes that this thread now asks for a path. */
  begin(path: string): void {
    const { written } = encoder.encodeInto(path, this.#path)
    Atomics.store(this.#numbers, LENGTH, written)
    Atomics.add(this.#numbers, COUNT, 1)
  }

  /** end writes that the call has returned. */
  end(): void {
    Atomics.store(this.#numbers, LENGTH, 0)
    Atomics.add(this.#numbers, COUNT, 1)
  }

  /** current returns the path and the number of the call that the other thread makes now; null if it makes no call. */
  current(): { path: string; call: number } | null {
    const call = Atomics.load(this.#numbers, COUNT)
    const length = Atomics.load(this.#numbers, LENGTH)
    if (length === 0) return null
    return { call, path: Buffer.from(this.#path.slice(0, length)).toString() }
  }
}

/** HungCall notices that a call of another thread does not return. Poll it regularly. */
export class HungCall {
  readonly #mark: CallMark
  readonly #afterMs: number
  #seen: { call: number; since: number } | null = null

  /** `afterMs` is how long a call may take. */
  constructor(mark: CallMark, afterMs: number) {
    this.#mark = mark
    this.#afterMs = afterMs
  }

  /**
   * poll compares the current call with the call that the last poll saw. It returns the path of the current call if
   * this call has not returned for too long, otherwise null. `now` is monotonic ms.
   */
  poll(now: number): string | null {
    const current = this.#mark.current()
    if (current === null || this.#seen?.call !== current.call)
      this.#seen = current && { call: current.call, since: now }
    return current !== null && now - (this.#seen?.since ?? now) >= this.#afterMs
      ? current.path
      : null
  }
}
