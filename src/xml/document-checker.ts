// Checks one document that arrives in pieces of bytes: its beginning, its encoding, then its content. Other encodings
// are converted to UTF-8 first. It knows nothing of files; `locate` turns places into offsets, lines and columns.

import { CUT_CHARACTER, DocumentReader } from './document-reader.ts'
import { Decoder } from './encoding/decoder.ts'
import { documentStart } from './encoding/document-start.ts'
import { type Encoding, encodingNamed, UTF_8 } from './encoding/encodings.ts'
import { Utf8Witness } from './encoding/utf8-witness.ts'
import { type Ending, type Fault, undecodable } from './fault.ts'
import type { XmlHandler } from './handler.ts'
import type { Limits } from './limits.ts'
import { LONGEST_DECLARATION } from './prolog.ts'

export class DocumentChecker {
  readonly #handler: XmlHandler
  readonly #limits: Limits
  readonly #givenEncoding: Encoding | 'utf-16' | null
  /** #head has the bytes so far until they are enough to know the encoding. */
  #head: Buffer = Buffer.alloc(0)
  /** #decoder decodes the document; null if the document is UTF-8, or its encoding is not known yet. */
  #decoder: Decoder | null = null
  /** #witness finds out whether a document that declares an 8-bit encoding is really UTF-8. */
  #witness: Utf8Witness | null = null
  #reader: DocumentReader | null = null
  #fault: Fault | null = null
  encoding: Encoding = UTF_8
  /** bom is the length of the byte order mark in bytes. */
  bom = 0
  warnings: readonly string[] = []

  /** `encoding` replaces the encoding that the document declares; null means the declared encoding. */
  constructor(handler: XmlHandler, limits: Limits, encoding: string | null = null) {
    this.#handler = handler
    this.#limits = limits
    this.#givenEncoding = encoding === null ? null : encodingNamed(encoding)
  }

  /** write checks the next bytes. It returns false after a fault; then more bytes make no difference. */
  write(bytes: Buffer): boolean {
    if (this.#fault !== null) return false
    if (this.#reader !== null) this.#check(this.#reader, bytes)
    else this.#begin(Buffer.concat([this.#head, bytes]), false)
    return this.#fault === null
  }

  /** end returns how the document ended. Call it once, after the last bytes. */
  end(): Ending {
    if (this.#fault === null && this.#reader === null) this.#begin(this.#head, true)
    if (this.#fault !== null) return { kind: 'fault', fault: this.#fault }
    const ending = this.#reader?.end()
    if (ending === undefined) {
      const cut = new Decoder(this.encoding).write(this.#head.subarray(this.bom)).text
      const reason = cut === '' ? 'the file is empty' : 'the document ends early, in its first tag'
      return { kind: 'incomplete', reason, at: Buffer.byteLength(cut) }
    }
    if (ending.kind === 'complete' && this.#decoder?.isUnfinished()) {
      return { kind: 'incomplete', reason: CUT_CHARACTER, at: this.#reader?.length ?? 0 }
    }
    if (ending.kind === 'complete' && this.#witness?.saysUtf8()) {
      this.warnings = [...this.warnings, reallyUtf8(this.encoding.name)]
    }
    return ending
  }

  /** #begin decides how to read the document if `head` has enough bytes or is the whole document, and checks `head`. */
  #begin(head: Buffer, whole: boolean): void {
    this.#head = head
    // No encoding needs more than four bytes for a character.
    const isLong = head.length > LONGEST_DECLARATION * 4
    const start = documentStart(head, whole || isLong, this.#givenEncoding)
    if (start === null) return
    const { encoding, declaration, bom, warnings, fault } = start
    this.encoding = encoding
    this.bom = bom
    this.warnings = warnings
    this.#fault = fault
    if (declaration === null) return
    if (encoding.kind !== 'utf-8') this.#decoder = new Decoder(encoding)
    if (encoding.kind === 'single-byte') this.#witness = new Utf8Witness()
    this.#reader = new DocumentReader(this.#handler, this.#limits, declaration)
    this.#head = Buffer.alloc(0)
    // A declaration is ASCII: one byte for each character, or two in UTF-16.
    const read = encoding.kind === 'utf-16' ? declaration * 2 : declaration
    this.#check(this.#reader, head.subarray(bom + read))
  }

  /** #check passes the bytes to the reader as UTF-8, and records the first fault. */
  #check(reader: DocumentReader, bytes: Buffer): void {
    if (this.#decoder === null) {
      this.#fault = reader.write(bytes)
      return
    }
    this.#witness?.write(bytes)
    const { text, bad } = this.#decoder.write(bytes)
    this.#fault = reader.write(Buffer.from(text))
    if (bad && this.#fault === null) {
      // The reader might still wait for the end of a token. A fault in this token comes before the bytes that are bad.
      const ending = reader.end()
      this.#fault =
        ending.kind === 'fault' ? ending.fault : undecodable(this.encoding.name, reader.length)
    }
  }
}

function reallyUtf8(encoding: string): string {
  return `the file is read as ${encoding}, but all its characters beyond ASCII are valid UTF-8, so readers see wrong characters (Ã¥ for å); declare UTF-8, or name it in the rule of this feed (encoding: UTF-8)`
}
