// Reads postings out of the events of a scan: finds the record element, collects the wanted fields
// and a hash of the content. Keeps one posting at a time, with bounded values.

import { crc32 } from 'node:zlib'
import { attributeValue, type Place, recordPlace } from './field-matcher.ts'
import { CHECKED_FIELDS, type CheckedField, pathsOf } from './field-paths.ts'
import type { Mapping } from './port.ts'
import { type PathNode, pathOf, RecordFinder } from './record-path.ts'
import type { Attribute, XmlHandler } from './xml-scanner.ts'

export interface Posting {
  /** Absent where the posting has no such value, or an empty one. */
  values: Partial<Record<CheckedField, string>>
  /** CRC-32 of names and values; white space around values does not count. */
  content: number
}

/** Characters of a value that are kept; ids and names are far shorter. */
const LONGEST_VALUE = 1_000
/** Content is hashed in portions of about this many characters. */
const HASH_PORTION = 8_192

export class PostingReader implements XmlHandler {
  root: string | null = null
  readonly #finder: RecordFinder
  readonly #only: string | null
  readonly #start: Place
  readonly #take: (posting: Posting) => void
  #node: PathNode | null = null
  /** Elements below the last one that the finder follows. */
  #untracked = 0
  #record: PathNode | null = null
  readonly #places: Place[] = []
  /** Text of each open element of the posting, where a field wants it. */
  readonly #texts: string[] = []
  #values: Partial<Record<CheckedField, string>> = {}
  readonly #ranks = new Map<CheckedField, number>()
  #content = 0
  #pending = ''

  /** `only`: the one path to read, from an earlier reading of the same document. */
  constructor(mapping: Mapping, take: (posting: Posting) => void, only: string | null = null) {
    this.#finder = new RecordFinder(mapping.records)
    this.#only = only
    this.#start = recordPlace(
      CHECKED_FIELDS.map((field) => [field, pathsOf(field, mapping.fields)]),
    )
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

  open(name: string, attributes: Readonly<Record<string, Attribute>>): void {
    const place = this.#places.at(-1)
    if (place !== undefined) {
      if (this.#node !== null) this.#node.hasElements = true
      this.#enter(place.enter(name, attributes), name, attributes)
      return
    }
    this.root ??= name
    const node = this.#untracked > 0 ? null : this.#finder.enter(this.#node, name)
    if (node === null) {
      this.#untracked++
      return
    }
    this.#node = node
    for (const _ in attributes) node.hasAttributes = true
    if (this.#isRecord(node)) this.#enter(this.#start, name, attributes)
  }

  text(value: string): void {
    const place = this.#places.at(-1)
    if (place === undefined) return
    const trimmed = value.trim()
    if (trimmed === '') return
    this.#hash(`\u0001${trimmed}`)
    if (place.captures.length === 0) return
    const last = this.#texts.length - 1
    this.#texts[last] = `${this.#texts[last]}${value}`.trimStart().slice(0, LONGEST_VALUE)
  }

  close(): void {
    const place = this.#places.pop()
    if (place === undefined) {
      if (this.#untracked > 0) this.#untracked--
      else this.#node = this.#node?.parent ?? null
      return
    }
    const text = this.#texts.pop() ?? ''
    for (const { field, rank, attribute } of place.captures) {
      if (attribute === null) this.#capture(field, rank, text)
    }
    this.#hash('>')
    if (this.#places.length === 0) this.#finish()
  }

  #isRecord(node: PathNode): boolean {
    if (this.#record !== null) return this.#record === node
    const wanted =
      this.#only === null ? this.#finder.looksLikeRecord(node) : pathOf(node) === this.#only
    if (wanted) this.#record = node
    return wanted
  }

  #enter(place: Place, name: string, attributes: Readonly<Record<string, Attribute>>): void {
    this.#places.push(place)
    this.#texts.push('')
    this.#hash(`<${name}`)
    for (const key in attributes) this.#hash(` ${key}=${attributes[key]?.value}`)
    for (const { field, rank, attribute } of place.captures) {
      if (attribute === null) continue
      this.#capture(field, rank, attributeValue(attributes, attribute) ?? '')
    }
  }

  #capture(field: CheckedField, rank: number, value: string): void {
    const trimmed = value.slice(0, LONGEST_VALUE).trim()
    if (trimmed === '' || rank >= (this.#ranks.get(field) ?? Number.POSITIVE_INFINITY)) return
    this.#ranks.set(field, rank)
    this.#values[field] = trimmed
  }

  #hash(part: string): void {
    this.#pending += part
    if (this.#pending.length >= HASH_PORTION) this.#flush()
  }

  #flush(): void {
    this.#content = crc32(this.#pending, this.#content)
    this.#pending = ''
  }

  #finish(): void {
    this.#flush()
    this.#take({ values: this.#values, content: this.#content })
    this.#values = {}
    this.#ranks.clear()
    this.#content = 0
    this.#node = this.#node?.parent ?? null
  }
}
