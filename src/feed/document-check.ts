// Checks one document that comes in pieces of bytes: start, encoding, strict check. What is not UTF-8
// becomes UTF-8 first. Knows nothing of files; `locate` turns places into offsets, lines and columns.

import { createDecoder, type Decoder } from './decoder.ts'
import { documentStart } from './document-start.ts'
import { type Encoding, UTF_8 } from './encodings.ts'
import { type Ending, type Fault, undecodable } from './fault.ts'
import type { Limits } from './limits.ts'
import { CUT_CHARACTER, XmlChecker } from './xml-checker.ts'
import { LONGEST_DECLARATION } from './xml-declaration.ts'
import type { XmlHandler } from './xml-events.ts'

export class DocumentCheck implements Disposable {
  readonly #handler: XmlHandler
  readonly #limits: Limits
  #head: Buffer = Buffer.alloc(0)
  /** Null: the document is UTF-8, or not begun. */
  #decoder: Decoder | null = null
  #checker: XmlChecker | null = null
  #fault: Fault | null = null
  encoding: Encoding = UTF_8
  /** Bytes of the byte order mark. */
  bom = 0
  warnings: readonly string[] = []

  constructor(handler: XmlHandler, limits: Limits) {
    this.#handler = handler
    this.#limits = limits
  }

  /** False when a fault was found: nothing more needs to be written. */
  write(bytes: Buffer): boolean {
    if (this.#fault !== null) return false
    if (this.#checker !== null) this.#check(this.#checker, bytes)
    else this.#begin(Buffer.concat([this.#head, bytes]), false)
    return this.#fault === null
  }

  end(): Ending {
    if (this.#fault === null && this.#checker === null) this.#begin(this.#head, true)
    if (this.#fault !== null) return { kind: 'fault', fault: this.#fault }
    const ending = this.#checker?.end()
    if (ending === undefined) {
      const cut = createDecoder(this.encoding).write(this.#head.subarray(this.bom)).text
      const reason = cut === '' ? 'the file is empty' : 'the document ends early, in its first tag'
      return { kind: 'incomplete', reason, at: Buffer.byteLength(cut) }
    }
    if (ending.kind === 'complete' && this.#decoder?.unfinished()) {
      return { kind: 'incomplete', reason: CUT_CHARACTER, at: this.#checker?.length ?? 0 }
    }
    return ending
  }

  [Symbol.dispose](): void {
    this.#checker?.[Symbol.dispose]()
  }

  #begin(head: Buffer, whole: boolean): void {
    this.#head = head
    // Four bytes a character is the most that any encoding needs.
    const start = documentStart(head, whole || head.length > LONGEST_DECLARATION * 4)
    if (start.kind === 'more') return
    this.encoding = start.encoding
    this.bom = start.bom
    if (start.kind === 'fault') this.#fault = start.fault
    if (start.kind !== 'start') return
    this.warnings = start.warnings
    const { encoding, declaration, bom } = start
    if (encoding.kind !== 'utf-8') this.#decoder = createDecoder(encoding)
    this.#checker = new XmlChecker(this.#handler, this.#limits, declaration)
    this.#head = Buffer.alloc(0)
    // A declaration is ASCII: as many bytes as characters, twice as many in UTF-16.
    const read = encoding.kind === 'utf-16' ? declaration * 2 : declaration
    this.#check(this.#checker, head.subarray(bom + read))
  }

  #check(checker: XmlChecker, bytes: Buffer): void {
    if (this.#decoder === null) {
      this.#fault = checker.write(bytes)
      return
    }
    const { text, bad } = this.#decoder.write(bytes)
    this.#fault = checker.write(Buffer.from(text))
    if (bad && this.#fault === null) {
      const ending = checker.end()
      this.#fault =
        ending.kind === 'fault' ? ending.fault : undecodable(this.encoding.name, checker.length)
    }
  }
}
