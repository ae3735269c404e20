// Tells a handler only of the elements that it wants to hear of. Most of a feed is text that nothing is
// read from, and not to tell of it is what makes the check fast.

import { LT, SLASH } from './byte-classes.ts'
import type { Name } from './names.ts'
import { type Skimmer, State } from './skimmer.ts'
import type { Attributes, Text, XmlHandler } from './xml-events.ts'

export class HeardEvents {
  readonly #handler: XmlHandler
  readonly #skimmer: Skimmer

  constructor(handler: XmlHandler, skimmer: Skimmer) {
    this.#handler = handler
    this.#skimmer = skimmer
    handler.attach?.(skimmer)
  }

  /** The element of the tag is open already. */
  open(name: Name, attributes: Attributes, from: number): void {
    const { state } = this.#skimmer
    if (state[State.ignoredFrom] !== 0) return
    if (this.#handler.open(name, attributes, from)) this.#arrived()
    else {
      state[State.ignoredFrom] = state[State.depth] as number
      if (this.#handler.ignores(name)) this.#skimmer.ignore(name)
    }
  }

  text(text: Text): void {
    if (this.#skimmer.state[State.ignoredFrom] === 0) this.#handler.text(text)
  }

  /** The element of the tag is not open any more. */
  close(to: number): void {
    const { state } = this.#skimmer
    const ignoredFrom = state[State.ignoredFrom] as number
    if (ignoredFrom === 0) {
      this.#handler.close(to)
      this.#arrived()
    } else if (ignoredFrom > (state[State.depth] as number)) state[State.ignoredFrom] = 0
  }

  /** Whether the token at `at` is certainly to be told of. */
  wants(data: Buffer, at: number): boolean {
    const { state } = this.#skimmer
    if (state[State.ignoredFrom] !== 0) return false
    if (data[at] !== LT) return state[State.wantsText] !== 0
    return state[State.place] === 0 || data[at + 1] === SLASH
  }

  #arrived(): void {
    const { state } = this.#skimmer
    state[State.place] = this.#handler.place
    state[State.wantsText] = this.#handler.wantsText ? 1 : 0
  }

  moving(to: number): void {
    this.#handler.moving(to)
  }
}
