// Reads one start tag, end tag or empty-element tag (XML 1.0 §3.1) and holds it against the elements
// that are open. Reads a tag only as a whole: its beginning is kept until the rest is there.

import { AttributeReader } from './attribute-reader.ts'
import { COLON, GT, isOf, NAME_START, SLASH, SPACE } from './byte-classes.ts'
import { equal } from './byte-table.ts'
import { HTML_PAGE } from './doctype.ts'
import { short, shown } from './fault.ts'
import type { HeardEvents } from './heard-events.ts'
import { type Input, MORE } from './input.ts'
import { type Limits, tooDeep, tooLong } from './limits.ts'
import type { Name } from './names.ts'
import { Namespaces } from './namespaces.ts'
import { OpenElements } from './open-elements.ts'
import type { ReferenceReader } from './reference-reader.ts'
import type { Skimmer } from './skimmer.ts'
import { stop, wrong } from './stopped.ts'
import { characterAt, misplaced } from './tag-sentences.ts'
import { STARTS_NAME } from './xml-names.ts'

export class TagReader {
  rootSeen = false
  /** Name of a start tag that is not complete, for a sentence. */
  opening: string | null = null
  readonly #input: Input
  readonly #heard: HeardEvents
  readonly #limits: Limits
  readonly #reader: AttributeReader
  readonly #namespaces: Namespaces
  readonly #open: OpenElements
  #markup = 0

  constructor(
    input: Input,
    heard: HeardEvents,
    limits: Limits,
    references: ReferenceReader,
    skimmer: Skimmer,
  ) {
    this.#input = input
    this.#heard = heard
    this.#limits = limits
    this.#reader = new AttributeReader(input, limits, references, skimmer)
    this.#namespaces = new Namespaces(this.#reader, skimmer)
    this.#open = new OpenElements(skimmer, this.#reader.names)
  }

  /** Open elements. */
  get depth(): number {
    return this.#open.depth
  }

  /** The element that is open; null: none. */
  get element(): string | null {
    return this.#open.last?.text ?? null
  }

  /** Reads the tag whose `<` is at `at`; answers where it ends, or MORE. */
  read(at: number): number {
    this.#markup = at
    this.opening = null
    const closing = this.#input.data[at + 1] === SLASH
    const matching = closing ? this.#matching(at + 2) : MORE
    if (matching !== MORE) return matching
    const name = closing ? at + 2 : at + 1
    if (name >= this.#input.end) return MORE
    this.#checkFirst(name, closing)
    const reached = closing ? this.#close(name) : this.#start(name)
    if (reached - at > this.#limits.tag || reached === MORE) this.#limitLength(reached, closing)
    return reached
  }

  #checkFirst(name: number, closing: boolean): void {
    const byte = this.#input.data[name] ?? 0
    if (byte < 0x80 && byte !== COLON && isOf(this.#input.data, name, NAME_START)) return
    const character = characterAt(this.#input, name)
    if (byte >= 0x80 && STARTS_NAME.test(character)) return
    const place = this.#input.base + this.#markup
    if (!closing) wrong('"<" must be written "&lt;"', place)
    wrong(`an end tag must have a name after "</", not ${shown(character)}`, place)
  }

  /** STag (40) and EmptyElemTag (44). */
  #start(from: number): number {
    if (this.rootSeen && this.depth === 0) {
      const reason = 'there is a second root element; one element must contain all postings'
      stop({ code: 'several-roots', reason, at: this.#input.base + this.#markup })
    }
    const { data, end } = this.#input
    const reader = this.#reader
    this.#begin()
    const name = reader.name(from)
    if (name === null) return MORE
    this.#checkElement(name)
    let at = reader.nameEnd
    while (at !== MORE) {
      const parted = isOf(data, at, SPACE)
      if (parted) at = reader.spaces(at)
      if (at >= end) break
      if (data[at] === GT) return this.#enter(name, at + 1, false)
      if (data[at] === SLASH) {
        if (at + 1 >= end) break
        if (data[at + 1] === GT) return this.#enter(name, at + 2, true)
        reader.wrong((tag) => `"/" in the tag <${tag}> must be followed by ">"`, at + 1)
      }
      if (!parted) this.#checkParted(at)
      at = reader.read(at)
    }
    this.opening = name.text
    return MORE
  }

  #begin(): void {
    const { names } = this.#reader
    if (names.full) {
      this.#open.keepNames()
      names.forget()
    }
    this.#reader.begin(this.#markup)
  }

  #checkElement(name: Name): void {
    const place = this.#input.base + this.#markup
    if (this.depth === 0 && name.text.toLowerCase() === 'html') {
      stop({ code: 'html', reason: HTML_PAGE, at: place })
    }
    if (name.badLocal) this.#reader.badLocal(name)
    if (this.depth >= this.#limits.depth) stop(tooDeep(this.#limits.depth, place))
  }

  /** Neither white space nor the end stands at `at`, behind a name or a value. */
  #checkParted(at: number): void {
    const behindName = at === this.#reader.nameEnd
    if (behindName || !STARTS_ATTRIBUTE.test(characterAt(this.#input, at))) {
      misplaced(this.#input, this.#markup, at)
    }
    this.#reader.wrong((tag) => `a space is missing between the attributes of <${tag}>`, at)
  }

  #enter(name: Name, end: number, empty: boolean): number {
    this.#namespaces.enter(name, this.depth + 1)
    this.rootSeen = true
    this.#opened(name)
    if (empty) this.#leave(end)
    return end
  }

  #opened(name: Name): void {
    this.#open.push(name, this.#input.base + this.#markup)
    this.#heard.open(name, this.#reader.attributes, this.#markup)
  }

  /** Reads the end tag of the open element, written without white space as almost all are; else MORE. */
  #matching(name: number): number {
    const { data } = this.#input
    const bytes = this.#open.last?.bytes
    if (bytes === undefined) return MORE
    const close = name + bytes.length
    // What is compared ends at the sentinel, before which there is no ">" of an earlier piece.
    if (!equal(bytes, data, name) || data[close] !== GT) return MORE
    this.#leave(close + 1)
    return close + 1
  }

  /** ETag (42), and its match with the start tag (Element Type Match, §3). */
  #close(from: number): number {
    const { data, base, end } = this.#input
    const element = this.#open.last
    if (element === undefined) {
      wrong('there is an end tag without a start tag', base + this.#markup)
    }
    this.#begin()
    const name = this.#reader.name(from)
    if (name === null) return MORE
    const at = this.#reader.spaces(this.#reader.nameEnd)
    if (at >= end) return MORE
    if (data[at] !== GT) misplaced(this.#input, this.#markup, at)
    if (name.text !== element.text) this.#unmatched(name, element)
    this.#leave(at + 1)
    return at + 1
  }

  #unmatched(name: Name, element: Name): never {
    stop({
      code: 'not-well-formed',
      reason: `the end tag </${short(name.text)}> does not match <${short(element.text)}> opened in line {line}`,
      at: this.#input.base + this.#markup,
      reference: this.#open.lastAt,
    })
  }

  #leave(to: number): void {
    this.#namespaces.leave(this.#open.pop())
    this.#heard.close(to)
  }

  #limitLength(reached: number, closing: boolean): void {
    const { tag, attributeValue } = this.#limits
    const length = (reached === MORE ? this.#input.end : reached) - this.#markup
    const values = closing ? 0 : this.#reader.valueBytes
    if (length - values > tag || values > 2 * attributeValue) {
      stop(tooLong('tag', 'a tag', tag, this.#input.base + this.#markup))
    }
  }
}

const STARTS_ATTRIBUTE = new RegExp(`:|${STARTS_NAME.source}`, 'u')
