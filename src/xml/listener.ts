// Tells a handler only of the elements that it wants to hear of: most of a feed is not read by anybody.

import type { XmlHandler } from './handler.ts'

export class Listener {
  readonly handler: XmlHandler
  /** Elements that are open with the outermost one that is not told of; 0: all are. */
  ignoredFrom = 0
  /** What text is told of is in its `data`. */
  readonly portion = { data: Buffer.alloc(0) as Buffer, from: 0, to: 0, literal: false }

  constructor(handler: XmlHandler) {
    this.handler = handler
  }

  text(from: number, to: number, literal: boolean): void {
    if (this.ignoredFrom !== 0 || from === to) return
    const { portion } = this
    portion.from = from
    portion.to = to
    portion.literal = literal
    this.handler.text(portion)
  }
}
