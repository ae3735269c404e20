// Reads the attributes of a start tag (XML 1.0 production 41), and checks them together with its name. The
// methods marked "hot" run for every attribute.

import { APOSTROPHE, afterSpace, EQUALS, firstOf, GT, LT, QUOTE, VALUE_STOP } from './bytes.ts'
import { stop, wrong } from './fault.ts'
import { Attributes } from './handler.ts'
import { type Input, NEED_MORE } from './input.ts'
import { type Limits, tooLong, tooManyAttributes } from './limits.ts'
import { type NameReader, NONE } from './name-reader.ts'
import type { Name, NameTable } from './names.ts'
import { Namespaces, twice } from './namespaces.ts'
import type { ReferenceReader } from './reference-reader.ts'
import { forbiddenAt, malformedName, misplaced } from './tag-faults.ts'

export class AttributeReader {
  /** Those of the present tag so far. */
  readonly attributes: Attributes
  /** Bytes of their values. */
  valueBytes = 0
  readonly namespaces = new Namespaces()
  readonly #input: Input
  readonly #limits: Limits
  readonly #references: ReferenceReader
  readonly #tag: NameReader
  readonly #names: NameTable
  /** Whether all names of the tag are plain. */
  #isPlain = true

  constructor(input: Input, limits: Limits, references: ReferenceReader, tag: NameReader) {
    this.#input = input
    this.#limits = limits
    this.#references = references
    this.#tag = tag
    this.#names = tag.names
    this.attributes = new Attributes(tag.names, limits.attributes)
  }

  /** The name of a start tag was read. */
  begin(isPlain: boolean): void {
    this.attributes.count = 0
    this.#isPlain = isPlain
  }

  /** Hot: the attribute at `from`, which begins a name; answers where it ends, or NEED_MORE. */
  read(from: number): number {
    const { data } = this.#input
    const { attributes } = this
    const name = this.#tag.read(from)
    if (name === NONE) return NEED_MORE
    const { end } = this.#names
    const open = data[end] === EQUALS && data[end + 1] === QUOTE ? end + 1 : this.#equals(end)
    if (open === NEED_MORE) return NEED_MORE
    const i = attributes.count
    if (i >= this.#limits.attributes) {
      stop(tooManyAttributes(this.#limits.attributes, this.#input.base + this.#tag.markup))
    }
    const close = this.#value(open)
    if (close === NEED_MORE) return NEED_MORE
    attributes.numbers[i] = name
    attributes.begin[i] = from
    attributes.from[i] = open + 1
    attributes.to[i] = close
    attributes.count = i + 1
    if (this.#names.isPlain[name] === 0) this.#checkName(this.#names.of(name), i)
    return close + 1
  }

  /** Hot: the tag is complete. Checks its names together; it is one of `depth` open elements now. */
  check(element: Name, depth: number): void {
    if (this.#isPlain) {
      if (this.attributes.count > 1) this.#checkTwice()
      return
    }
    const fault = this.namespaces.enter(element, this.attributes, depth)
    if (fault !== null) this.#tag.wrong(fault.reason, fault.at ?? undefined)
  }

  /** Hot: AttValue (10); answers where the closing quote is, or NEED_MORE. */
  #value(open: number): number {
    const { data } = this.#input
    const quote = data[open]
    let at = open + 1
    for (;;) {
      at = firstOf(data, at, data.length, VALUE_STOP)
      if (data[at] === quote) break
      at = this.#special(at, open)
      if (at === NEED_MORE) return NEED_MORE
    }
    if (at - open - 1 > this.#limits.attributeValue) this.#valueTooLong(open)
    this.valueBytes += at - open - 1
    return at
  }

  /** Eq (25) between name and value: answers where the opening quote is, or NEED_MORE. */
  #equals(from: number): number {
    const { data, end } = this.#input
    let at = afterSpace(data, from)
    if (at >= end) return NEED_MORE
    if (data[at] !== EQUALS) {
      if (at === from && data[at] !== GT) stop(misplaced(this.#input, this.#tag.markup, at))
      this.#tag.wrong((tag) => `an attribute of <${tag}> has no value; write name="value"`, at)
    }
    at = afterSpace(data, at + 1)
    if (at >= end) return NEED_MORE
    if (data[at] !== QUOTE && data[at] !== APOSTROPHE) {
      const forbidden = forbiddenAt(this.#input, at)
      if (forbidden !== null) stop(forbidden)
      this.#tag.wrong((tag) => `an attribute value of <${tag}> must be put in quotes`, at)
    }
    return at
  }

  /** Behind what stands at `at` in a value that began at `open`, or NEED_MORE. */
  #special(at: number, open: number): number {
    const { base, data, end } = this.#input
    if (at - open - 1 > this.#limits.attributeValue) this.#valueTooLong(open)
    const byte = data[at]
    if (byte === QUOTE || byte === APOSTROPHE) return at + 1
    if (byte === LT) {
      wrong('"<" is not allowed in an attribute value; is a closing quote missing?', base + at)
    }
    if (at < end) this.#input.refuseControls(at, at + 1)
    const next = at < end ? this.#references.read(at) : NEED_MORE
    if (next === NEED_MORE) this.valueBytes += end - open - 1
    return next
  }

  #valueTooLong(open: number): never {
    const { attributeValue } = this.#limits
    stop(tooLong('attribute', 'an attribute value', attributeValue, this.#input.base + open))
  }

  /** Of a name that is not plain. */
  #checkName(name: Name, i: number): void {
    this.#isPlain = false
    if (name.malformed) this.#tag.wrong(() => malformedName(name))
    if (name.declares === null) return
    const reason = this.namespaces.declared(name.declares, this.attributes, i)
    if (reason !== null) this.#tag.wrong(reason)
  }

  /** Unique Att Spec (§3.1), where all names are plain. */
  #checkTwice(): void {
    const { count, numbers } = this.attributes
    for (let i = 1; i < count; i++) {
      for (let j = 0; j < i; j++) {
        if (numbers[i] !== numbers[j]) continue
        const { reason, at } = twice(this.attributes, i)
        this.#tag.wrong(reason, at ?? undefined)
      }
    }
  }
}
