// The bytes of a document that are being read: the end of what came before, as far as it is not over,
// and the newest piece behind it, in one memory. Knows how far they are certain to be XML characters.

import { utf8Tail } from './decoder.ts'
import { type Fault, notWellFormed, shown, undecodable } from './fault.ts'
import { firstForbidden } from './forbidden-bytes.ts'

/** Bytes at first, which a small feed never leaves, and in which it grows. */
const FIRST_ROOM = 32 * 1_024
const ROOM = 128 * 1_024

/** Everything is not there yet: what a reader answers instead of the place where it ended. */
export const MORE = -1

export class Input {
  data: Buffer = Buffer.allocUnsafeSlow(FIRST_ROOM)
  /** The place in the document of the first byte of `data`. */
  base: number
  /** How many bytes may be read. A 0 stands behind them, so that no loop has to count. */
  end = 0
  /** Nothing will follow what can be read now. */
  final = false
  /** What ends the readable bytes for good: a fault in case nothing before it is wrong. */
  forbidden: Fault | null = null
  #words = new Int32Array(this.data.buffer)
  #filled = 0
  #behind = 0

  constructor(base: number) {
    this.base = base
  }

  /** Bytes that are there, the beginning of a cut character included. */
  get length(): number {
    return this.#filled
  }

  append(bytes: Buffer): void {
    const needed = this.#filled + bytes.length + 8
    this.data[this.end] = this.#behind
    if (needed > this.data.length) this.#grow(needed)
    bytes.copy(this.data, this.#filled)
    this.#filled += bytes.length
    const tail = utf8Tail(this.data.subarray(Math.max(this.end, this.#filled - 3), this.#filled))
    this.#certify(this.#filled - tail)
    this.#behind = this.data[this.end] ?? 0
    this.data[this.end] = 0
  }

  /** Forgets the first `count` bytes: they were read. */
  discard(count: number): void {
    this.data.copyWithin(0, count, Math.max(this.#filled, this.end + 1))
    this.base += count
    this.end -= count
    this.#filled -= count
  }

  #certify(to: number): void {
    const found = firstForbidden(this.data, this.#words, this.end, to)
    this.end = to
    if (found === null) return
    this.final = true
    const at = this.base + found.at
    if (found.kind === 'undecodable') {
      this.end = found.at
      this.forbidden = undecodable('UTF-8', at)
      return
    }
    this.end = found.at + found.length
    const character = this.data.toString('utf8', found.at, this.end)
    this.forbidden = notWellFormed(notAllowed(character), at)
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.ceil(needed / ROOM + 1) * ROOM)
    this.data.copy(larger, 0, 0, this.#filled)
    this.data = larger
    this.#words = new Int32Array(larger.buffer)
  }
}

export function notAllowed(character: string): string {
  return `the character ${shown(character)} is not allowed in XML; leave it out`
}
