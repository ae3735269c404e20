// Reads postings out of what the checker tells: finds the record element, collects the wanted fields
// and a hash of the content. Keeps one posting at a time, with bounded values; only what a field wants
// becomes a string.

import { isOf, SPACE } from './byte-classes.ts'
import { ContentHash } from './content-hash.ts'
import {
  attributeValue,
  type Capture,
  isProse,
  longest,
  type Place,
  recordPlace,
} from './field-matcher.ts'
import { CHECKED_FIELDS, type Field, pathsOf } from './field-paths.ts'
import type { Name } from './names.ts'
import type { Mapping } from './port.ts'
import { type PathNode, pathOf, RecordFinder } from './record-path.ts'
import type { Skimmer } from './skimmer.ts'
import { type Attributes, decodedText, type Text, type XmlHandler } from './xml-events.ts'

export interface Posting {
  /** Absent where the posting has no such value, or an empty one. */
  values: Partial<Record<Field, string>>
  /** Hash (32 bits) of the posting as written, from `<` of its start tag to `>` of its end tag. */
  content: number
}

/** Places that have a number (`XmlHandler.place`): those of the fields, and more than any mapping has. */
const MOST_PLACES = 63
/** Bytes of a text that can matter to a character of a value: it may be written as a reference. */
const LONGEST_CHARACTER = 16

export class PostingReader implements XmlHandler {
  root: string | null = null
  readonly #finder: RecordFinder
  readonly #only: string | null
  readonly #start: Place
  readonly #take: (posting: Posting) => void
  #node: PathNode | null = null
  #record: PathNode | null = null
  /** Place and text of each open element of the posting; the text only where a field wants it. */
  readonly #places: Place[] = []
  readonly #texts: string[] = []
  #depth = 0
  /** The text that prose goes to, of the elements within it as well. */
  #prose = 0
  /** The place of the innermost one; null outside postings. */
  #place: Place | null = null
  /** Places that have a number. */
  #seen = 0
  #values: Partial<Record<Field, string>> = {}
  #ranks: Partial<Record<Field, number>> = {}
  readonly #hash = new ContentHash()

  /**
   * `only`: the one path to read, from an earlier reading of the same document. `fields`: what is read of
   * a posting; those of the check are few.
   */
  constructor(
    mapping: Mapping,
    take: (posting: Posting) => void,
    only: string | null = null,
    fields: readonly Field[] = CHECKED_FIELDS,
  ) {
    this.#finder = new RecordFinder(mapping.records)
    this.#only = only
    this.#start = recordPlace(fields.map((field) => [field, pathsOf(field, mapping.fields)]))
    this.#take = take
  }

  /** The path of the postings that were read; null: there was none. */
  get records(): string | null {
    return this.#record === null ? null : pathOf(this.#record)
  }

  /** The path that should have been read, now that the whole document was seen. */
  get chosen(): string | null {
    const node = this.#finder.chosen(this.#record)
    return node === null ? null : pathOf(node)
  }

  attach(memory: Skimmer): void {
    this.#hash.attach(memory)
  }

  open(name: Name, attributes: Attributes, from: number): boolean {
    const place = this.#place
    if (place !== null) {
      if (this.#node !== null) this.#node.hasElements = true
      const inner = place.enter(name, attributes)
      if (!inner.mayHold(this.#isBetter)) return false
      this.#enter(inner, attributes)
      return true
    }
    this.root ??= name.text
    const node = this.#finder.enter(this.#node, name.text)
    if (node === null) return false
    this.#node = node
    if (attributes.count > 0) node.hasAttributes = true
    if (!this.#isRecord(node)) return true
    this.#hash.begin(from)
    this.#enter(this.#start, attributes)
    return true
  }

  get place(): number {
    return this.#place?.number ?? 0
  }

  get wantsText(): boolean {
    return this.#place?.wantsText ?? false
  }

  ignores({ text }: Name): boolean {
    return this.#place?.ignores(text) ?? false
  }

  text(text: Text): void {
    const place = this.#place
    if (place === null || !place.wantsText) return
    const { data, to, cdata, continued } = text
    let { from } = text
    if (!continued) while (from < to && isOf(data, from, SPACE)) from++
    if (from === to) return
    if (!place.captures.some((capture) => this.#isWanted(capture))) return
    const last = place.inProse ? this.#prose : this.#depth - 1
    const known = this.#texts[last] ?? ''
    if (known.length < place.longest) {
      // The beginning, as far as a value can need it.
      const most = Math.min(to, from + place.longest * LONGEST_CHARACTER)
      const read = decodedText({ data, from, to: most, cdata, continued })
      this.#texts[last] = `${known}${read}`.trimStart().slice(0, place.longest)
    }
  }

  close(to: number): void {
    const place = this.#place
    if (place === null) {
      this.#node = this.#node?.parent ?? null
      return
    }
    const depth = --this.#depth
    if (place.inProse) this.#part()
    else if (place.captures.length > 0) {
      const text = this.#texts[depth] ?? ''
      for (const { field, rank, attribute } of place.captures) {
        if (attribute === null) this.#capture(field, rank, text)
      }
    }
    this.#place = depth === 0 ? null : (this.#places[depth - 1] ?? null)
    if (depth === 0) this.#finish(this.#hash.digest(to))
  }

  moving(to: number): void {
    this.#hash.moving(to)
  }

  #isRecord(node: PathNode): boolean {
    if (this.#record !== null) return this.#record === node
    const wanted =
      this.#only === null ? this.#finder.looksLikeRecord(node) : pathOf(node) === this.#only
    if (wanted) this.#record = node
    return wanted
  }

  #enter(place: Place, attributes: Attributes): void {
    if (place.number === null) place.number = this.#seen < MOST_PLACES ? ++this.#seen : 0
    this.#place = place
    this.#places[this.#depth++] = place
    if (place.captures.length === 0) return
    if (place.inProse) {
      this.#part()
      return
    }
    this.#prose = this.#depth - 1
    this.#texts[this.#prose] = ''
    for (const { field, rank, attribute } of place.captures) {
      if (attribute === null) continue
      this.#capture(field, rank, attributeValue(attributes, attribute) ?? '')
    }
  }

  /** Whether the text of an element could be the value of the field. */
  #isWanted({ field, rank, attribute }: Capture): boolean {
    return attribute === null && this.#isBetter(field, rank)
  }

  readonly #isBetter = (field: Field, rank: number): boolean => {
    const known = this.#ranks[field] ?? Number.POSITIVE_INFINITY
    return rank < known || (rank === known && isProse(field))
  }

  /** Markup inside prose parts words. */
  #part(): void {
    this.#texts[this.#prose] += ' '
  }

  #capture(field: Field, rank: number, value: string): void {
    const trimmed = value.slice(0, longest(field)).trim()
    if (trimmed === '' || !this.#isBetter(field, rank)) return
    const before = this.#ranks[field] === rank ? `${this.#values[field] ?? ''}\n` : ''
    this.#ranks[field] = rank
    this.#values[field] = `${before}${trimmed}`.slice(0, longest(field))
  }

  #finish(content: number): void {
    this.#take({ values: this.#values, content })
    this.#values = {}
    this.#ranks = {}
    this.#node = this.#node?.parent ?? null
  }
}
