// Reads comments (XML 1.0 production 15), the content of processing instructions (16), and CDATA sections (20), each up
// to its terminator, in portions.

import { nextMark } from './byte-marks.ts'
import { CLOSE_BRACKET, CR, GT } from './bytes.ts'
import { stop, wrong } from './fault.ts'
import type { Input } from './input.ts'
import { tooLong } from './limits.ts'
import type { Listener } from './listener.ts'

/** STEPS is how many marks are tried as the end of a CDATA section before native code searches for the end. */
const STEPS = 16

interface Section {
  /** name is for messages. */
  name: string
  terminator: Buffer
}

/** The terminator is "--", because the ">" that must follow has its own check. */
export const COMMENT: Section = { name: 'comment', terminator: Buffer.from('--') }
export const CDATA: Section = { name: 'CDATA section', terminator: Buffer.from(']]>') }
export const INSTRUCTION: Section = {
  name: 'processing instruction',
  terminator: Buffer.from('?>'),
}

export class SectionReader {
  /** openSection is the section that was read in part; null if none is open. */
  openSection: Section | null = null
  readonly #input: Input
  readonly #listener: Listener
  /** #began is the place of the open section in the document, and #length counts the bytes of its content so far. */
  #began = 0
  #length = 0

  constructor(input: Input, listener: Listener) {
    this.#input = input
    this.#listener = listener
  }

  /** begin opens a section whose markup begins at `markup`, and its content at `content`. It reads on like `read`. */
  begin(section: Section, markup: number, content: number): number {
    this.openSection = section
    this.#began = this.#input.base + markup
    this.#length = 0
    return content < this.#input.end ? this.read(section, content) : content
  }

  /** read continues the open section at `from` and returns the place where it stopped. Throws `FaultFound`. */
  read(section: Section, from: number): number {
    const { end } = this.#input
    const { name, terminator } = section
    const found = this.#find(terminator, from)
    const isEnded = found !== -1 && found + terminator.length <= end
    const to = isEnded ? found : this.#safeEnd(terminator, from)
    this.#length += to - from
    if (this.#length > this.#input.limits.text) {
      stop(tooLong('text', `a ${name}`, this.#input.limits.text, this.#began))
    }
    if (section === CDATA) this.#listener.text(from, to, true)
    if (!isEnded) return to
    const after = found + terminator.length
    if (section === COMMENT) return this.#commentEnd(found, after)
    this.openSection = null
    return after
  }

  /** #find returns where the terminator begins, or -1. */
  #find(terminator: Buffer, from: number): number {
    const { data, marks } = this.#input
    if (terminator[0] === CLOSE_BRACKET) {
      // Starting a search in native code costs as much as several steps.
      let at = from
      for (let step = 0; step < STEPS; step++) {
        at = nextMark(marks.text, at)
        if (data[at] === CLOSE_BRACKET && data[at + 1] === CLOSE_BRACKET && data[at + 2] === GT) {
          return at
        }
        if (at >= this.#input.end) return -1
        at++
      }
      return data.indexOf(terminator, at)
    }
    return data.indexOf(terminator, from)
  }

  /**
   * #commentEnd returns the place after the ">" that must follow the "--" at `found`. Without more input it returns the
   * place of the "--", which is then read again.
   */
  #commentEnd(found: number, after: number): number {
    const { data, base, end } = this.#input
    if (after >= end) return found
    if (data[after] !== GT) wrong('"--" is not allowed inside a comment', base + found)
    this.openSection = null
    return after + 1
  }

  /** #safeEnd returns the end of the input, or the place of a terminator or line end that the end of the input cuts. */
  #safeEnd(terminator: Buffer, from: number): number {
    const { data, end } = this.#input
    let at = end
    while (at > from && at > end - terminator.length + 1 && data[at - 1] === terminator[0]) at--
    return at === end && at > from && data[at - 1] === CR ? at - 1 : at
  }
}
