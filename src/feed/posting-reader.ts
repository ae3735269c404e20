// Reads postings from the events of the XML checker: finds the record element, collects the wanted fields and
// hashes the content. It keeps one posting at a time, with values of bounded length, and makes strings only of texts
// that a field wants.

import { crc32 } from 'node:zlib'
import type { Mapping } from '../domain/mapping.ts'
import { equal, isOf, SPACE } from '../xml/bytes.ts'
import { type Attributes, decodedText, type Text, type XmlHandler } from '../xml/handler.ts'
import type { Name } from '../xml/names.ts'
import { type Capture, type Place, recordPlace } from './field-matcher.ts'
import { CHECKED_FIELDS, type Field } from './field-paths.ts'
import { withoutPrefix } from './names.ts'
import { countAttributes, MOST_LOOKED_AT, type PathNode, pathOf } from './path-tree.ts'
import { PostingParts } from './posting-parts.ts'
import { isPlain, longest, PostingValues, PROSE } from './posting-values.ts'
import { type Choice, RecordFinder } from './record-path.ts'

/**
 * TakePosting receives each posting. The next posting reuses the objects `values` and `parts`. `content` is the CRC-32
 * of the posting as written, from `<` of its start tag to `>` of its end tag; 0 if `hashesContent` is off. `parts` are
 * empty unless they were wanted.
 */
export type TakePosting = (values: PostingValues, content: number, parts: PostingParts) => void

/** Wanted says what is read from a posting. */
export interface Wanted {
  fields: readonly Field[]
  hasParts: boolean
}

export interface PostingOptions {
  /**
   * knownRecords is the record path that an earlier pass over the document found; null means that it is to be found.
   */
  knownRecords: string | null
  /** wanted says what is read from the posting with this number, counted from 0. It returns one of a few objects. */
  wanted: (n: number) => Wanted
  /** hashesContent: compute the CRC-32 of each posting. */
  hashesContent: boolean
  /** excludedIds are folded paths of detected ids that are not tried; null means all are tried. */
  excludedIds: ReadonlySet<string> | null
}

/** PassOptions has only the options in which a pass over the document differs. */
export interface PassOptions extends Partial<PostingOptions> {
  hashesContent: boolean
}

/** CHECKED is what the tally counts. */
export const CHECKED: Wanted = { fields: CHECKED_FIELDS, hasParts: false }

const DEFAULTS = {
  knownRecords: null,
  wanted: () => CHECKED,
  hashesContent: true,
  excludedIds: null,
}

/** After the first postings, one of LOOK_EACH shows what the others are like inside. */
const LOOK_EACH = 1_024

/** SAMPLE postings show where a feed has its fields; in a large feed they are a small part. */
export const SAMPLE = 1_000

/** One of these follows the last text of an element: the end of a CDATA section can come before the end tag. */
const [END_TAG, CDATA_AND_END_TAG] = [Buffer.from('</'), Buffer.from(']]></')]

/** LONGEST_CHARACTER is in bytes: a character can be written as a reference. */
const LONGEST_CHARACTER = 16

export class PostingReader implements XmlHandler {
  root: string | null = null
  readonly #finder: RecordFinder
  readonly #knownRecords: string | null
  readonly #mapping: Omit<Mapping, 'encoding'>
  readonly #wantedOf: (n: number) => Wanted
  #wanted: Wanted = CHECKED
  /** #recordPlaces are the places of a record by what is wanted from it. */
  readonly #recordPlaces = new Map<Wanted, Place>()
  #begun = 0
  readonly #parts = new PostingParts()
  readonly #take: TakePosting
  readonly #hashesContent: boolean
  #node: PathNode | null = null
  #record: PathNode | null = null
  readonly #excludedIds: ReadonlySet<string> | null
  /** #isDetected: the path of the postings is not known before the end of the document. */
  readonly #isDetected: boolean
  /** #looksInside: all elements of this posting are counted, because it might be a group of postings. */
  #looksInside = false
  /** #nodes are the paths of the open elements of a posting that is looked into; null if the path is not counted. */
  readonly #nodes: (PathNode | null)[] = []
  /** #places and #texts describe the open elements of the posting; a text is kept only if a field wants it. */
  readonly #places: Place[] = []
  readonly #texts: string[] = []
  #depth = 0
  /** #prose is the index in #texts that collects prose, also from elements inside it. */
  #prose = 0
  /** #needsSpace: markup has come since the last text. */
  #needsSpace = false
  /** #place is the place of the innermost open element; null outside postings. */
  #place: Place | null = null
  readonly #values = new PostingValues()
  /** #from is where the unhashed bytes of the posting begin; null outside postings. */
  #from: number | null = null
  #crc = 0

  constructor(
    mapping: Omit<Mapping, 'encoding'>,
    take: TakePosting,
    options: Partial<PostingOptions> = {},
  ) {
    const { excludedIds, hashesContent, knownRecords, wanted }: PostingOptions = {
      ...DEFAULTS,
      ...options,
    }
    this.#hashesContent = hashesContent
    this.#excludedIds = excludedIds
    this.#finder = new RecordFinder(mapping.records, mapping.fields)
    this.#knownRecords = knownRecords
    this.#isDetected = knownRecords === null && mapping.records === null
    this.#mapping = mapping
    this.#wantedOf = wanted
    this.#take = take
  }

  /** records is the path of the postings that were read; null if there were none. */
  get records(): string | null {
    return this.#record === null ? null : pathOf(this.#record)
  }

  /** choose returns the best record path after the whole document; if it differs from `records`, read again. */
  choose(): Choice {
    return this.#finder.choose(this.#record)
  }

  open(name: Name, attributes: Attributes, from: number): boolean {
    const place = this.#place
    if (place !== null) {
      const record = this.#node as PathNode
      record.hasElements = true
      const isCounted = this.#looksInside && this.#lookInside(name, attributes)
      const inner = place.enter(name, attributes)
      const isPart = this.#wanted.hasParts && this.#depth === 1
      if (isPart) this.#parts.open(name.text, from)
      if (!isCounted && !isPart && !inner.canHold(this.#values)) return false
      this.#enter(inner, attributes)
      return true
    }
    this.root ??= name.text
    const node = this.#finder.tree.enter(this.#node, name.text, 'outside')
    if (node === null) return false
    this.#node = node
    if (attributes.count > 0) countAttributes(node, attributes)
    if (!this.#isRecord(node)) return true
    if (this.#hashesContent) this.#from = from
    this.#crc = 0
    if (this.#isDetected) this.#beginLook(node)
    this.#wanted = this.#wantedOf(this.#begun++)
    if (this.#wanted.hasParts) this.#parts.begin(attributes)
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
    // The value keeps at most `longest` characters, so bytes beyond them need not be decoded.
    to = Math.min(to, from + place.longest * LONGEST_CHARACTER)
    const read = decodedText({ data, from, to, literal })
    // Markup inside prose separates words.
    this.#texts[at] = known === '' ? read : `${known}${this.#needsSpace ? ' ' : ''}${read}`
    this.#needsSpace = false
  }

  close(data: Buffer, to: number): void {
    const place = this.#place
    if (place === null) {
      this.#node = this.#node?.parent ?? null
      return
    }
    const depth = --this.#depth
    if (depth === 1 && this.#wanted.hasParts) this.#parts.close(data, to)
    if (place.inProse) this.#needsSpace = true
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
    this.#parts.moving(data, to)
    this.#hash(data, to)
    if (this.#from !== null) this.#from = 0
  }

  /** #joinProse adds the text of a field to the prose that contains it. */
  #joinProse(at: number): void {
    this.#prose = at - 1
    this.#needsSpace = true
    const [around, text] = [this.#texts[at - 1] as string, this.#texts[at] as string]
    if (text === '' || around.length >= longest(PROSE)) return
    this.#texts[at - 1] = `${around} ${text}`
  }

  #hash(data: Buffer, to: number): void {
    if (this.#from !== null) this.#crc = crc32(data.subarray(this.#from, to), this.#crc)
  }

  #placeOf(record: PathNode): Place {
    const known = this.#recordPlaces.get(this.#wanted)
    if (known !== undefined) return known
    const place = recordPlace(this.#wanted.fields, {
      configured: this.#mapping.fields,
      record: withoutPrefix(record.name),
      excludedIds: this.#excludedIds,
    })
    this.#recordPlaces.set(this.#wanted, place)
    return place
  }

  #isRecord(node: PathNode): boolean {
    if (this.#record !== null) return this.#record === node
    const wanted =
      this.#knownRecords === null
        ? this.#finder.looksLikeRecord(node)
        : pathOf(node) === this.#knownRecords
    if (wanted) this.#record = node
    return wanted
  }

  /** #beginLook decides whether the elements of this posting are counted. */
  #beginLook(record: PathNode): void {
    const { count } = record
    this.#looksInside = count <= MOST_LOOKED_AT || count % LOOK_EACH === 0
    if (!this.#looksInside) return
    record.lookedInto = (record.lookedInto ?? 0) + 1
    this.#nodes[0] = record
  }

  /** #lookInside counts an element inside the posting; it returns false if the path of the element is not counted. */
  #lookInside(name: Name, attributes: Attributes): boolean {
    const parent = this.#nodes[this.#depth - 1] ?? null
    const node = parent && this.#finder.tree.enter(parent, name.text, 'inside')
    this.#nodes[this.#depth] = node
    if (node === null) return false
    if (attributes.count > 0) countAttributes(node, attributes)
    return true
  }

  #enter(place: Place, attributes: Attributes): void {
    this.#place = place
    this.#places[this.#depth++] = place
    if (place.hasAttributes && attributes.count > 0) this.#readAttributes(place, attributes)
    if (place.captures.length === 0) return
    this.#needsSpace = place.inProse
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
    this.#take(this.#values, this.#crc, this.#parts)
    this.#values.clear()
    this.#parts.clear()
    this.#node = this.#node?.parent ?? null
  }
}
