// Reads postings out of what the checker tells: finds the record element, collects the wanted fields
// and a hash of the content. Keeps one posting at a time, with bounded values; only what a field wants
// becomes a string.

import { crc32 } from 'node:zlib'
import { equal, isOf, SPACE } from '../xml/bytes.ts'
import { type Attributes, decodedText, type Text, type XmlHandler } from '../xml/handler.ts'
import type { Name } from '../xml/names.ts'
import { type Capture, type Place, recordPlace } from './field-matcher.ts'
import { CHECKED_FIELDS, type Field } from './field-paths.ts'
import { withoutPrefix } from './names.ts'
import type { Mapping } from './port.ts'
import { isPlain, longest, PostingValues, PROSE } from './posting-values.ts'
import { type PathNode, pathOf, RecordFinder } from './record-path.ts'

/**
 * Is given each posting. `values` are used again for the next one. `content`: CRC-32 of the posting as written, from `<` of its start tag to `>` of its end
 * tag; 0 where it was not asked for.
 */
export type TakePosting = (values: PostingValues, content: number) => void

export interface PostingOptions {
  /** The one path to read, from an earlier reading of the same document; null: to be found. */
  only: string | null
  /** What is read of a posting. */
  fields: readonly Field[]
  /** What is read of the first postings, up to `SAMPLE`; null: the same as of the others. */
  sampled: readonly Field[] | null
  /** Whether the content of postings is hashed. */
  hashed: boolean
}

const DEFAULTS = { only: null, fields: CHECKED_FIELDS, sampled: null, hashed: true }

/** Postings that tell where a feed has its fields: enough to know, and few beside those of a large feed. */
export const SAMPLE = 1_000

/** What follows the whole text of an element: its end tag, which the end of a CDATA section may stand before. */
const [END_TAG, CDATA_AND_END_TAG] = [Buffer.from('</'), Buffer.from(']]></')]

/** Bytes of a text that can matter to a character of a value: it may be written as a reference. */
const LONGEST_CHARACTER = 16

export class PostingReader implements XmlHandler {
  root: string | null = null
  readonly #finder: RecordFinder
  readonly #only: string | null
  readonly #mapping: Omit<Mapping, 'encoding'>
  readonly #fields: readonly Field[]
  readonly #sampled: readonly Field[] | null
  /** The place of a record, and of the first ones; null while none was found. */
  #start: Place | null = null
  #sample: Place | null = null
  #begun = 0
  readonly #take: TakePosting
  readonly #hashed: boolean
  #node: PathNode | null = null
  #record: PathNode | null = null
  /** An element in the only record so far that may be a posting. */
  #held: PathNode | null = null
  /** Place and text of each open element of the posting; the text only where a field wants it. */
  readonly #places: Place[] = []
  readonly #texts: string[] = []
  #depth = 0
  /** The text that prose goes to, of the elements within it as well. */
  #prose = 0
  /** Markup came since its last text. */
  #isParted = false
  /** The place of the innermost one; null outside postings. */
  #place: Place | null = null
  readonly #values = new PostingValues()
  /** Where the bytes of the posting begin that are not in `#crc` yet; null: no posting is open. */
  #from: number | null = null
  #crc = 0

  constructor(
    mapping: Omit<Mapping, 'encoding'>,
    take: TakePosting,
    options: Partial<PostingOptions> = {},
  ) {
    const { fields, hashed, only, sampled }: PostingOptions = { ...DEFAULTS, ...options }
    this.#hashed = hashed
    this.#finder = new RecordFinder(mapping.records)
    this.#only = only
    this.#mapping = mapping
    this.#fields = fields
    this.#sampled = sampled
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

  open(name: Name, attributes: Attributes, from: number): boolean {
    const place = this.#place
    if (place !== null) {
      const record = this.#node as PathNode
      record.hasElements = true
      const isHeld = record.count === 1 && this.#isHeld(record, name, attributes)
      const inner = place.enter(name, attributes)
      if (!inner.mayHold(this.#values) && !isHeld) return false
      this.#enter(inner, attributes)
      return true
    }
    this.root ??= name.text
    const node = this.#finder.enter(this.#node, name.text)
    if (node === null) return false
    this.#node = node
    if (attributes.count > 0) node.hasAttributes = true
    if (!this.#isRecord(node)) return true
    if (this.#hashed) this.#from = from
    this.#crc = 0
    this.#enter(this.#placeOf(node), attributes)
    return true
  }

  text(text: Text): void {
    const place = this.#place
    if (place === null || !place.wantsText(this.#values)) return
    const { data, literal } = text
    let { from, to } = text
    const at = place.inProse ? this.#prose : this.#depth - 1
    const known = this.#texts[at] as string
    if (known === '') while (from < to && isOf(data, from, SPACE)) from++
    if (from === to || known.length >= place.longest) return
    if (literal && known === '' && place.isPlain && this.#places[at - 1]?.isPlain !== false) {
      let end = to
      while (isOf(data, end - 1, SPACE)) end--
      const isWhole = equal(END_TAG, data, to) || equal(CDATA_AND_END_TAG, data, to)
      if (isWhole && isPlain(data, from, end)) {
        for (const capture of place.captures) this.#values.putPlain(capture, data, from, end)
        return
      }
    }
    // As much as a value can need.
    to = Math.min(to, from + place.longest * LONGEST_CHARACTER)
    const read = decodedText({ data, from, to, literal })
    // Markup inside prose parts words.
    this.#texts[at] = known === '' ? read : `${known}${this.#isParted ? ' ' : ''}${read}`
    this.#isParted = false
  }

  close(data: Buffer, to: number): void {
    const place = this.#place
    if (place === null) {
      this.#node = this.#node?.parent ?? null
      return
    }
    const depth = --this.#depth
    if (place.inProse) this.#isParted = true
    else if (place.captures.length > 0) {
      if (depth > 0 && this.#places[depth - 1]?.isPlain === false) this.#joinProse(depth)
      const { captures } = place
      for (let i = 0; i < captures.length; i++) {
        this.#values.put(captures[i] as Capture, this.#texts[depth] as string)
      }
    }
    this.#place = depth === 0 ? null : (this.#places[depth - 1] ?? null)
    if (depth > 0) return
    this.#hash(data, to)
    this.#from = null
    this.#finish()
  }

  moving(data: Buffer, to: number): void {
    this.#values.keep()
    this.#hash(data, to)
    if (this.#from !== null) this.#from = 0
  }

  /** What the element at `at` holds for a field of its own is part of the prose around it, too. */
  #joinProse(at: number): void {
    this.#prose = at - 1
    this.#isParted = true
    const [around, text] = [this.#texts[at - 1] as string, this.#texts[at] as string]
    if (text === '' || around.length >= longest(PROSE)) return
    this.#texts[at - 1] = `${around} ${text}`
  }

  #hash(data: Buffer, to: number): void {
    if (this.#from !== null) this.#crc = crc32(data.subarray(this.#from, to), this.#crc)
  }

  #placeOf(record: PathNode): Place {
    const place = (fields: readonly Field[]) =>
      recordPlace(fields, this.#mapping.fields, withoutPrefix(record.name))
    this.#start ??= place(this.#fields)
    if (this.#sampled === null || this.#begun++ >= SAMPLE) return this.#start
    this.#sample ??= place(this.#sampled)
    return this.#sample
  }

  #isRecord(node: PathNode): boolean {
    if (this.#record !== null) return this.#record === node
    const wanted =
      this.#only === null ? this.#finder.looksLikeRecord(node) : pathOf(node) === this.#only
    if (wanted) this.#record = node
    return wanted
  }

  /** Whether the element in the only record so far may be a posting; notes whether such a one has elements. */
  #isHeld(record: PathNode, name: Name, attributes: Attributes): boolean {
    if (this.#depth === 2 && this.#held !== null) this.#held.hasElements = true
    if (this.#depth > 1) return false
    this.#held = this.#finder.within(record, name.text)
    if (this.#held !== null && attributes.count > 0) this.#held.hasAttributes = true
    return this.#held !== null
  }

  #enter(place: Place, attributes: Attributes): void {
    this.#place = place
    this.#places[this.#depth++] = place
    if (place.hasAttributes && attributes.count > 0) this.#readAttributes(place, attributes)
    if (place.captures.length === 0) return
    this.#isParted = place.inProse
    if (place.inProse) return
    this.#prose = this.#depth - 1
    this.#texts[this.#prose] = ''
  }

  #readAttributes(place: Place, attributes: Attributes): void {
    for (let i = 0; i < attributes.count; i++) {
      for (const capture of place.attribute(attributes.nameAt(i))) {
        const { field, rank } = capture
        if (this.#values.counts(field, rank)) this.#values.put(capture, attributes.valueAt(i))
      }
    }
  }

  #finish(): void {
    this.#take(this.#values, this.#crc)
    this.#values.clear()
    this.#node = this.#node?.parent ?? null
  }
}
