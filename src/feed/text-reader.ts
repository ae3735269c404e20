// Reads character data between tags (XML 1.0 §2.4, production 14): its references, the forbidden
// "]]>", and where it ends. Most of a feed is text, so long runs are searched, not walked.

import { AMPERSAND, CLOSE_BRACKET, GT, isOf, LT, TEXT_STOP } from './byte-classes.ts'
import type { HeardEvents } from './heard-events.ts'
import { type Input, MORE } from './input.ts'
import { type Limits, tooLong } from './limits.ts'
import type { ReferenceReader } from './reference-reader.ts'
import { stop, wrong } from './stopped.ts'
import { TextTeller } from './text-teller.ts'

/** Bytes that are walked before a search begins, which costs about as much. */
const WALKED = 48

export class TextReader {
  readonly #input: Input
  readonly #limits: Limits
  readonly #references: ReferenceReader
  readonly #teller: TextTeller
  /** Bytes of the run that were read before, and where it began in the document. */
  #length = 0
  #began = 0
  /** Where each of these stands next, once it was searched for. */
  #nextTag = 0
  #nextReference = 0
  #nextBracket = 0

  constructor(input: Input, heard: HeardEvents, limits: Limits, references: ReferenceReader) {
    this.#input = input
    this.#limits = limits
    this.#references = references
    this.#teller = new TextTeller(input, heard, false)
  }

  /** Whether a text is not over that was read in part. */
  get inside(): boolean {
    return this.#length > 0
  }

  /** The input has moved: nothing is known of it any more. */
  moved(): void {
    this.#nextTag = this.#nextReference = this.#nextBracket = -1
  }

  /** Markup follows: the run of text is over. */
  finish(): void {
    this.#length = 0
    this.#teller.finish()
  }

  /** Reads text from `from` to the next `<` or as far as it is certain; answers how far, or MORE. */
  read(from: number): number {
    const { data, base, end } = this.#input
    if (this.#length === 0) this.#began = base + from
    let at = this.#plain(from)
    while (at < end && data[at] !== LT) {
      const next = this.#special(at)
      if (next === MORE) break
      at = this.#plain(next)
    }
    const whole = at < end && data[at] === LT
    const to = whole ? at : this.#teller.cut(from, Math.min(at, end))
    this.#length += to - from
    if (this.#length > this.#limits.text) {
      stop(tooLong('text', 'a text', this.#limits.text, this.#began))
    }
    if (to === from) return MORE
    this.#teller.tell(from, to)
    return to
  }

  /** Behind the reference or bracket at `at`, or MORE. */
  #special(at: number): number {
    const { data, base, end } = this.#input
    if (data[at] === AMPERSAND) return this.#references.read(at)
    if (data[at] !== CLOSE_BRACKET) return at + 1
    if (at + 1 >= end) return MORE
    if (data[at + 1] !== CLOSE_BRACKET) return at + 1
    if (at + 2 >= end) return MORE
    if (data[at + 2] !== GT) return at + 1
    wrong('"]]>" must be written "]]&gt;" outside a CDATA section', base + at)
  }

  /** The next byte from `at` on that is not plain text. */
  #plain(from: number): number {
    const { data } = this.#input
    const walked = from + WALKED
    let at = from
    while (at < walked && !isOf(data, at, TEXT_STOP)) at++
    return at < walked ? at : this.#search(at)
  }

  #search(at: number): number {
    if (this.#nextTag < at) this.#nextTag = this.#next(LT, at)
    if (this.#nextReference < at) this.#nextReference = this.#next(AMPERSAND, at)
    if (this.#nextBracket < at) this.#nextBracket = this.#next(CLOSE_BRACKET, at)
    return Math.min(this.#nextTag, this.#nextReference, this.#nextBracket)
  }

  #next(byte: number, at: number): number {
    const found = this.#input.data.indexOf(byte, at)
    return found === -1 || found > this.#input.end ? this.#input.end : found
  }
}
