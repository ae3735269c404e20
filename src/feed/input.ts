// The bytes of a document that are being read: the end of what came before, as far as it is not over,
// and the newest piece behind it, in one memory. Knows how far they are certain to be XML characters.

import { utf8Tail } from './decoder.ts'
import { type Fault, notWellFormed, shown, undecodable } from './fault.ts'
import { firstForbidden } from './forbidden-bytes.ts'
import type { Skimmer } from './skimmer.ts'

/** Bytes behind the document that can be read without harm. */
const BEHIND = 64

const FULL = 'more of the document is waiting to be read than the limits allow'

/** Everything is not there yet: what a reader answers instead of the place where it ended. */
export const MORE = -1

export class Input {
  data: Buffer
  /** The place in the document of the first byte of `data`. */
  base: number
  /** How many bytes may be read. A 0 stands behind them, so that no loop has to count. */
  end = 0
  /** Nothing will follow what can be read now. */
  final = false
  /** What ends the readable bytes for good: a fault in case nothing before it is wrong. */
  forbidden: Fault | null = null
  readonly #skimmer: Skimmer
  #filled = 0
  #behind = 0

  constructor(base: number, skimmer: Skimmer) {
    this.base = base
    this.#skimmer = skimmer
    this.data = skimmer.room.subarray(0, BEHIND)
  }

  /** Bytes that are there, the beginning of a cut character included. */
  get length(): number {
    return this.#filled
  }

  append(bytes: Buffer): void {
    this.data[this.end] = this.#behind
    // The limits are far below.
    if (this.#filled + bytes.length + BEHIND > this.#skimmer.room.length) throw new RangeError(FULL)
    this.data = this.#skimmer.room.subarray(0, this.#filled + bytes.length + BEHIND)
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
    const found = firstForbidden(this.data, this.#skimmer, this.end, to)
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
}

export function notAllowed(character: string): string {
  return `the character ${shown(character)} is not allowed in XML; leave it out`
}
