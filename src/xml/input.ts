// The input of the readers: the unread rest of earlier pieces and the newest piece, in one block of memory. It knows
// how many of these bytes are characters of XML (production 2), and marks where texts and values end.

import { isUtf8 } from 'node:buffer'
import { type Marks, mark, markEnd, marksFor } from './byte-marks.ts'
import { CLASSES, CONTROL } from './bytes.ts'
import { utf8Tail, wellFormedLength } from './encoding/decoder.ts'
import { type Fault, notAllowed, notWellFormed, undecodable } from './fault.ts'
import type { Limits } from './limits.ts'

/** The memory has MARGIN bytes after the end of the input, because loops can read beyond the end. */
const MARGIN = 64
/** FIRST_CAPACITY, in bytes, holds a small feed; the memory grows for larger ones. */
const FIRST_CAPACITY = 8 * 1024
/** U+FFC0 to U+FFFF begin with these two bytes; U+FFFE and U+FFFF are not characters. */
const NONCHARACTER = Buffer.from([0xef, 0xbf])
const NONCHARACTER_BYTES = 3

/** NEED_MORE is the answer of a reader whose token is incomplete. */
export const NEED_MORE = -1

export class Input {
  data: Buffer
  /** view has the same bytes as `data`. */
  view: DataView
  marks: Marks
  /** base is the place of the first byte of `data` in the document. */
  base: number
  /** end is how many bytes can be read. The byte after them is a 0, so loops need no length check. */
  end = 0
  /** final is true if no more bytes will become readable. */
  final = false
  /** forbidden is the fault that ends the readable bytes; an earlier fault comes first. */
  forbidden: Fault | null = null
  /** doctypeSeen is true if the document has a DOCTYPE: an external DTD, which is not read, could declare entities. */
  doctypeSeen = false
  readonly limits: Limits
  #memory = new ArrayBuffer(FIRST_CAPACITY)
  #filled = 0
  /** #marked counts the bytes that have their marks; a multiple of 32. */
  #marked = 0
  /** #replaced is the byte that the 0 at `end` overwrote. */
  #replaced = 0

  /** `base` is the length of the XML declaration in bytes. */
  constructor(base: number, limits: Limits) {
    this.base = base
    this.limits = limits
    this.data = Buffer.from(this.#memory, 0, MARGIN)
    this.view = new DataView(this.#memory)
    this.marks = marksFor(FIRST_CAPACITY)
  }

  /** length counts all bytes, including the bytes of an incomplete character at the end. */
  get length(): number {
    return this.#filled
  }

  /** append adds the next bytes, and makes them readable up to the first forbidden or incomplete character. */
  append(bytes: Buffer): void {
    this.data[this.end] = this.#replaced
    const size = this.#filled + bytes.length
    if (size + MARGIN > this.#memory.byteLength) this.#grow(size + MARGIN)
    this.data = Buffer.from(this.#memory, 0, size + MARGIN)
    this.data.set(bytes, this.#filled)
    this.#filled = size
    const tail = utf8Tail(this.data.subarray(Math.max(this.end, size - 3), size))
    this.#validate(size - tail)
    this.#replaced = this.data[this.end] ?? 0
    this.data[this.end] = 0
    markEnd(this.marks, this.end)
  }

  /** finish says that no more bytes come. It marks the bytes again, because `discard` might have moved them. */
  finish(): void {
    this.final = true
    mark(this.data, 0, this.end, this.marks)
    markEnd(this.marks, this.end)
  }

  /**
   * discard drops the first `count` bytes and moves the others to the beginning. Their marks are wrong until `append`
   * or `finish`.
   */
  discard(count: number): void {
    if (count === 0) return
    this.data.copyWithin(0, count, Math.max(this.#filled, this.end + 1))
    this.base += count
    this.end -= count
    this.#filled -= count
    this.#marked = 0
  }

  /** #grow enlarges the memory. The limits bound it: a token fails before it is twice as long as the longest value. */
  #grow(least: number): void {
    const memory = new ArrayBuffer(Math.max(least + (-least & 3), 2 * this.#memory.byteLength))
    new Uint8Array(memory).set(new Uint8Array(this.#memory, 0, this.#filled))
    this.#memory = memory
    this.view = new DataView(memory)
    this.marks = marksFor(memory.byteLength)
    this.#marked = 0
  }

  /** #validate checks the characters from `end` to `to`, and moves `end` to `to` or the first forbidden character. */
  #validate(to: number): void {
    const { data, base, end } = this
    const isValid = isUtf8(data.subarray(end, to))
    const valid = isValid ? to : end + wellFormedLength(data.subarray(end, to))
    const noncharacter = firstNoncharacter(data, end, valid)
    const readable = Math.min(valid, noncharacter + NONCHARACTER_BYTES)
    const hasControl = mark(data, this.#marked, readable, this.marks)
    const control = hasControl ? firstControl(data, end, noncharacter) : noncharacter
    this.#marked = control & ~31
    this.end = control
    this.final = control < to
    if (!this.final) return
    if (control < valid) {
      // The forbidden character itself stays readable, because a reader can find an earlier fault at it.
      this.end = control + (control < noncharacter ? 1 : NONCHARACTER_BYTES)
      const character = data.toString('utf8', control, this.end)
      this.forbidden = notWellFormed(notAllowed(character), base + control)
    } else this.forbidden = undecodable('UTF-8', base + control, data[control])
  }
}

/** firstNoncharacter returns the place of the first U+FFFE or U+FFFF, or `to`. */
function firstNoncharacter(data: Buffer, from: number, to: number): number {
  for (let at = from; ; at += 2) {
    at = data.indexOf(NONCHARACTER, at)
    if (at === -1 || at >= to) return to
    if ((data[at + 2] as number) >= 0xbe) return at
  }
}

/** firstControl returns the place of the first control character that Char (2) excludes, or `to`. */
function firstControl(data: Buffer, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    if (((CLASSES[data[at] as number] as number) & CONTROL) !== 0) return at
  }
  return to
}
