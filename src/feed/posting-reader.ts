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
 * TakePosting receives one posting. The next posting reuses the objects `values` and `parts`. `content` is the CRC-32
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
  /** hashesContent says whether the CRC-32 of each posting is computed. */
  hashesContent: boolean
  /**
   * excludedIds are folded paths (names.ts) of detected ids that are not tried; null means that all paths are tried.
   */
  excludedIds: ReadonlySet<string> | null
}

/** PassOptions are the options that one pass over the document sets; the other options keep their defaults. */
export interface PassOptions extends Partial<PostingOptions> {
  hashesContent: boolean
}

/** CHECKED asks for the fields that PostingTally counts. */
export const CHECKED: Wanted = { fields: CHECKED_FIELDS, hasParts: false }

const DEFAULTS = {
  knownRecords: null,
  wanted: () => CHECKED,
  hashesContent: true,
  excludedIds: null,
}

/** After the first `MOST_LOOKED_AT` postings, the elements of one posting in LOOK_EACH are counted. */
const LOOK_EACH = 1_024

/** SAMPLE is how many of the first postings show where a feed has its fields. */
export const SAMPLE = 1_000

/** The last text of an element ends at END_TAG, or at CDATA_AND_END_TAG if the text is in a CDATA section. */
const [END_TAG, CDATA_AND_END_TAG] = [Buffer.from('</'), Buffer.from(']]></')]

/** LONGEST_CHARACTER is how many bytes are decoded for one character, which can be written as a reference. */
const LONGEST_CHARACTER = 16

export class PostingReader implements XmlHandler {
  root: string | null = null
  readonly #finder: RecordFinder
  readonly #knownRecords: string | null
  readonly #mapping: Omit<Mapping, 'encoding'>
  readonly #wantedOf: (n: number) => Wanted
  #wanted: Wanted = CHECKED
  /** #recordPlaces has the place (field-matcher.ts) of the record element for each set of wanted fields. */
  readonly #recordPlaces = new Map<Wanted, Place>()
  #postingsBegun = 0
  readonly #parts = new PostingParts()
  readonly #take: TakePosting
  readonly #hashesContent: boolean
  #node: PathNode | null = null
  #record: PathNode | null = null
  readonly #excludedIds: ReadonlySet<string> | null
  /** #isDetected is true if the path of the postings is not known before the end of the document. */
  readonly #isDetected: boolean
  /**
   * #looksInside is true if all elements of the current posting are counted, because it might be a group of postings.
   */
  #looksInside = false
  /** #nodes has the paths of the open elements while #looksInside; null for a path that the tree does not count. */
  readonly #nodes: (PathNode | null)[] = []
  /** #places and #texts describe the open elements of the posting; a text is kept only if a field wants it. */
  readonly #places: Place[] = []
  readonly #texts: string[] = []
  /** #depth counts the open elements of the posting, including the record element; 0 outside postings. */
  #depth = 0
  /** #prose is the index in `#texts` of the text that also collects the texts of inner elements. */
  #prose = 0
  /** #needsSpace is true if markup has come since the last text, so a space must separate the next text. */
  #needsSpace = false
  /** #place is the place of the innermost open element; null outside postings. */
  #place: Place | null = null
  readonly #values = new PostingValues()
  /** #from is the place in `data` where the unhashed bytes of the posting begin; null if nothing is hashed. */
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

  /** records is the path of the postings that were read; null if no posting was read. */
  get records(): string | null {
    return this.#record === null ? null : pathOf(this.#record)
  }

  /**
   * choose returns the best record path. Call it after the whole document. If the path differs from `records`, the
   * document must be read again with this path.
   */
  choose(): Choice {
    return this.#finder.choose(this.#record)
  }

  open(name: Name, attributes: Attributes, from: number): boolean {
    if (this.#place !== null) return this.#openInside(name, attributes, from)
    this.root ??= name.text
    const node = this.#finder.tree.enter(this.#node, name.text, 'outside')
    if (node === null) return false
    this.#node = node
    if (attributes.count > 0) countAttributes(node, attributes)
    if (this.#record === null && this.#looksLikeRecord(node)) this.#record = node
    if (node === this.#record) this.#beginPosting(node, attributes, from)
    return true
  }

  #beginPosting(record: PathNode, attributes: Attributes, from: number): void {
    if (this.#hashesContent) this.#from = from
    this.#crc = 0
    if (this.#isDetected) this.#beginLook(record)
    this.#wanted = this.#wantedOf(this.#postingsBegun++)
    if (this.#wanted.hasParts) this.#parts.begin(attributes)
    this.#enter(this.#placeOf(record), attributes)
  }

  /** #openInside opens an element of a posting. It returns false if nothing in the element is wanted. */
  #openInside(name: Name, attributes: Attributes, from: number): boolean {
    const record = this.#node as PathNode
    record.hasElements = true
    const isCounted = this.#looksInside && this.#lookInside(name, attributes)
    const inner = (this.#place as Place).enter(name, attributes)
    const isPart = this.#wanted.hasParts && this.#depth === 1
    if (isPart) this.#parts.open(name.text, from)
    if (!isCounted && !isPart && !inner.canHold(this.#values)) return false
    this.#enter(inner, attributes)
    return true
  }

  text(text: Text): void {
    const place = this.#place
    if (place === null || !place.wantsText(this.#values)) return
    const { data, literal } = text
    let { from, to } = text
    const at = place.inProse ? this.#prose : this.#depth - 1
    const before = this.#texts[at] as string
    if (before === '') while (from < to && isOf(data, from, SPACE)) from++
    if (from === to || before.length >= place.longest) return
    const isInProse = !place.isPlain || this.#places[at - 1]?.isPlain === false
    if (literal && before === '' && !isInProse) {
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
    this.#texts[at] = before === '' ? read : `${before}${this.#needsSpace ? ' ' : ''}${read}`
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

  /** #looksLikeRecord returns true if the node has the known record path or, if none is known, a name of postings. */
  #looksLikeRecord(node: PathNode): boolean {
    if (this.#knownRecords !== null) return pathOf(node) === this.#knownRecords
    return this.#finder.looksLikeRecord(node)
  }

  /** #beginLook decides whether the elements of this posting are counted, and updates `record.lookedInto`. */
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
        if (this.#values.accepts(field, rank)) this.#values.put(capture, attributes.valueAt(i))
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
