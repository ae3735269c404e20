// What is unusual in a tag: names that are cut or wrong, values with references, what may not stand where it does, and
// the sentences about all that.
// `markup` is where the tag begins.

import { nextMark } from './byte-marks.ts'
import { AMPERSAND, APOSTROPHE, afterSpace, EQUALS, GT, LT, QUOTE, SLASH } from './bytes.ts'
import { isXmlCharacter, STARTS_NAME } from './characters.ts'
import { type Fault, notAllowed, notWellFormed, short, shown, stop, wrong } from './fault.ts'
import type { Attributes } from './handler.ts'
import { type Input, NEED_MORE } from './input.ts'
import { type Limits, tooLong } from './limits.ts'
import { malformedName, type Name, type NameTable, NONE } from './names.ts'
import type { NamespaceFault, Namespaces, TagReason } from './namespaces.ts'
import type { ReferenceReader } from './reference-reader.ts'

const STARTS_ATTRIBUTE = new RegExp(`:|${STARTS_NAME.source}`, 'u')

export class TagReader {
  readonly #input: Input
  readonly #limits: Limits
  readonly #references: ReferenceReader
  readonly #names: NameTable

  constructor(input: Input, limits: Limits, references: ReferenceReader, names: NameTable) {
    this.#input = input
    this.#limits = limits
    this.#references = references
    this.#names = names
  }

  /** The number of the name of the start tag at `markup`, which ends at `to`; NONE: it may go on. */
  elementName(markup: number, to: number): number {
    if (markup + 1 >= this.#input.end) return NONE
    this.checkFirst(markup, markup + 1)
    return this.name(markup, markup + 1, to)
  }

  /** The number of the Name (5) from `from` to `to`; NONE: it may go on. */
  name(markup: number, from: number, to: number): number {
    const { base, view, end, final } = this.#input
    if (to - from > this.#limits.name) {
      stop(tooLong('name', 'a name', this.#limits.name, base + from))
    }
    if (to >= end && !final) return NONE
    const number = this.#names.find(view, from, to, NONE)
    const { wrongAt } = this.#names.of(number)
    if (wrongAt !== null) stop(misplaced(this.#input, markup, from + wrongAt))
    return to >= end ? NONE : number
  }

  /** A name must begin at `from`. */
  checkFirst(markup: number, from: number): void {
    const character = characterAt(this.#input, from)
    if (STARTS_NAME.test(character)) return
    stop(noName(character, from > markup + 1, this.#input.base + markup))
  }

  /** Neither the end of the tag nor, after white space, a name stands at `at`, which is right only if it is cut there. */
  refuseUnlessCut(markup: number, at: number, parted: boolean): void {
    const { data, end } = this.#input
    if (at >= end || (data[at] === SLASH && at + 1 >= end)) return
    if (data[at] === SLASH) {
      this.#refuse(markup, (tag) => `"/" in the tag <${tag}> must be followed by ">"`, at + 1)
    }
    const behindName = at === nextMark(this.#input.marks.name, markup + 1)
    if (parted || behindName || !STARTS_ATTRIBUTE.test(characterAt(this.#input, at))) {
      stop(misplaced(this.#input, markup, at))
    }
    this.#refuse(markup, (tag) => `a space is missing between the attributes of <${tag}>`, at)
  }

  /** Eq (25) between name and value: answers where the opening quote is, or NEED_MORE. */
  equals(markup: number, from: number): number {
    const { data, end } = this.#input
    let at = afterSpace(data, from)
    if (at >= end) return NEED_MORE
    if (data[at] !== EQUALS) {
      if (at === from && data[at] !== GT) stop(misplaced(this.#input, markup, at))
      this.#refuse(markup, (tag) => `an attribute of <${tag}> has no value; write name="value"`, at)
    }
    at = afterSpace(data, at + 1)
    if (at >= end) return NEED_MORE
    if (data[at] !== QUOTE && data[at] !== APOSTROPHE) {
      const forbidden = forbiddenAt(this.#input, at)
      if (forbidden !== null) stop(forbidden)
      this.#refuse(markup, (tag) => `an attribute value of <${tag}> must be put in quotes`, at)
    }
    return at
  }

  /** AttValue (10) from `open`, plain up to `plain`; answers where the closing quote is, or NEED_MORE. */
  value(open: number, plain: number): number {
    const { data, marks } = this.#input
    let at = plain
    while (data[at] !== data[open]) {
      this.#checkValue(open, at)
      const next = this.#special(at)
      if (next === NEED_MORE) return NEED_MORE
      at = nextMark(marks.value, next)
    }
    this.#checkValue(open, at)
    return at
  }

  /** The last attribute so far has a name with a prefix, or one that declares something. */
  attribute(markup: number, namespaces: Namespaces, attributes: Attributes): void {
    const i = attributes.count - 1
    const name = attributes.nameAt(i)
    if (name.malformed) this.#refuse(markup, () => malformedName(name))
    if (name.declares === null) return
    const reason = namespaces.declared(name.declares, attributes, i)
    if (reason !== null) this.#refuse(markup, reason)
  }

  /** Throws `FaultFound`. */
  wrong(markup: number, { reason, at }: NamespaceFault): never {
    this.#refuse(markup, reason, at ?? markup)
  }

  /** Throws `FaultFound`: something is wrong at `at`, or with the tag, whose place is then its `<`. */
  #refuse(markup: number, reason: TagReason, at = markup): never {
    const last = at === markup ? nextMark(this.#input.marks.name, markup + 1) : at
    wrong(reason(tagName(this.#input, markup, last)), this.#input.base + at)
  }

  /** Behind what stands at `at` in a value, or NEED_MORE. */
  #special(at: number): number {
    const { base, data, end } = this.#input
    const byte = data[at]
    if (byte === QUOTE || byte === APOSTROPHE) return at + 1
    if (byte === LT) {
      wrong('"<" is not allowed in an attribute value; is a closing quote missing?', base + at)
    }
    if (at >= end) return NEED_MORE
    if (byte === AMPERSAND) return this.#references.read(at)
    wrong(notAllowed(String.fromCharCode(byte as number)), base + at)
  }

  #checkValue(open: number, at: number): void {
    const { attributeValue } = this.#limits
    if (at - open - 1 <= attributeValue) return
    stop(tooLong('attribute', 'an attribute value', attributeValue, this.#input.base + open))
  }
}

/** The character at `at`. */
function characterAt({ data, end }: Input, at: number): string {
  const text = data.toString('utf8', at, Math.min(end, at + 4))
  return String.fromCodePoint(text.codePointAt(0) ?? 0)
}

/** The name of the tag at `markup`, as it reads up to and with the character at `at`. */
function tagName(input: Input, markup: number, at: number): string {
  const { data } = input
  const from = markup + (data[markup + 1] === SLASH ? 2 : 1)
  const to = at + Buffer.byteLength(characterAt(input, at))
  return short(/^[^ \t\r\n/>=<]*/.exec(data.toString('utf8', from, to))?.[0] ?? '')
}

/** The character at `at`, where no document may have it: what must be left out is named first. */
function forbiddenAt(input: Input, at: number): Fault | null {
  const character = characterAt(input, at)
  if (isXmlCharacter(character.codePointAt(0) ?? 0)) return null
  return notWellFormed(notAllowed(character), input.base + at)
}

/** The character at `at` has no place in the tag at `markup`. */
export function misplaced(input: Input, markup: number, at: number): Fault {
  const forbidden = forbiddenAt(input, at)
  if (forbidden !== null) return forbidden
  const character = characterAt(input, at)
  const name = tagName(input, markup, at)
  const [tag, sign] = input.data[markup + 1] === SLASH ? ['end tag', '</'] : ['tag', '<']
  const reason =
    character === '<'
      ? `the ${tag} ${sign}${name} is not closed: ">" is missing before this "<"`
      : `${shown(character)} is not allowed in the ${tag} ${sign}${name}>`
  return notWellFormed(reason, input.base + at)
}

/** `first` stands where the name of a tag must begin. */
function noName(first: string, closing: boolean, at: number): Fault {
  const reason = closing
    ? `an end tag must have a name after "</", not ${shown(first)}`
    : '"<" must be written "&lt;"'
  return notWellFormed(reason, at)
}

/** Element Type Match (§3). `openedAt`: where the start tag is. */
export function unmatched(name: Name, element: Name, at: number, openedAt: number): Fault {
  const reason = `the end tag </${short(name.text)}> does not match <${short(element.text)}> opened in line {line}`
  return { ...notWellFormed(reason, at), reference: openedAt }
}
