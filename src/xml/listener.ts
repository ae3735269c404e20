// Reports to the handler only the elements that it wants, because no handler needs most of a feed.

import type { XmlHandler } from './handler.ts'

export class Listener {
  readonly handler: XmlHandler
  /** ignoredFrom is the depth of the outermost open element that the handler ignores; 0 if it ignores none. */
  ignoredFrom = 0
  /** portion is the one object that reports all texts. */
  readonly portion = { data: Buffer.alloc(0) as Buffer, from: 0, to: 0, literal: false }

  constructor(handler: XmlHandler) {
    this.handler = handler
  }

  /** text reports the text from `from` to `to`, unless the text is empty or the handler ignores its element. */
  text(from: number, to: number, literal: boolean): void {
    if (this.ignoredFrom !== 0 || from === to) return
    const { portion } = this
    portion.from = from
    portion.to = to
    portion.literal = literal
    this.handler.text(portion)
  }
}
