// Tells a handler only of the elements that it wants to hear of. Most of a feed is text that nothing is
// read from, and not to tell of it is what makes the check fast.

import type { Name } from './names.ts'
import type { Attributes, Text, XmlHandler } from './xml-events.ts'

export class HeardEvents implements XmlHandler {
  readonly #handler: XmlHandler
  /** Open elements that are not told of, each within the one before. */
  #unheard = 0

  constructor(handler: XmlHandler) {
    this.#handler = handler
  }

  open(name: Name, attributes: Attributes, from: number): boolean {
    if (this.#unheard > 0 || !this.#handler.open(name, attributes, from)) this.#unheard++
    return true
  }

  text(text: Text): void {
    if (this.#unheard === 0) this.#handler.text(text)
  }

  close(data: Buffer, to: number): void {
    if (this.#unheard > 0) this.#unheard--
    else this.#handler.close(data, to)
  }

  moving(data: Buffer, to: number): void {
    this.#handler.moving(data, to)
  }
}
