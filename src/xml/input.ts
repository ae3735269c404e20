// The bytes of a document that are being read: the end of what came before, as far as it is not over,
// and the newest piece behind it, in one memory. Knows how far they are characters of XML, but for control
// characters: the tables of bytes.ts stop at those, and what is not read by these tables is looked through.

import { utf8Tail } from './encoding/decoder.ts'
import { type Fault, notAllowed, notWellFormed, undecodable, wrong } from './fault.ts'
import { firstControl, firstForbidden, NONCHARACTER_BYTES } from './forbidden.ts'

/** Bytes behind the document that can be read without harm. */
const BEHIND = 64
/** Room for a piece and for what waits before it, at first. */
const FIRST_ROOM = 256 * 1024

/** Everything is not there yet: what a reader answers instead of the place where it ended. */
export const NEED_MORE = -1

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
  #room = new ArrayBuffer(FIRST_ROOM)
  #words = new Int32Array(this.#room)
  #filled = 0
  /** The byte that the sentinel stands in for. */
  #behind = 0

  constructor(base: number) {
    this.base = base
    this.data = Buffer.from(this.#room, 0, BEHIND)
  }

  /** Bytes that are there, the beginning of a cut character included. */
  get length(): number {
    return this.#filled
  }

  append(bytes: Buffer): void {
    this.data[this.end] = this.#behind
    const size = this.#filled + bytes.length
    if (size + BEHIND > this.#room.byteLength) this.#grow(size + BEHIND)
    this.data = Buffer.from(this.#room, 0, size + BEHIND)
    this.data.set(bytes, this.#filled)
    this.#filled = size
    const tail = utf8Tail(this.data.subarray(Math.max(this.end, size - 3), size))
    this.#certify(size - tail)
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

  /** The limits keep this bounded: a token is refused before it has twice the longest value. */
  #grow(least: number): void {
    const room = new ArrayBuffer(Math.max(least + (-least & 3), 2 * this.#room.byteLength))
    new Uint8Array(room).set(new Uint8Array(this.#room, 0, this.#filled))
    this.#room = room
    this.#words = new Int32Array(room)
  }

  /** Throws `FaultFound` where a control character is that no document may have. */
  refuseControls(from: number, to: number): void {
    const at = this.firstControl(from, to)
    if (at < to) wrong(notAllowed(String.fromCharCode(this.data[at] as number)), this.base + at)
  }

  /** Where the first control character is that no document may have; `to`: there is none. */
  firstControl(from: number, to: number): number {
    return firstControl(this.data, this.#words, from, to)
  }

  #certify(to: number): void {
    const found = firstForbidden(this.data, this.end, to)
    this.end = to
    if (found === null) return
    this.final = true
    const at = this.base + found.at
    if (found.kind === 'undecodable') {
      this.end = found.at
      this.forbidden = undecodable('UTF-8', at)
      return
    }
    this.end = found.at + NONCHARACTER_BYTES
    const character = this.data.toString('utf8', found.at, this.end)
    this.forbidden = notWellFormed(notAllowed(character), at)
  }
}
