// Tells a handler only of the elements that it wants to hear of: most of a feed is not read by anybody.

import type { Attributes, Text, XmlHandler } from './handler.ts'
import type { Name } from './names.ts'

export class Listener {
  readonly #handler: XmlHandler
  readonly #portion: Text = { data: Buffer.alloc(0), from: 0, to: 0, literal: false }
  /** Elements that are open, and how many were when the first one was that is not told of; 0: all are. */
  #depth = 0
  #ignoredFrom = 0

  constructor(handler: XmlHandler) {
    this.#handler = handler
  }

  open(name: Name, attributes: Attributes, from: number): void {
    this.#depth++
    if (this.#ignoredFrom !== 0) return
    if (!this.#handler.open(name, attributes, from)) this.#ignoredFrom = this.#depth
  }

  text(from: number, to: number, literal: boolean): void {
    if (this.#ignoredFrom !== 0 || from === to) return
    const portion = this.#portion
    portion.from = from
    portion.to = to
    portion.literal = literal
    this.#handler.text(portion)
  }

  close(data: Buffer, to: number): void {
    if (this.#ignoredFrom === 0) this.#handler.close(data, to)
    else if (this.#ignoredFrom === this.#depth) this.#ignoredFrom = 0
    this.#depth--
  }

  /** What is told of from now on is in `data`. */
  moved(data: Buffer): void {
    this.#portion.data = data
  }

  moving(data: Buffer, to: number): void {
    this.#handler.moving(data, to)
  }
}
