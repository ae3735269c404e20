// Tells the handler of text in portions, so that white space around a run can be told from white space
// inside it, however the input was cut: a portion that does not end its run never ends in white space.

import { isOf, SPACE } from './byte-classes.ts'
import type { HeardEvents } from './heard-events.ts'
import type { Input } from './input.ts'

/** More white space than this before a cut is not kept for the next piece. */
const MOST_SPACE = 4_096

export class TextTeller {
  readonly #input: Input
  readonly #heard: HeardEvents
  readonly #portion: {
    data: Buffer
    from: number
    to: number
    cdata: boolean
    continued: boolean
  }
  #told = false

  constructor(input: Input, heard: HeardEvents, cdata: boolean) {
    this.#input = input
    this.#heard = heard
    this.#portion = { data: input.data, from: 0, to: 0, cdata, continued: false }
  }

  /** How much of the text from `from` to `to` can be told while more of it is to come. */
  cut(from: number, to: number): number {
    let at = to
    while (at > from && isOf(this.#input.data, at - 1, SPACE)) at--
    return to - at > MOST_SPACE ? to : at
  }

  tell(from: number, to: number): void {
    if (to === from) return
    const portion = this.#portion
    portion.data = this.#input.data
    portion.from = from
    portion.to = to
    portion.continued = this.#told
    this.#told = true
    this.#heard.text(portion)
  }

  finish(): void {
    this.#told = false
  }
}
