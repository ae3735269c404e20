// The strict check of a document in UTF-8: XML 1.0 (fifth edition) with namespaces, for every declared version. It
// stops at the first fault and never repairs anything. The limits bound its memory: it keeps a tag until the tag is
// complete, and reads texts and comments in portions.

import { BANG, CLOSE_BRACKET, equal, isOf, LT, QUESTION, SPACE } from './bytes.ts'
import { ContentReader } from './content-reader.ts'
import { type Ending, type Fault, FaultFound, short, stop, type TokenEnd, wrong } from './fault.ts'
import type { XmlHandler } from './handler.ts'
import { Input, NEED_MORE } from './input.ts'
import type { Limits } from './limits.ts'
import { Listener } from './listener.ts'
import {
  doctypeAt,
  FORMAT_CHARACTERS,
  instructionAt,
  LONGEST_DOCTYPE,
  outsideText,
} from './prolog.ts'
import { CDATA, COMMENT, INSTRUCTION, SectionReader } from './section-reader.ts'

/** PIECE, in bytes, is the most that is read at once. */
const PIECE = 65_536
/** An incomplete tag of more than LONG_TAG bytes is read again only after it has grown by half. */
const LONG_TAG = 8_192
const BYTES_A_CHARACTER = 4

export const CUT_CHARACTER = 'the file ends in the middle of a character'
const CDATA_BEGINS = '<![CDATA['
const CDATA_BYTES = Buffer.from(CDATA_BEGINS)

export class DocumentReader {
  readonly #input: Input
  readonly #listener: Listener
  readonly #content: ContentReader
  readonly #section: SectionReader
  #fault: Fault | null = null
  /** #enough is how many readable bytes the input must have before the next scan. */
  #enough = 0

  /** `at` is the length of the XML declaration in bytes, or 0. */
  constructor(handler: XmlHandler, limits: Limits, at: number) {
    this.#input = new Input(at, limits)
    this.#listener = new Listener(handler)
    this.#content = new ContentReader(this.#input, this.#listener)
    this.#section = new SectionReader(this.#input, this.#listener)
  }

  /** length is the size of the document so far, in bytes. */
  get length(): number {
    return this.#input.base + this.#input.length
  }

  /** write reads the next bytes and returns the first fault of the document, or null. */
  write(bytes: Buffer): Fault | null {
    for (let at = 0; at < bytes.length && this.#fault === null; at += PIECE) {
      this.#input.append(bytes.subarray(at, at + PIECE))
      if (this.#input.final || this.#input.end >= this.#enough) this.#scan()
      this.#fault ??= this.#input.forbidden
    }
    return this.#fault
  }

  /** end reads the rest and returns how the document ended. Do not call `write` afterwards. */
  end(): Ending {
    this.#input.finish()
    if (this.#fault === null) this.#scan()
    if (this.#fault !== null) return { kind: 'fault', fault: this.#fault }
    if (this.#content.rootSeen && this.#content.depth === 0 && this.#openToken() === null) {
      if (this.#input.length === 0) return { kind: 'complete' }
      const reason = CUT_CHARACTER
      return { kind: 'incomplete', reason, at: this.#input.base + this.#input.end }
    }
    const at = this.#input.base + this.#input.end
    return { kind: 'incomplete', ...this.#unfinished(), at }
  }

  /** #scan reads the input, and records the first fault. */
  #scan(): void {
    try {
      this.#read()
    } catch (error) {
      if (!(error instanceof FaultFound)) throw error
      this.#fault = error.fault
    }
  }

  /** #read reads a document (production 1), token by token, and discards what it has read. Throws `FaultFound`. */
  #read(): void {
    const input = this.#input
    const section = this.#section
    const { data, end } = input
    let at = 0
    this.#content.moved()
    this.#listener.portion.data = data
    while (at < end) {
      let next: number
      if (section.openSection !== null) next = section.read(section.openSection, at)
      else if (data[at] !== LT && this.#content.depth === 0) next = this.#outside(at)
      else if (data[at] === LT && data[at + 1] === BANG) next = this.#declaration(at)
      else if (data[at] === LT && data[at + 1] === QUESTION) next = this.#instruction(at)
      else next = this.#content.read(at)
      if (next === NEED_MORE || next === at) break
      at = next
    }
    const left = end - at
    this.#listener.handler.moving(data, at)
    input.discard(at)
    this.#enough = left > LONG_TAG ? left + left / 2 : 0
  }

  /** #declaration reads a Comment (15), CDSect (18) or doctypedecl (28), and returns its end or NEED_MORE. */
  #declaration(at: number): number {
    const { data, base, end } = this.#input
    if (this.#content.depth > 0 && equal(CDATA_BYTES, data, at)) {
      return this.#section.begin(CDATA, at, at + CDATA_BYTES.length)
    }
    const text = data.toString('latin1', at, Math.min(end, at + CDATA_BEGINS.length))
    if (text.startsWith('<!--')) return this.#section.begin(COMMENT, at, at + 4)
    if (text === CDATA_BEGINS) wrong('there is a CDATA section outside the root element', base + at)
    const begins = ['<!--', CDATA_BEGINS, '<!DOCTYPE']
    const isCut = begins.some((begin) => begin.startsWith(text) && begin !== text)
    if (isCut) return NEED_MORE
    const late = this.#content.rootSeen || this.#input.doctypeSeen
    const reached = this.#readToken(at, LONGEST_DOCTYPE * BYTES_A_CHARACTER, (whole) =>
      doctypeAt(whole.slice(0, LONGEST_DOCTYPE + 1), late),
    )
    if (reached !== NEED_MORE) this.#input.doctypeSeen = true
    return reached
  }

  /** #instruction reads a PI (16), up to the end of its target. */
  #instruction(at: number): number {
    const longest = this.#input.limits.name
    const target = this.#readToken(at, (longest + 4) * BYTES_A_CHARACTER, (text) =>
      instructionAt(text, longest),
    )
    return target === NEED_MORE ? NEED_MORE : this.#section.begin(INSTRUCTION, at, target)
  }

  /** #outside reads text before and after the root element: only S (3) is allowed. */
  #outside(from: number): number {
    const { data, end } = this.#input
    let at = from
    while (isOf(data, at, SPACE)) at++
    if (at >= end || data[at] === LT) return at
    const after = this.#content.rootSeen
    return this.#readToken(at, FORMAT_CHARACTERS * BYTES_A_CHARACTER, (text, final) =>
      outsideText(text, after, final),
    )
  }

  /** #readToken passes at most `most` bytes to `read` as text. It returns the token's end or NEED_MORE. */
  #readToken(at: number, most: number, read: (text: string, final: boolean) => TokenEnd): number {
    const { data, base, end, final } = this.#input
    const text = data.toString('utf8', at, Math.min(end, at + most))
    const found = read(text, final)
    if (found === null) return NEED_MORE
    const after = (units: number) => at + Buffer.byteLength(text.slice(0, units))
    if (typeof found === 'number') return after(found)
    stop({ ...found, at: base + after(found.at) })
  }

  /** #openToken names, for a sentence, the token that the end of the document cuts; null if it cuts no token. */
  #openToken(): string | null {
    if (this.#section.openSection !== null) return this.#section.openSection.name
    const { data, end } = this.#input
    let at = 0
    while (isOf(data, at, SPACE) || data[at] === CLOSE_BRACKET) at++
    if (at >= end) return null
    const isMarkup = data[at] === LT && at + 1 < end
    const isTag = isMarkup && data[at + 1] !== BANG && data[at + 1] !== QUESTION
    return isTag ? 'tag' : 'tag or reference'
  }

  /** #unfinished returns why a document without a fault is incomplete. */
  #unfinished(): { reason: string; reference?: number } {
    const token = this.#openToken()
    const where = token === null ? '' : ` inside a ${token}`
    const unclosed = this.#content.unclosed(token === 'tag')
    if (unclosed === null) {
      const place = this.#content.rootSeen ? 'after' : 'before'
      return { reason: `the document ends early${where}, ${place} its root element` }
    }
    const name = `the document ends early${where}: <${short(unclosed.name)}>`
    const { openedAt } = unclosed
    if (openedAt === null) return { reason: `${name} is not closed` }
    return { reason: `${name} opened in line {line} is not closed`, reference: openedAt }
  }
}
