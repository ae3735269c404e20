// The bytes of a document that are being read: the end of what came before, as far as it is not over,
// and the newest piece behind it, in one memory. Knows how far they are characters of XML (production 2), and
// where texts and values end.

import { isUtf8 } from 'node:buffer'
import { type Marks, mark, markEnd, marksFor } from './byte-marks.ts'
import { CLASSES, CONTROL } from './bytes.ts'
import { utf8Tail, wellFormedLength } from './encoding/decoder.ts'
import { type Fault, notAllowed, notWellFormed, undecodable } from './fault.ts'
import type { Limits } from './limits.ts'

/** Bytes behind the document that can be read without harm. */
const BEHIND = 64
/** Room for a small feed; larger ones soon have that of a piece and of what waits before it. */
const FIRST_ROOM = 8 * 1024
/** U+FFC0 to U+FFFF begin with these two bytes; the last two of them are no characters. */
const NONCHARACTER = Buffer.from([0xef, 0xbf])
const NONCHARACTER_BYTES = 3

/** Everything is not there yet: what a reader answers instead of the place where it ended. */
export const NEED_MORE = -1

export class Input {
  data: Buffer
  /** The same bytes. */
  view: DataView
  marks: Marks
  /** The place in the document of the first byte of `data`. */
  base: number
  /** How many bytes may be read. A 0 stands behind them, so that no loop has to count. */
  end = 0
  /** Nothing will follow what can be read now. */
  final = false
  /** What ends the readable bytes for good: a fault in case nothing before it is wrong. */
  forbidden: Fault | null = null
  /** A DTD that is not read could declare more entities. */
  doctypeSeen = false
  readonly limits: Limits
  #room = new ArrayBuffer(FIRST_ROOM)
  #filled = 0
  /** Bytes whose marks are there: a multiple of 32. */
  #marked = 0
  /** The byte that the sentinel stands in for. */
  #behind = 0

  /** `base`: bytes of the XML declaration that was read before. */
  constructor(base: number, limits: Limits) {
    this.base = base
    this.limits = limits
    this.data = Buffer.from(this.#room, 0, BEHIND)
    this.view = new DataView(this.#room)
    this.marks = marksFor(FIRST_ROOM)
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
    markEnd(this.marks, this.end)
  }

  /** Nothing will be appended. */
  finish(): void {
    this.final = true
    mark(this.data, 0, this.end, this.marks)
    markEnd(this.marks, this.end)
  }

  /** Forgets the first `count` bytes: they were read. */
  discard(count: number): void {
    if (count === 0) return
    this.data.copyWithin(0, count, Math.max(this.#filled, this.end + 1))
    this.base += count
    this.end -= count
    this.#filled -= count
    this.#marked = 0
  }

  /** The limits keep this bounded: a token is refused before it has twice the longest value. */
  #grow(least: number): void {
    const room = new ArrayBuffer(Math.max(least + (-least & 3), 2 * this.#room.byteLength))
    new Uint8Array(room).set(new Uint8Array(this.#room, 0, this.#filled))
    this.#room = room
    this.view = new DataView(room)
    this.marks = marksFor(room.byteLength)
    this.#marked = 0
  }

  /** Looks at the whole characters from `end` to `to`, and ends before the first that no document may have. */
  #certify(to: number): void {
    const { data, base, end } = this
    const isSound = isUtf8(data.subarray(end, to))
    const sound = isSound ? to : end + wellFormedLength(data.subarray(end, to))
    const noncharacter = firstNoncharacter(data, end, sound)
    const readable = Math.min(sound, noncharacter + NONCHARACTER_BYTES)
    const hasControl = mark(data, this.#marked, readable, this.marks)
    const control = hasControl ? firstControl(data, end, noncharacter) : noncharacter
    this.#marked = control & ~31
    this.end = control
    this.final = control < to
    if (!this.final) return
    if (control < sound) {
      // It can be read itself, for the readers to say what they find.
      this.end = control + (control < noncharacter ? 1 : NONCHARACTER_BYTES)
      const character = data.toString('utf8', control, this.end)
      this.forbidden = notWellFormed(notAllowed(character), base + control)
    } else this.forbidden = undecodable('UTF-8', base + control, data[control])
  }
}

/** The first U+FFFE or U+FFFF from `from` to `to`, or `to`. */
function firstNoncharacter(data: Buffer, from: number, to: number): number {
  for (let at = from; ; at += 2) {
    at = data.indexOf(NONCHARACTER, at)
    if (at === -1 || at >= to) return to
    if ((data[at + 2] as number) >= 0xbe) return at
  }
}

/** The first control character from `from` to `to` that Char (2) leaves out, or `to`. */
function firstControl(data: Buffer, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    if (((CLASSES[data[at] as number] as number) & CONTROL) !== 0) return at
  }
  return to
}
