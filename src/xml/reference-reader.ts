// Reads entity and character references (XML 1.0 §4.1) in bytes. The five predefined entities and
// numbers are read here; whatever else stands behind a "&" is looked at as text, by `entityAt`.

import { equal, HASH, isOf, NAME_CHAR, SEMICOLON } from './bytes.ts'
import { isXmlCharacter } from './characters.ts'
import { entityAt } from './entity.ts'
import { stop } from './fault.ts'
import { type Input, NEED_MORE } from './input.ts'

/** The predefined entities (§4.6) that are seldom written, behind their "&". */
const PREDEFINED = ['quot;', 'apos;'].map((text) => Buffer.from(text))
const LETTER_A = 0x61
const LETTER_G = 0x67
const LETTER_L = 0x6c
const LETTER_M = 0x6d
const LETTER_P = 0x70
const LETTER_T = 0x74
/** Digits of the largest character's number. */
const MOST_DIGITS = 7

export class ReferenceReader {
  /** A DTD that is not read could declare more entities. */
  doctypeSeen = false
  readonly #input: Input
  readonly #longest: number

  /** `longest`: bytes of a name. */
  constructor(input: Input, longest: number) {
    this.#input = input
    this.#longest = longest
  }

  /** Reads the reference whose `&` is at `at`; answers where it ends, or NEED_MORE. */
  read(at: number): number {
    const { data } = this.#input
    const first = data[at + 1]
    // "&lt;", "&gt;" and "&amp;" are half of what feeds with escaped HTML consist of.
    if (first === LETTER_L || first === LETTER_G) {
      if (data[at + 2] === LETTER_T && data[at + 3] === SEMICOLON) return at + 4
    } else if (first === LETTER_A && data[at + 2] === LETTER_M) {
      if (data[at + 3] === LETTER_P && data[at + 4] === SEMICOLON) return at + 5
    } else if (first !== HASH) {
      for (const reference of PREDEFINED) {
        if (equal(reference, data, at + 1)) return at + 1 + reference.length
      }
    }
    const end = first === HASH ? this.#decimal(at + 2) : NEED_MORE
    return end === NEED_MORE ? this.#other(at) : end
  }

  /** CharRef (production 66) in decimal digits; NEED_MORE when it is not plainly right. */
  #decimal(from: number): number {
    const { data } = this.#input
    let code = 0
    for (let at = from; at <= from + MOST_DIGITS; at++) {
      const byte = data[at] ?? 0
      if (byte === SEMICOLON) return at > from && isXmlCharacter(code) ? at + 1 : NEED_MORE
      if (byte < 0x30 || byte > 0x39) return NEED_MORE
      code = code * 10 + byte - 0x30
    }
    return NEED_MORE
  }

  #other(at: number): number {
    const { data, base, end } = this.#input
    let last = at + 1
    while (isOf(data, last, NAME_CHAR) || data[last] === HASH) last++
    // With the whole character behind it, which tells that the reference cannot go on.
    const text = data.toString('utf8', at, Math.min(end, last + 4, at + (this.#longest + 1) * 4))
    const look = entityAt(text, 0, this.doctypeSeen, this.#longest)
    if (look.kind === 'fault') stop({ ...look.fault, at: base + at })
    if (look.kind === 'more') return NEED_MORE
    return at + Buffer.byteLength(text.slice(0, look.end))
  }
}
