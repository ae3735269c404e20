// Names of elements and attributes: what is true of a name wherever it stands is found out once. That
// it is written right, and how it parts into prefix and local name (Namespaces in XML 1.0 §4).

import { ByteTable } from './byte-table.ts'
import { ATTRIBUTE, ELEMENT, type Skimmer } from './skimmer.ts'
import { NAME, NAME_START } from './xml-names.ts'

/** A namespace prefix; what it is bound to at the moment is known by its number (namespaces.ts). */
export interface Prefix {
  readonly text: string
  readonly number: number
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
  /** Where the skimmer has it; 0: nowhere, -1: it was not asked to yet. */
  entry: number
}

/** A namespace declaration. */
export interface Declared {
  /** Null: the default namespace, which no prefix names. */
  readonly prefix: Prefix | null
  /** The value as written; null: none, or too long to keep. */
  written: Uint8Array | null
  uri: string
  /** The number of `uri`. */
  number: number
}

export const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace'
export const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/'

const RESERVED = [
  ['xml', XML_NAMESPACE],
  ['xmlns', XMLNS_NAMESPACE],
] as const
const UNASKED = -1
const MOST_NAMESPACES = 2_000

const LONGEST_NAME = new RegExp(NAME, 'uy')
const BAD_LOCAL = new RegExp(`:(?!${NAME_START})`, 'u')

export class NameTable {
  readonly #skimmer: Skimmer
  readonly #names = new ByteTable((text) => this.#make(text))
  readonly #prefixes = new Map<string, Prefix>()
  /** Numbers of prefixes that were forgotten. */
  readonly #free: number[] = []
  /** By the place of its entry. */
  readonly #entries = new Map<number, Name>()
  #namespaces = new Map<string, number>()
  #lastNamespace = 0
  #mostNamespaces = MOST_NAMESPACES

  constructor(skimmer: Skimmer) {
    this.#skimmer = skimmer
    for (const [text, uri] of RESERVED) {
      skimmer.namespaceOf[this.#prefix(text).number] = this.namespace(uri)
    }
  }

  /** `hash`: of the bytes from `from` to `to`; see `hashed`. */
  find(data: Buffer, from: number, to: number, hash: number): Name {
    const name = this.#names.find(data, from, to, hash)
    if (name.entry === UNASKED) this.#enter(name, from, to - from)
    return name
  }

  /** The name at `from`, if the skimmer knows it. */
  at(from: number): Name | undefined {
    return this.#entries.get(this.#skimmer.nameAt(from))
  }

  /** The name that the skimmer has there. */
  ofEntry(entry: number): Name | undefined {
    return this.#entries.get(entry)
  }

  /** The number of a namespace, from 1. */
  namespace(uri: string): number {
    const known = this.#namespaces.get(uri)
    if (known !== undefined) return known
    this.#namespaces.set(uri, ++this.#lastNamespace)
    return this.#lastNamespace
  }

  #enter(name: Name, from: number, length: number): void {
    const { prefix, declares } = name
    const sound = name.wrongAt === null && !name.malformed && !name.badLocal
    const element = sound && prefix?.text !== 'xmlns' ? ELEMENT : 0
    const attribute = sound && declares === null ? ATTRIBUTE : 0
    const number = (declares === null ? prefix : declares.prefix)?.number ?? 0
    name.entry = sound ? this.#skimmer.enter(from, length, element | attribute, number) : 0
    if (name.entry !== 0) this.#entries.set(name.entry, name)
  }

  #prefix(text: string): Prefix {
    const known = this.#prefixes.get(text)
    if (known !== undefined) return known
    const prefix = { text, number: this.#free.pop() ?? this.#skimmer.newPrefix() }
    this.#prefixes.set(text, prefix)
    return prefix
  }

  /** Whether it is time to call `forget`, between two tags. */
  get full(): boolean {
    return this.#names.full || this.#namespaces.size > this.#mostNamespaces
  }

  /** Forgets all but the prefixes that are bound, so that memory stays bounded. No entry is valid afterwards. */
  forget(): void {
    this.#skimmer.forget()
    this.#names.forget()
    this.#entries.clear()
    const { namespaceOf } = this.#skimmer
    for (const [text, { number }] of this.#prefixes) {
      if (namespaceOf[number] !== 0) continue
      this.#prefixes.delete(text)
      this.#free.push(number)
    }
    this.#forgetNamespaces()
  }

  #forgetNamespaces(): void {
    const { bindings, boundBefore, namespaceOf } = this.#skimmer
    const used = new Set(boundBefore.subarray(0, bindings[0]))
    for (const { number } of this.#prefixes.values()) used.add(namespaceOf[number] as number)
    const kept = [...this.#namespaces].filter(([, number]) => used.has(number))
    this.#namespaces = new Map(kept)
    this.#mostNamespaces = MOST_NAMESPACES + 2 * kept.length
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
      entry: UNASKED,
    }
  }

  #declares(text: string, local: string): Declared | null {
    if (text !== 'xmlns' && !text.startsWith('xmlns:')) return null
    return {
      prefix: text === 'xmlns' ? null : this.#prefix(local),
      written: null,
      uri: '',
      number: 0,
    }
  }
}
