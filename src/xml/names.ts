// The names of elements and attributes, each kept once under a number: whether it is written right, and how it
// parts into prefix and local name (Namespaces in XML 1.0 §4), is found out when a document has it first.

import { CLASSES, NAME_CHAR } from './bytes.ts'
import { NAME, NAME_START } from './characters.ts'

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
  /** The value as written; null: none yet. */
  written: Uint8Array | null
  namespace: string
}

export const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace'
export const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/'

/** More names than this are to be forgotten, so that memory stays bounded. */
export const MOST_NAMES = 2_000
/** More than those, the names of the open elements and those of one tag. */
const ROOM = 4_096
const SLOTS = 1_024
const FIRST_BYTES = 16_384

const LONGEST_NAME = new RegExp(NAME, 'uy')
const BAD_LOCAL = new RegExp(`:(?!${NAME_START})`, 'u')

export class NameTable {
  /** Where the name that was read last ended. */
  end = 0
  /** By number: 1 where a name is right, has no prefix and declares nothing, so that there is no more to look at. */
  readonly isPlain = new Uint8Array(ROOM)
  readonly #longest: number
  #names: Name[] = []
  /** The bytes of all names; where those of a number begin, and how many they are. */
  #bytes = new Uint8Array(FIRST_BYTES)
  #filled = 0
  readonly #from = new Int32Array(ROOM)
  readonly #length = new Int32Array(ROOM)
  /** Numbers by hash; 0: none. `#next` has the same hash. */
  readonly #slots = new Int32Array(SLOTS)
  readonly #next = new Int32Array(ROOM)
  /** What came after a name the last time: feeds repeat themselves. */
  readonly #follower = new Int32Array(ROOM)
  #last = 0
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

  /** Bytes of a name. */
  lengthOf(number: number): number {
    return this.#length[number] as number
  }

  /** Hot: whether the bytes of a name stand at `at`, whatever follows. */
  isAt(number: number, data: Uint8Array, at: number): boolean {
    const bytes = this.#bytes
    const from = this.#from[number] as number
    const length = this.#length[number] as number
    for (let i = 0; i < length; i++) if (bytes[from + i] !== data[at + i]) return false
    return true
  }

  /** Hot: the number of the Name (5) at `from`; 0: it is longer than the limits allow. */
  read(data: Buffer, from: number): number {
    let number = this.#follower[this.#last] as number
    const end = from + (this.#length[number] as number)
    if (
      number === 0 ||
      ((CLASSES[data[end] as number] as number) & NAME_CHAR) !== 0 ||
      !this.isAt(number, data, from)
    ) {
      number = this.#find(data, from)
      if (number === 0) return 0
      this.#follower[this.#last] = number
    } else this.end = end
    this.#last = number
    return number
  }

  #find(data: Buffer, from: number): number {
    let at = from
    let hash = 0
    for (let byte = data[at] as number; ((CLASSES[byte] as number) & NAME_CHAR) !== 0; ) {
      hash = (Math.imul(hash, 31) + byte) | 0
      byte = data[++at] as number
    }
    this.end = at
    const slot = (hash ^ (hash >>> 12)) & (SLOTS - 1)
    let number = this.#slots[slot] as number
    for (; number !== 0; number = this.#next[number] as number) {
      if (this.#length[number] === at - from && this.isAt(number, data, from)) return number
    }
    return at - from > this.#longest ? 0 : this.#add(data, from, at, slot)
  }

  /** Forgets all names but those of `open`, whose numbers it replaces. To be called between two tags. */
  forget(open: Int32Array): void {
    const texts = Array.from(open, (number) => Buffer.from(this.of(number).text))
    this.#names = []
    this.#filled = 0
    this.#slots.fill(0)
    this.#follower.fill(0)
    this.#last = 0
    for (const [text, { namespace }] of this.#prefixes) {
      if (namespace === null) this.#prefixes.delete(text)
    }
    for (const [i, text] of texts.entries()) {
      open[i] = this.#find(Buffer.concat([text, Buffer.of(0)]), 0)
    }
  }

  #add(data: Buffer, from: number, to: number, slot: number): number {
    const name = this.#make(data.toString('utf8', from, to))
    const { number } = name
    this.#names.push(name)
    if (this.#filled + to - from > this.#bytes.length) {
      const more = new Uint8Array(2 * this.#bytes.length)
      more.set(this.#bytes)
      this.#bytes = more
    }
    this.#bytes.set(data.subarray(from, to), this.#filled)
    this.#from[number] = this.#filled
    this.#length[number] = to - from
    this.#filled += to - from
    this.#next[number] = this.#slots[slot] as number
    this.#slots[slot] = number
    this.isPlain[number] = Number(
      name.wrongAt === null && name.prefix === null && name.text !== '' && name.declares === null,
    )
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
    return { prefix, written: null, namespace: '' }
  }
}
