// Reads one start tag, end tag or empty-element tag (XML 1.0 §3.1) and holds it against the elements
// that are open. Reads a tag only as a whole: its beginning is kept until the rest is there. The methods
// marked "hot" run for every tag; what is wrong or unusual is looked at elsewhere.

import { AttributeReader } from './attribute-reader.ts'
import { afterSpace, CLASSES, COLON, GT, NAME_START, SLASH, SPACE } from './bytes.ts'
import { STARTS_NAME } from './characters.ts'
import { HTML_PAGE } from './doctype.ts'
import { stop, wrong } from './fault.ts'
import { type Input, NEED_MORE } from './input.ts'
import { type Limits, tooDeep, tooLong } from './limits.ts'
import type { Listener } from './listener.ts'
import { NameReader, NONE } from './name-reader.ts'
import { MOST_NAMES, type Name, NameTable } from './names.ts'
import type { ReferenceReader } from './reference-reader.ts'
import { badLocalName, characterAt, misplaced, noName, unmatched } from './tag-faults.ts'

const STARTS_ATTRIBUTE = new RegExp(`:|${STARTS_NAME.source}`, 'u')

export class TagReader {
  rootSeen = false
  /** Open elements. */
  depth = 0
  readonly #input: Input
  readonly #listener: Listener
  readonly #limits: Limits
  readonly #names: NameTable
  readonly #tag: NameReader
  readonly #attributes: AttributeReader
  /** Of the first `depth`: the names of the open elements, and where in the document their start tags are. */
  readonly #open: Int32Array
  readonly #openedAt: Float64Array
  /** The name of a start tag that is not complete. */
  #opening: string | null = null

  constructor(input: Input, listener: Listener, limits: Limits, references: ReferenceReader) {
    this.#input = input
    this.#listener = listener
    this.#limits = limits
    this.#names = new NameTable(limits.name)
    this.#tag = new NameReader(input, this.#names, limits.name)
    this.#attributes = new AttributeReader(input, limits, references, this.#tag)
    this.#open = new Int32Array(limits.depth)
    this.#openedAt = new Float64Array(limits.depth)
  }

  /** The element that the document ends in, for a sentence; null: none. `insideTag`: also one whose tag is cut. */
  element(insideTag: boolean): string | null {
    if (insideTag && this.#opening !== null) return this.#opening
    return this.depth === 0 ? null : this.#element.text
  }

  get #element(): Name {
    return this.#names.of(this.#open[this.depth - 1] as number)
  }

  /** The input has moved; a tag is about to begin. */
  moved(): void {
    this.#attributes.attributes.data = this.#input.data
    this.#opening = null
  }

  /** Hot: reads the tag whose `<` is at `at`; answers where it ends, or NEED_MORE. */
  read(at: number): number {
    const { data } = this.#input
    this.#tag.markup = at
    const closing = data[at + 1] === SLASH
    if (closing && this.depth > 0) {
      const open = this.#open[this.depth - 1] as number
      const close = at + 2 + this.#names.lengthOf(open)
      // What is compared ends at the sentinel, before which there is no ">" of an earlier piece.
      if (data[close] === GT && this.#names.isAt(open, data, at + 2)) return this.#leave(close + 1)
    }
    const name = closing ? at + 2 : at + 1
    const first = data[name] as number
    if (first >= 0x80 || first === COLON || ((CLASSES[first] as number) & NAME_START) === 0) {
      if (name >= this.#input.end) return NEED_MORE
      this.#checkFirst(name, closing)
    }
    this.#attributes.valueBytes = 0
    const reached = closing ? this.#endTag(name) : this.#startTag(name)
    if (reached - at > this.#limits.tag || reached === NEED_MORE) this.#checkLength(reached)
    return reached
  }

  /** Hot: STag (40) and EmptyElemTag (44). */
  #startTag(from: number): number {
    const { data } = this.#input
    if (this.depth === 0) this.#checkRoot()
    this.#boundNames()
    const name = this.#tag.read(from)
    if (name === NONE) return NEED_MORE
    if (this.depth === 0 || this.#names.isPlain[name] === 0 || this.depth >= this.#limits.depth) {
      this.#checkElement(this.#names.of(name))
    }
    this.#attributes.begin(this.#names.isPlain[name] === 1)
    let at = this.#names.end
    while (at !== NEED_MORE) {
      let byte = data[at] as number
      if (byte === GT) return this.#enter(name, at + 1, false)
      const before = at
      while (((CLASSES[byte] as number) & SPACE) !== 0) byte = data[++at] as number
      if (byte === GT) return this.#enter(name, at + 1, false)
      if (byte === SLASH && data[at + 1] === GT) return this.#enter(name, at + 2, true)
      if (((CLASSES[byte] as number) & NAME_START) === 0 || at === before) {
        if (!this.#mayGoOn(at, at > before)) break
      }
      at = this.#attributes.read(at)
    }
    this.#opening = this.#names.of(name).text
    return NEED_MORE
  }

  #enter(number: number, end: number, empty: boolean): number {
    const name = this.#names.of(number)
    const { markup } = this.#tag
    this.#attributes.check(name, this.depth + 1)
    this.rootSeen = true
    this.#open[this.depth] = number
    this.#openedAt[this.depth] = this.#input.base + markup
    this.depth++
    this.#listener.open(name, this.#attributes.attributes, markup)
    return empty ? this.#leave(end) : end
  }

  #leave(to: number): number {
    this.depth--
    this.#attributes.namespaces.leave(this.depth)
    this.#listener.close(this.#input.data, to)
    return to
  }

  /** ETag (42) with white space, or one that does not match. */
  #endTag(from: number): number {
    const { data, base, end } = this.#input
    if (this.depth === 0) wrong('there is an end tag without a start tag', base + this.#tag.markup)
    this.#boundNames()
    const number = this.#tag.read(from)
    if (number === NONE) return NEED_MORE
    const at = afterSpace(data, this.#names.end)
    if (at >= end) return NEED_MORE
    if (data[at] !== GT) stop(misplaced(this.#input, this.#tag.markup, at))
    const name = this.#names.of(number)
    if (name.text !== this.#element.text) {
      const openedAt = this.#openedAt[this.depth - 1] ?? 0
      stop(unmatched(name, this.#element, base + this.#tag.markup, openedAt))
    }
    return this.#leave(at + 1)
  }

  /** Where a character stands that is not plainly the first of a name. */
  #checkFirst(name: number, closing: boolean): void {
    const character = characterAt(this.#input, name)
    if (!STARTS_NAME.test(character)) {
      stop(noName(character, closing, this.#input.base + this.#tag.markup))
    }
  }

  /** A name that a piece cuts counts as one of its own. */
  #boundNames(): void {
    if (this.#names.count > MOST_NAMES) this.#names.forget(this.#open.subarray(0, this.depth))
  }

  #checkRoot(): void {
    if (!this.rootSeen) return
    const reason = 'there is a second root element; one element must contain all postings'
    stop({ code: 'several-roots', reason, at: this.#input.base + this.#tag.markup })
  }

  #checkElement(name: Name): void {
    const at = this.#input.base + this.#tag.markup
    if (this.depth === 0 && name.text.toLowerCase() === 'html') {
      stop({ code: 'html', reason: HTML_PAGE, at })
    }
    if (name.badLocal) wrong(badLocalName(name), at)
    if (this.depth >= this.#limits.depth) stop(tooDeep(this.#limits.depth, at))
  }

  /** Neither the end of the tag nor, after white space, a name stands at `at`. False: it may be cut there. */
  #mayGoOn(at: number, parted: boolean): boolean {
    const { data, end } = this.#input
    if (at >= end || (data[at] === SLASH && at + 1 >= end)) return false
    if (data[at] === SLASH)
      this.#tag.wrong((tag) => `"/" in the tag <${tag}> must be followed by ">"`, at + 1)
    const behindName = at === this.#names.end
    if (parted || behindName || !STARTS_ATTRIBUTE.test(characterAt(this.#input, at))) {
      stop(misplaced(this.#input, this.#tag.markup, at))
    }
    this.#tag.wrong((tag) => `a space is missing between the attributes of <${tag}>`, at)
  }

  #checkLength(reached: number): void {
    const { tag, attributeValue } = this.#limits
    const { valueBytes } = this.#attributes
    const length = (reached === NEED_MORE ? this.#input.end : reached) - this.#tag.markup
    if (length - valueBytes > tag || valueBytes > 2 * attributeValue) {
      stop(tooLong('tag', 'a tag', tag, this.#input.base + this.#tag.markup))
    }
  }
}
