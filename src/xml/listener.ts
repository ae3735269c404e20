// Tells a handler only of the elements that it wants to hear of: most of a feed is not read by anybody.

import type { Attributes, Text, XmlHandler } from './handler.ts'
import type { Name } from './names.ts'

export class Listener {
  /** Elements that are open with the outermost one that is not told of; 0: all are. */
  ignoredFrom = 0
  readonly #handler: XmlHandler
  readonly #portion: Text = { data: Buffer.alloc(0), from: 0, to: 0, literal: false }

  constructor(handler: XmlHandler) {
    this.#handler = handler
  }

  /** Not to be called inside an element that is not told of, like `close`. `depth`: elements that are open with it. */
  open(name: Name, attributes: Attributes, from: number, depth: number): void {
    if (!this.#handler.open(name, attributes, from)) this.ignoredFrom = depth
  }

  text(from: number, to: number, literal: boolean): void {
    if (this.ignoredFrom !== 0 || from === to) return
    const portion = this.#portion
    portion.from = from
    portion.to = to
    portion.literal = literal
    this.#handler.text(portion)
  }

  close(data: Buffer, to: number): void {
    this.#handler.close(data, to)
  }

  /** What is told of from now on is in `data`. */
  moved(data: Buffer): void {
    this.#portion.data = data
  }

  moving(data: Buffer, to: number): void {
    this.#handler.moving(data, to)
  }
}
