// Reads names and attributes inside a tag (XML 1.0 productions 5, 10 and 41). Collects the attributes
// of one tag and what they declare of namespaces, in arrays that are used again for the next tag.

import {
  APOSTROPHE,
  EQUALS,
  GT,
  isOf,
  LT,
  NAME_CHAR,
  NAME_START,
  QUOTE,
  SPACE,
  VALUE_STOP,
} from './byte-classes.ts'
import { equal, hashed } from './byte-table.ts'
import { short } from './fault.ts'
import { type Input, MORE } from './input.ts'
import { type Limits, tooLong, tooManyAttributes } from './limits.ts'
import { type Declared, type Name, NameTable } from './names.ts'
import { declarationFault } from './namespaces.ts'
import type { ReferenceReader } from './reference-reader.ts'
import { LONGEST_KEPT, type Skimmer } from './skimmer.ts'
import { stop, wrong } from './stopped.ts'
import { misplaced, refuseForbidden, tagName } from './tag-sentences.ts'
import { Attributes } from './xml-events.ts'

export class AttributeReader {
  /** Those of the present tag. */
  readonly attributes = new Attributes()
  readonly declarations: Declared[] = []
  /** Where the last name ended. */
  nameEnd = 0
  /** Bytes of the values so far. */
  valueBytes = 0
  readonly #input: Input
  readonly #limits: Limits
  readonly #references: ReferenceReader
  readonly #skimmer: Skimmer
  readonly names: NameTable
  #markup = 0

  constructor(input: Input, limits: Limits, references: ReferenceReader, skimmer: Skimmer) {
    this.#input = input
    this.#limits = limits
    this.#references = references
    this.#skimmer = skimmer
    this.names = new NameTable(skimmer)
  }

  /** The tag whose `<` is at `markup` begins. */
  begin(markup: number): void {
    this.#markup = markup
    this.attributes.data = this.#input.data
    this.attributes.count = 0
    if (this.declarations.length > 0) this.declarations.length = 0
    this.valueBytes = 0
  }

  /** The Name (5) at `from`; null: it may go on. */
  name(from: number): Name | null {
    const { data, base, end, final } = this.#input
    const known = this.names.at(from)
    if (known !== undefined && from + known.bytes.length < end) {
      this.nameEnd = from + known.bytes.length
      return known
    }
    let at = from
    let hash = 0
    while (isOf(data, at, NAME_CHAR)) hash = hashed(hash, data[at++] as number)
    this.nameEnd = at
    if (at - from > this.#limits.name) {
      stop(tooLong('name', 'a name', this.#limits.name, base + from))
    }
    if (at >= end && !final) return null
    const name = this.names.find(data, from, at, hash)
    if (name.wrongAt !== null) misplaced(this.#input, this.#markup, from + name.wrongAt)
    return at >= end ? null : name
  }

  /** Attribute (41) at `from`; answers where it ends, or MORE. */
  read(from: number): number {
    if (!isOf(this.#input.data, from, NAME_START)) misplaced(this.#input, this.#markup, from)
    const name = this.name(from)
    const open = name === null ? MORE : this.#equals(this.nameEnd)
    if (name === null || open === MORE) return MORE
    const { attributes } = this
    if (attributes.count >= this.#limits.attributes) {
      stop(tooManyAttributes(this.#limits.attributes, this.#input.base + this.#markup))
    }
    const close = this.#value(open)
    if (close === MORE) return MORE
    const i = attributes.count++
    attributes.names[i] = name
    attributes.begin[i] = from
    attributes.from[i] = open + 1
    attributes.to[i] = close
    if (name.malformed) this.malformed(name)
    if (name.declares !== null) this.#declare(name, name.declares, i)
    return close + 1
  }

  /** Eq (25) between name and value: answers where the opening quote is, or MORE. */
  #equals(from: number): number {
    const { data, end } = this.#input
    if (data[from] === EQUALS && data[from + 1] === QUOTE) return from + 1
    let at = this.spaces(from)
    if (at >= end) return MORE
    if (data[at] !== EQUALS) {
      if (at === from && data[at] !== GT) misplaced(this.#input, this.#markup, at)
      this.wrong((tag) => `an attribute of <${tag}> has no value; write name="value"`, at)
    }
    at = this.spaces(at + 1)
    if (at >= end) return MORE
    if (data[at] !== QUOTE && data[at] !== APOSTROPHE) {
      refuseForbidden(this.#input, at)
      this.wrong((tag) => `an attribute value of <${tag}> must be put in quotes`, at)
    }
    return at
  }

  /** AttValue (10): answers where the closing quote is, or MORE. */
  #value(open: number): number {
    const { data, base, end } = this.#input
    const quote = data[open]
    let at = open + 1
    while (at !== MORE) {
      while (!isOf(data, at, VALUE_STOP)) at++
      if (at - open - 1 > this.#limits.attributeValue) {
        stop(tooLong('attribute', 'an attribute value', this.#limits.attributeValue, base + open))
      }
      const byte = data[at]
      if (at >= end) break
      if (byte === quote) {
        this.valueBytes += at - open - 1
        return at
      }
      if (byte === QUOTE || byte === APOSTROPHE) at++
      else if (byte === LT) {
        wrong('"<" is not allowed in an attribute value; is a closing quote missing?', base + at)
      } else if (byte === 0) misplaced(this.#input, this.#markup, at)
      else at = this.#references.read(at)
    }
    this.valueBytes += end - open - 1
    return MORE
  }

  /** Behind the S (3) at `from`. */
  spaces(from: number): number {
    let at = from
    while (isOf(this.#input.data, at, SPACE)) at++
    return at
  }

  /** `xmlns="…"` and `xmlns:prefix="…"` (Namespaces productions 1 to 3). */
  #declare(name: Name, declared: Declared, i: number): void {
    const { data } = this.#input
    const from = this.attributes.from[i] ?? 0
    const to = this.attributes.to[i] ?? 0
    const { written } = declared
    if (written === null || written.length !== to - from || !equal(written, data, from)) {
      declared.uri = this.attributes.valueAt(i)
      const fault = declarationFault(declared)
      if (fault === 'empty') {
        this.wrong((tag) => `a namespace prefix in <${tag}> is declared with an empty value`)
      }
      if (fault === 'reserved') this.reserved()
      declared.number = this.names.namespace(declared.uri)
      declared.written = to - from <= LONGEST_KEPT ? Uint8Array.from(data.subarray(from, to)) : null
      this.#skimmer.declared(name, from, to, declared.number)
    }
    this.declarations.push(declared)
  }

  /** A fault of the present tag: at `at`, or at its `<`. */
  wrong(reason: (tag: string) => string, at = this.#markup): never {
    const last = at === this.#markup ? this.nameEnd : at
    wrong(reason(tagName(this.#input, this.#markup, last)), this.#input.base + at)
  }

  /** QName (Namespaces production 7). */
  malformed({ text }: Name): never {
    const reason = `"${short(text)}" is not a name: a ":" must stand between a prefix and a name, once`
    wrong(reason, this.#input.base + this.#markup)
  }

  /** NCName (Namespaces production 4). */
  badLocal({ text }: Name): never {
    const reason = `"${short(text)}" is not a name: what follows the ":" must begin with a letter or "_"`
    wrong(reason, this.#input.base + this.#markup)
  }

  reserved(): never {
    this.wrong((tag) => `<${tag}> declares one of the reserved names xml and xmlns wrongly`)
  }
}
