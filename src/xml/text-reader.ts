// Reads character data between tags (XML 1.0 §2.4, production 14): its references, the forbidden "]]>", and its end.

import { nextMark } from './byte-marks.ts'
import { AMPERSAND, CLOSE_BRACKET, CR, GT, LT } from './bytes.ts'
import { notAllowed, stop, wrong } from './fault.ts'
import { type Input, NEED_MORE } from './input.ts'
import { tooLong } from './limits.ts'
import type { Listener } from './listener.ts'
import { readReference } from './reference.ts'

export class TextReader {
  readonly #input: Input
  readonly #listener: Listener
  /** #length counts the bytes of the text that earlier calls have read. #began is the text's place in the document. */
  #length = 0
  #began = 0

  constructor(input: Input, listener: Listener) {
    this.#input = input
    this.#listener = listener
  }

  /** reset forgets the text that was read in part. */
  reset(): void {
    this.#length = 0
  }

  /** isOpen is true if a text was read in part. */
  get isOpen(): boolean {
    return this.#length > 0
  }

  /**
   * readOn continues the text at `from`, which is plain up to `plain`, and passes it to the listener. It returns the
   * place of the next `<` or of an incomplete part, or NEED_MORE if it could read nothing. Throws `FaultFound`.
   */
  readOn(from: number, plain: number): number {
    const { data, marks, base, end, final } = this.#input
    if (this.#length === 0) this.#began = base + from
    let at = plain
    while (at < end && data[at] !== LT) {
      if (this.#length + at - from > this.#input.limits.text) break
      const next = this.#special(at)
      if (next === NEED_MORE) break
      at = nextMark(marks.text, next)
    }
    const whole = at < end && data[at] === LT
    if (at > end) at = end
    // An LF might follow this CR in the next piece.
    if (!whole && !final && at === end && at > from && data[at - 1] === CR) at--
    const length = this.#length + at - from
    if (length > this.#input.limits.text)
      stop(tooLong('text', 'a text', this.#input.limits.text, this.#began))
    this.#length = whole ? 0 : length
    if (at === from) return NEED_MORE
    this.#listener.text(from, at, false)
    return at
  }

  /** #special returns the place after the reference or bracket at `at`, or NEED_MORE. Throws `FaultFound`. */
  #special(at: number): number {
    const { data, base, end } = this.#input
    if (data[at] === AMPERSAND) return readReference(this.#input, at)
    if (data[at] !== CLOSE_BRACKET) {
      wrong(notAllowed(String.fromCharCode(data[at] as number)), base + at)
    }
    if (at + 1 >= end) return NEED_MORE
    if (data[at + 1] !== CLOSE_BRACKET) return at + 1
    if (at + 2 >= end) return NEED_MORE
    if (data[at + 2] !== GT) return at + 1
    wrong('"]]>" must be written "]]&gt;" outside a CDATA section', base + at)
  }
}
