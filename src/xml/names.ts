// The names of elements and attributes, each kept once under a number: whether it is written right, and how it
// parts into prefix and local name (Namespaces in XML 1.0 §4), is found out when a document has it first.

import { sameBytes, wordAt, wordsOf } from './bytes.ts'
import { NAME, NAME_START } from './characters.ts'
import { short } from './fault.ts'

/** A namespace prefix. */
export interface Prefix {
  readonly text: string
  /** The namespace that it is bound to at the moment; null: none. */
  namespace: string | null
}

export interface Name {
  /** As written. */
  readonly text: string
  /** Counted from 1, and from 1 again when names were forgotten. */
  readonly number: number
  /** Null: the name has no colon. */
  readonly prefix: Prefix | null
  readonly local: string
  /** Bytes up to the first character that no name may have; null: it is a Name (production 5). */
  readonly wrongAt: number | null
  /** Not one colon between a prefix and a local name (QName, Namespaces production 7). */
  readonly malformed: boolean
  /** What follows a colon begins no name (NCName, Namespaces production 4). */
  readonly badLocal: boolean
  /** As an attribute: what `xmlns` or `xmlns:…` declared last; null: it is another name. */
  readonly declares: Declared | null
}

/** A namespace declaration. */
export interface Declared {
  /** Null: the default namespace, which no prefix names. */
  readonly prefix: Prefix | null
  /** The bytes of the value as written, and how many they are; null: none yet. */
  written: Int32Array | null
  length: number
  namespace: string
}

export const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace'
export const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/'

/** More names than this are to be forgotten, so that memory stays bounded. */
export const MOST_NAMES = 2_000
/** Most feeds have fewer names, and words of them: what is made for each feed is small, and grows where it has to. */
const FIRST_NAMES = 256
const FIRST_WORDS = 512
const SLOT_BITS = 10
/** Of this process, so that nobody can make up names that all meet in one place of the table. */
const [SEED = 0, FACTOR = 1] = crypto.getRandomValues(new Int32Array(2)).map((word) => word | 1)

const LONGEST_NAME = new RegExp(NAME, 'uy')
const BAD_LOCAL = new RegExp(`:(?!${NAME_START})`, 'u')

/** Instead of a name's number. */
export const NONE = 0

/** What is known of a name: nothing but that it is to be looked at, that it is plain, or that namespaces matter. */
export const UNREAD = 0
export const PLAIN = 1
export const SPECIAL = 2

/** What is public is for the one loop that reads names (content-reader.ts). */
export class NameTable {
  /** By number: UNREAD, PLAIN or SPECIAL. What grows is to be asked for again after `find`. */
  kinds = new Int32Array(FIRST_NAMES)
  /** The bytes of all names, four to a word; by number, in which word a name begins, and how many bytes it has. */
  words = new Int32Array(FIRST_WORDS)
  starts = new Int32Array(FIRST_NAMES)
  lengths = new Int32Array(FIRST_NAMES)
  /** By number: the name that came after it the last time. Feeds repeat themselves. */
  followers = new Int32Array(FIRST_NAMES)
  readonly #longest: number
  #names: Name[] = []
  #filled = 0
  /** Numbers by hash; NONE: there is none. `#next` has the same hash. */
  readonly #slots = new Int32Array(2 ** SLOT_BITS)
  #next = new Int32Array(FIRST_NAMES)
  readonly #prefixes = new Map<string, Prefix>([
    ['xml', { text: 'xml', namespace: XML_NAMESPACE }],
    ['xmlns', { text: 'xmlns', namespace: XMLNS_NAMESPACE }],
  ])

  /** `longest`: bytes that a name may have. */
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
   * The number of the Name (5) from `from` to `to`; NONE: it is longer than the limits allow. It comes after the name
   * `last`, and is expected there from now on.
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

  /** Forgets all names but those of `open`, whose numbers it replaces. To be called between two tags. */
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
    LONGEST_NAME.lastIndex = 0
    const right = LONGEST_NAME.exec(text)?.[0] ?? ''
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

/** QName (Namespaces production 7). */
export function malformedName({ text }: Name): string {
  return `"${short(text)}" is not a name: a ":" must stand between a prefix and a name, once`
}

/** NCName (Namespaces production 4). */
export function badLocalName({ text }: Name): string {
  return `"${short(text)}" is not a name: what follows the ":" must begin with a letter or "_"`
}
