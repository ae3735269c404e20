// Names of elements and attributes: what is true of a name wherever it stands is found out once. That
// it is written right, and how it parts into prefix and local name (Namespaces in XML 1.0 §4).

import { GT, isOf, NAME_CHAR } from './byte-classes.ts'
import { ByteTable, equal } from './byte-table.ts'
import { NAME, NAME_START } from './xml-names.ts'

/** A namespace prefix, and what it is bound to at the moment; null: to nothing. */
export interface Prefix {
  readonly text: string
  uri: string | null
}

export interface Name {
  /** As written. */
  readonly text: string
  readonly bytes: Uint8Array
  /** Null: the name has no colon. */
  readonly prefix: Prefix | null
  readonly local: string
  /** Bytes up to the first character that no name may have; null: it is a Name (production 5). */
  readonly wrongAt: number | null
  /** Not one colon between a prefix and a local name (QName, Namespaces production 7). */
  readonly malformed: boolean
  /** What follows a colon begins no name (NCName, Namespaces production 4). */
  readonly badLocal: boolean
  /** Nothing of the above is to be watched: a name without a prefix. */
  readonly isPlain: boolean
  /** As an attribute: what `xmlns` or `xmlns:…` declared last; null: it is another name. */
  readonly declares: Declared | null
  /** The tag that had it last as an attribute. */
  seenIn: number
  /** The name that was read after it the last time: records are alike, so it is likely to come again. */
  next: Name | null
}

/** A namespace declaration. */
export interface Declared {
  /** Null: the default namespace, which no prefix names. */
  readonly prefix: Prefix | null
  /** The value as written; null: none, or too long to keep. */
  written: Uint8Array | null
  uri: string
}

export const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace'
export const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/'

const LONGEST_NAME = new RegExp(NAME, 'uy')
const BAD_LOCAL = new RegExp(`:(?!${NAME_START})`, 'u')

export class NameTable {
  readonly #names = new ByteTable((text) => this.#make(text))
  readonly #prefixes = new Map<string, Prefix>([
    ['xml', { text: 'xml', uri: XML_NAMESPACE }],
    ['xmlns', { text: 'xmlns', uri: XMLNS_NAMESPACE }],
  ])
  #last = this.#make('')

  /** The name at `from`, if it is the one that is to be expected there. */
  expected(data: Buffer, from: number): Name | null {
    const name = this.#last.next
    if (name === null || !equal(name.bytes, data, from)) return null
    if (isOf(data, from + name.bytes.length, NAME_CHAR)) return null
    this.#last = name
    return name
  }

  /** The same, if it is a plain one and `>` stands behind it. */
  bare(data: Buffer, from: number): Name | null {
    const name = this.#last.next
    if (name === null || !name.isPlain || !equal(name.bytes, data, from)) return null
    if (data[from + name.bytes.length] !== GT) return null
    this.#last = name
    return name
  }

  /** `hash`: of the bytes from `from` to `to`; see `hashed`. */
  find(data: Buffer, from: number, to: number, hash: number): Name {
    const name = this.#names.find(data, from, to, hash)
    if (name.wrongAt === null) {
      this.#last.next = name
      this.#last = name
    }
    return name
  }

  #prefix(text: string): Prefix {
    const known = this.#prefixes.get(text)
    if (known !== undefined) return known
    const prefix = { text, uri: null }
    this.#prefixes.set(text, prefix)
    return prefix
  }

  /** Keeps memory bounded; to be called between tags. */
  prune(): void {
    if (!this.#names.full) return
    this.#names.forget()
    this.#last = this.#make('')
    for (const [text, { uri }] of this.#prefixes) if (uri === null) this.#prefixes.delete(text)
  }

  #make(text: string): Name {
    LONGEST_NAME.lastIndex = 0
    const right = LONGEST_NAME.exec(text)?.[0] ?? ''
    const isRight = right === text
    const colon = text.indexOf(':')
    const local = text.slice(colon + 1)
    return {
      text,
      bytes: Buffer.from(text),
      prefix: colon === -1 ? null : this.#prefix(text.slice(0, colon)),
      local,
      wrongAt: isRight ? null : Buffer.byteLength(right),
      malformed: colon === 0 || local === '' || local.includes(':'),
      badLocal: BAD_LOCAL.test(text),
      isPlain: isRight && text !== '' && colon === -1,
      declares: this.#declares(text, local),
      seenIn: 0,
      next: null,
    }
  }

  #declares(text: string, local: string): Declared | null {
    if (text !== 'xmlns' && !text.startsWith('xmlns:')) return null
    return { prefix: text === 'xmlns' ? null : this.#prefix(local), written: null, uri: '' }
  }
}
