// Reads character data between tags (XML 1.0 §2.4, production 14): its references, the forbidden
// "]]>", and where it ends. Most of a feed is text, so long runs are searched, not walked.

import { AMPERSAND, CLOSE_BRACKET, CR, firstOf, GT, LT, TEXT_STOP } from './bytes.ts'
import { stop, wrong } from './fault.ts'
import { type Input, NEED_MORE } from './input.ts'
import { type Limits, tooLong } from './limits.ts'
import type { Listener } from './listener.ts'
import type { ReferenceReader } from './reference-reader.ts'

/** Bytes that are walked before a search begins, which costs about as much. */
const WALKED = 96

export class TextReader {
  readonly #input: Input
  readonly #listener: Listener
  readonly #limits: Limits
  readonly #references: ReferenceReader
  readonly #walked: number
  /** Bytes of the run that were read before, and where it began in the document. */
  #length = 0
  #began = 0
  /** Where each of these stands next, once it was searched for. */
  #nextTag = 0
  #nextReference = 0
  #nextBracket = 0

  constructor(input: Input, listener: Listener, limits: Limits, references: ReferenceReader) {
    this.#input = input
    this.#listener = listener
    this.#limits = limits
    this.#references = references
    this.#walked = Math.min(WALKED, limits.text)
  }

  /** The input has moved: nothing is known of it any more. `isOver`: markup stands at its beginning. */
  moved(isOver: boolean): void {
    this.#nextTag = this.#nextReference = this.#nextBracket = -1
    if (isOver) this.#length = 0
  }

  /** Hot: reads text from `from` to the next `<` or as far as it is certain; answers how far, or NEED_MORE. */
  read(from: number): number {
    const { data } = this.#input
    const walked = from + this.#walked
    const at = firstOf(data, from, walked, TEXT_STOP)
    if (data[at] !== LT || at >= walked || this.#length > 0) return this.#readOn(from, at)
    this.#listener.text(from, at, true)
    return at
  }

  /** Text from `from` on that is not short and plain: up to `plain` it is. */
  #readOn(from: number, plain: number): number {
    const { data, base, end, final } = this.#input
    if (this.#length === 0) this.#began = base + from
    let at = this.#plain(plain)
    while (at < end && data[at] !== LT) {
      const next = this.#special(at)
      if (next === NEED_MORE) break
      at = this.#plain(next)
    }
    const whole = at < end && data[at] === LT
    if (at > end) at = end
    // Half of a line end: the LF may follow.
    if (!whole && !final && at === end && at > from && data[at - 1] === CR) at--
    const length = this.#length + at - from
    if (length > this.#limits.text) stop(tooLong('text', 'a text', this.#limits.text, this.#began))
    this.#length = whole ? 0 : length
    if (at === from) return NEED_MORE
    this.#listener.text(from, at, false)
    return at
  }

  /** Behind the reference or bracket at `at`, or NEED_MORE. */
  #special(at: number): number {
    const { data, base, end } = this.#input
    if (data[at] === AMPERSAND) return this.#references.read(at)
    if (data[at] !== CLOSE_BRACKET) {
      this.#input.refuseControls(at, at + 1)
      return at + 1
    }
    if (at + 1 >= end) return NEED_MORE
    if (data[at + 1] !== CLOSE_BRACKET) return at + 1
    if (at + 2 >= end) return NEED_MORE
    if (data[at + 2] !== GT) return at + 1
    wrong('"]]>" must be written "]]&gt;" outside a CDATA section', base + at)
  }

  /** Hot: the next byte from `from` on that is not plain text. */
  #plain(from: number): number {
    const { data } = this.#input
    const walked = from + WALKED
    const at = firstOf(data, from, walked, TEXT_STOP)
    if (at < walked) return at
    const found = this.#search(at)
    this.#input.refuseControls(at, found)
    return found
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
