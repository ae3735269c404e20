// The names of elements and attributes. Each distinct name is stored once, under a number. It is checked, and split
// into prefix and local name (Namespaces in XML 1.0 §4), only at its first occurrence.

import { sameBytes, wordAt, wordsOf } from './bytes.ts'
import { NAME, NAME_START } from './characters.ts'
import { short } from './fault.ts'

export interface Prefix {
  readonly text: string
  /** namespace is the current binding; null means none. */
  namespace: string | null
}

export interface Name {
  /** The name as the document writes it. */
  readonly text: string
  /** number counts from 1, and again from 1 after `forget`. */
  readonly number: number
  /** Null if the name has no colon. */
  readonly prefix: Prefix | null
  readonly local: string
  /** wrongAt counts the bytes before the first forbidden character; null if the text is a Name (production 5). */
  readonly wrongAt: number | null
  /** malformed is true if the name is not a QName (Namespaces production 7) because of an extra or misplaced colon. */
  readonly malformed: boolean
  /** badLocal is true if the local name does not begin like an NCName (Namespaces production 4). */
  readonly badLocal: boolean
  /** declares is the last declaration by an attribute with this name, `xmlns` or `xmlns:…`; null for other names. */
  readonly declares: Declared | null
}

export interface Declared {
  /** Null means the default namespace. */
  readonly prefix: Prefix | null
  /** written has the bytes of the last value, and `length` counts these bytes; null means that no value is stored. */
  written: Int32Array | null
  length: number
  namespace: string
}

export const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace'
export const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/'

/** MOST_NAMES limits the memory for names: with more names, the reader calls `forget`. */
export const MOST_NAMES = 2_000
/** The tables begin with room for FIRST_NAMES and FIRST_WORDS, and grow, because most feeds have few names. */
const FIRST_NAMES = 256
const FIRST_WORDS = 512
const SLOT_BITS = 10
/** SEED and FACTOR differ in each process, so that nobody can invent names that all fall into one slot of the table. */
const [SEED = 0, FACTOR = 1] = crypto.getRandomValues(new Int32Array(2)).map((word) => word | 1)

const NAME_BEGINNING = new RegExp(NAME, 'uy')
const BAD_LOCAL = new RegExp(`:(?!${NAME_START})`, 'u')

/** NONE stands in place of a number if there is no name. */
export const NONE = 0

/** These are the kinds of names. UNREAD needs a full check, PLAIN needs no check, and SPECIAL concerns namespaces. */
export const UNREAD = 0
export const PLAIN = 1
export const SPECIAL = 2

/** NameTable exposes its arrays for the hot loop of content-reader.ts. `find` can replace them with larger arrays. */
export class NameTable {
  /** kinds has UNREAD, PLAIN or SPECIAL for each number. */
  kinds = new Int32Array(FIRST_NAMES)
  /** words has the bytes of all names, four to a word. */
  words = new Int32Array(FIRST_WORDS)
  /** `starts[n]` is where name n begins in `words`, and `lengths[n]` is the number of its bytes. */
  starts = new Int32Array(FIRST_NAMES)
  lengths = new Int32Array(FIRST_NAMES)
  /** `followers[n]` is the number of the name that followed name n the last time. It predicts the next name. */
  followers = new Int32Array(FIRST_NAMES)
  readonly #longest: number
  #names: Name[] = []
  #filled = 0
  /** #slots has the newest number for each hash, or NONE; `#next` has the next number with the same hash. */
  readonly #slots = new Int32Array(2 ** SLOT_BITS)
  #next = new Int32Array(FIRST_NAMES)
  readonly #prefixes = new Map<string, Prefix>([
    ['xml', { text: 'xml', namespace: XML_NAMESPACE }],
    ['xmlns', { text: 'xmlns', namespace: XMLNS_NAMESPACE }],
  ])

  /** `longest` limits a name, in bytes. */
  constructor(longest: number) {
    this.#longest = longest
  }

  get count(): number {
    return this.#names.length
  }

  of(number: number): Name {
    return this.#names[number - 1] as Name
  }

  /**
   * find returns the number of the Name (production 5) from `from` to `to`, and stores a new name. It returns NONE for
   * a new name that is longer than the limit. It also records the name as the follower of `last`.
   */
  find(view: DataView, from: number, to: number, last: number): number {
    const length = to - from
    let hash = length ^ SEED
    for (let i = 0; i < length; i += 4) {
      hash = Math.imul(hash ^ wordAt(view, from + i, length - i), 0x9e3779b1)
      hash ^= hash >>> 15
    }
    const slot = Math.imul(hash, FACTOR) >>> (32 - SLOT_BITS)
    let number = this.#slots[slot] as number
    while (number !== NONE && !this.#isAt(number, view, from, length)) {
      number = this.#next[number] as number
    }
    if (number === NONE && length <= this.#longest) number = this.#add(view, from, length, slot)
    this.followers[last] = number
    return number
  }

  #isAt(number: number, view: DataView, at: number, length: number): boolean {
    if (this.lengths[number] !== length) return false
    return sameBytes(this.words, this.starts[number] as number, length, view, at)
  }

  /**
   * forget drops all names except the names whose numbers are in `open`, and replaces these numbers by the new numbers.
   * Call it only between two tags.
   */
  forget(open: Int32Array): void {
    const texts = Array.from(open, (number) => Buffer.from(this.of(number).text))
    this.#names = []
    this.#filled = 0
    this.#slots.fill(0)
    this.followers.fill(NONE)
    for (const [text, { namespace }] of this.#prefixes) {
      if (namespace === null) this.#prefixes.delete(text)
    }
    for (const [i, text] of texts.entries()) {
      open[i] = this.find(
        new DataView(Uint8Array.from([...text, 0, 0, 0, 0]).buffer),
        0,
        text.length,
        NONE,
      )
    }
  }

  #add(view: DataView, from: number, length: number, slot: number): number {
    const name = this.#make(Buffer.from(view.buffer, from, length).toString())
    const { number } = name
    this.#names.push(name)
    if (number === this.kinds.length) {
      this.kinds = doubled(this.kinds)
      this.starts = doubled(this.starts)
      this.lengths = doubled(this.lengths)
      this.followers = doubled(this.followers)
      this.#next = doubled(this.#next)
    }
    const words = wordsOf(view, from, length)
    if (this.#filled + words.length >= this.words.length) this.words = doubled(this.words)
    this.words.set(words, this.#filled)
    this.starts[number] = this.#filled
    this.lengths[number] = length
    this.#filled += words.length
    this.#next[number] = this.#slots[slot] as number
    this.#slots[slot] = number
    if (name.wrongAt === null && /^[^:]/.test(name.text)) {
      this.kinds[number] = name.prefix === null && name.declares === null ? PLAIN : SPECIAL
    } else this.kinds[number] = UNREAD
    return number
  }

  #make(text: string): Name {
    NAME_BEGINNING.lastIndex = 0
    const right = NAME_BEGINNING.exec(text)?.[0] ?? ''
    const colon = text.indexOf(':')
    const local = text.slice(colon + 1)
    return {
      text,
      number: this.#names.length + 1,
      prefix: colon === -1 ? null : this.#prefix(text.slice(0, colon)),
      local,
      wrongAt: right === text ? null : Buffer.byteLength(right),
      malformed: colon === 0 || local === '' || local.includes(':'),
      badLocal: BAD_LOCAL.test(text),
      declares: this.#declares(text, local),
    }
  }

  #prefix(text: string): Prefix {
    const known = this.#prefixes.get(text)
    if (known !== undefined) return known
    const prefix = { text, namespace: null }
    this.#prefixes.set(text, prefix)
    return prefix
  }

  #declares(text: string, local: string): Declared | null {
    if (text !== 'xmlns' && !text.startsWith('xmlns:')) return null
    const prefix = text === 'xmlns' ? null : this.#prefix(local)
    return { prefix, written: null, length: 0, namespace: '' }
  }
}

function doubled(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const more = new Int32Array(2 * numbers.length)
  more.set(numbers)
  return more
}

/** malformedName returns the reason why a name is not a QName (Namespaces production 7). */
export function malformedName({ text }: Name): string {
  return `"${short(text)}" is not a name: one ":" may separate a prefix and a name`
}

/** badLocalName returns the reason why a local name is not an NCName (Namespaces production 4). */
export function badLocalName({ text }: Name): string {
  return `"${short(text)}" is not a name: the part after the ":" must begin with a letter or "_"`
}
