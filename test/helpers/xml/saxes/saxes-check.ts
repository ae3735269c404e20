// Checks one document in pieces of bytes: its start, its decoding, and a strict scan. Positions count UTF-16 units.

import { Decoder } from '../../../../src/xml/encoding/decoder.ts'
import { documentStart } from '../../../../src/xml/encoding/document-start.ts'
import { type Encoding, UTF_8 } from '../../../../src/xml/encoding/encodings.ts'
import { type Ending, type Fault, undecodable } from '../../../../src/xml/fault.ts'
import type { Limits } from '../../../../src/xml/limits.ts'
import { LONGEST_DECLARATION } from '../../../../src/xml/prolog.ts'
import { type SaxesHandler, XmlScanner } from './saxes-scanner.ts'

export class SaxesCheck {
  readonly #handler: SaxesHandler
  readonly #limits: Limits
  #head: Buffer = Buffer.alloc(0)
  #decoder: Decoder | null = null
  #scanner: XmlScanner | null = null
  #fault: Fault | null = null
  #characters = 0
  encoding: Encoding = UTF_8
  /** Bytes of the byte order mark. */
  bom = 0
  warnings: readonly string[] = []

  constructor(handler: SaxesHandler, limits: Limits) {
    this.#handler = handler
    this.#limits = limits
  }

  /** write returns false after a fault: then no more pieces are needed. */
  write(bytes: Buffer): boolean {
    if (this.#fault !== null) return false
    if (this.#scanner !== null) this.#decode(bytes)
    else this.#begin(Buffer.concat([this.#head, bytes]), false)
    return this.#fault === null
  }

  /** end returns the verdict: the first fault, or whether the document is complete. */
  end(): Ending {
    if (this.#fault === null && this.#scanner === null) this.#begin(this.#head, true)
    if (this.#fault !== null) return { kind: 'fault', fault: this.#fault }
    const ending = this.#scanner?.end()
    if (ending === undefined) {
      const cut = new Decoder(this.encoding).write(this.#head.subarray(this.bom)).text
      const reason = cut === '' ? 'the file is empty' : 'the document ends early, in its first tag'
      return { kind: 'incomplete', reason, at: cut.length }
    }
    if (ending.kind === 'complete' && this.#decoder?.isUnfinished()) {
      const reason = 'the file ends in the middle of a character'
      return { kind: 'incomplete', reason, at: this.#characters }
    }
    return ending
  }

  #begin(head: Buffer, whole: boolean): void {
    this.#head = head
    // No encoding needs more than four bytes for a character.
    const start = documentStart(head, whole || head.length > LONGEST_DECLARATION * 4)
    if (start === null) return
    this.encoding = start.encoding
    this.bom = start.bom
    this.#fault = start.fault
    if (start.declaration === null) return
    this.warnings = start.warnings
    this.#decoder = new Decoder(start.encoding)
    this.#scanner = new XmlScanner(this.#handler, this.#limits, start.declaration)
    this.#head = Buffer.alloc(0)
    this.#decode(head.subarray(start.bom), start.declaration)
  }

  #decode(bytes: Buffer, skipped = 0): void {
    const decoded = this.#decoder?.write(bytes) ?? { text: '', bad: false }
    this.#characters += decoded.text.length
    this.#fault = this.#scanner?.write(decoded.text.slice(skipped)) ?? null
    if (this.#fault === null && decoded.bad) {
      this.#fault = {
        code: 'undecodable',
        reason: undecodable(this.encoding.name, 0).reason,
        at: this.#characters,
      }
    }
  }
}
