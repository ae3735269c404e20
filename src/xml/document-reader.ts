// The strict check of a document's bytes in UTF-8: XML 1.0 (fifth edition) with namespaces, whatever
// version is declared. Stops at the first fault, never repairs anything, and needs no more memory than
// the limits allow: tags are kept until they are whole, text and comments pass in portions.

import { BANG, CLOSE_BRACKET, equal, isOf, LT, QUESTION, SPACE } from './bytes.ts'
import { ContentReader } from './content-reader.ts'
import { type Ending, type Fault, FaultFound, type Look, short, stop, wrong } from './fault.ts'
import type { XmlHandler } from './handler.ts'
import { Input, NEED_MORE } from './input.ts'
import type { Limits } from './limits.ts'
import { Listener } from './listener.ts'
import { doctypeAt, instructionAt, LONGEST_DOCTYPE, outsideText, TELLING } from './prolog.ts'
import { CDATA, COMMENT, INSTRUCTION, SectionReader } from './section-reader.ts'

/** Bytes that are read at a time, of however many. */
const PIECE = 65_536
/** A tag that has this many bytes without being over is read again only when there is half as much more. */
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
  /** Bytes that must be there before it is worth looking again. */
  #enough = 0

  /** `at`: bytes of the XML declaration that was read before, 0 without one. */
  constructor(handler: XmlHandler, limits: Limits, at: number) {
    this.#input = new Input(at, limits)
    this.#listener = new Listener(handler)
    this.#content = new ContentReader(this.#input, this.#listener)
    this.#section = new SectionReader(this.#input, this.#listener)
  }

  /** Bytes of the document so far. */
  get length(): number {
    return this.#input.base + this.#input.length
  }

  /** Reads the next bytes; answers the first fault of the document once there is one. */
  write(bytes: Buffer): Fault | null {
    for (let at = 0; at < bytes.length && this.#fault === null; at += PIECE) {
      this.#input.append(bytes.subarray(at, at + PIECE))
      if (this.#input.final || this.#input.end >= this.#enough) this.#scan()
      this.#fault ??= this.#input.forbidden
    }
    return this.#fault
  }

  /** Looks at everything that was written, whatever may follow. Nothing may be written afterwards. */
  end(): Ending {
    this.#input.finish()
    if (this.#fault === null) this.#scan()
    if (this.#fault !== null) return { kind: 'fault', fault: this.#fault }
    if (this.#content.rootSeen && this.#content.depth === 0 && this.#inside() === null) {
      if (this.#input.length === 0) return { kind: 'complete' }
      const reason = CUT_CHARACTER
      return { kind: 'incomplete', reason, at: this.#input.base + this.#input.end }
    }
    const at = this.#input.base + this.#input.end
    return { kind: 'incomplete', reason: this.#unfinished(), at }
  }

  #scan(): void {
    try {
      this.#read()
    } catch (error) {
      if (!(error instanceof FaultFound)) throw error
      this.#fault = error.fault
    }
  }

  /** document (production 1): prolog, element and Misc*, one token after the other. */
  #read(): void {
    const input = this.#input
    const section = this.#section
    const { data, end } = input
    let at = 0
    this.#content.moved()
    this.#listener.portion.data = data
    while (at < end) {
      let next: number
      if (section.inside !== null) next = section.read(section.inside, at)
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

  /** Comment (15), CDSect (18) or doctypedecl (28). */
  #declaration(at: number): number {
    const { data, base, end } = this.#input
    if (this.#content.depth > 0 && equal(CDATA_BYTES, data, at)) {
      return this.#section.begin(CDATA, at, at + CDATA_BYTES.length)
    }
    const text = data.toString('latin1', at, Math.min(end, at + CDATA_BEGINS.length))
    if (text.startsWith('<!--')) return this.#section.begin(COMMENT, at, at + 4)
    if (text === CDATA_BEGINS) wrong('there is a CDATA section outside the root element', base + at)
    if (
      ['<!--', CDATA_BEGINS, '<!DOCTYPE'].some((begin) => begin.startsWith(text) && begin !== text)
    ) {
      return NEED_MORE
    }
    const late = this.#content.rootSeen || this.#input.doctypeSeen
    const reached = this.#look(at, LONGEST_DOCTYPE * BYTES_A_CHARACTER, (whole) =>
      doctypeAt(whole.slice(0, LONGEST_DOCTYPE + 1), late),
    )
    if (reached !== NEED_MORE) this.#input.doctypeSeen = true
    return reached
  }

  /** PI (16), up to the end of its target. */
  #instruction(at: number): number {
    const longest = this.#input.limits.name
    const target = this.#look(at, (longest + 4) * BYTES_A_CHARACTER, (text) =>
      instructionAt(text, longest),
    )
    return target === NEED_MORE ? NEED_MORE : this.#section.begin(INSTRUCTION, at, target)
  }

  /** What stands before and after the root element, but for markup: S (3) or nothing. */
  #outside(from: number): number {
    const { data, end } = this.#input
    let at = from
    while (isOf(data, at, SPACE)) at++
    if (at >= end || data[at] === LT) return at
    const after = this.#content.rootSeen
    return this.#look(at, TELLING * BYTES_A_CHARACTER, (text, final) =>
      outsideText(text, after, final),
    )
  }

  /** Has a short piece of the input looked at as text. */
  #look(at: number, most: number, look: (text: string, final: boolean) => Look): number {
    const { data, base, end, final } = this.#input
    const text = data.toString('utf8', at, Math.min(end, at + most))
    const found = look(text, final)
    if (found === null) return NEED_MORE
    const behind = (units: number) => at + Buffer.byteLength(text.slice(0, units))
    if (typeof found === 'number') return behind(found)
    stop({ ...found, at: base + behind(found.at) })
  }

  /** What the document ends in, for a sentence; null: between tokens. */
  #inside(): string | null {
    if (this.#section.inside !== null) return this.#section.inside.name
    const { data, end } = this.#input
    let at = 0
    while (isOf(data, at, SPACE) || data[at] === CLOSE_BRACKET) at++
    if (at >= end) return null
    const markup = data[at] === LT && at + 1 < end && data[at + 1] !== BANG
    return markup && data[at + 1] !== QUESTION ? 'tag' : 'tag or reference'
  }

  #unfinished(): string {
    const inside = this.#inside()
    const where = inside === null ? '' : ` inside a ${inside}`
    const element = this.#content.element(inside === 'tag')
    if (element === null) {
      const place = this.#content.rootSeen ? 'after' : 'before'
      return `the document ends early${where}, ${place} its root element`
    }
    return `the document ends early${where}: <${short(element)}> is not closed`
  }
}
