// Handles the unusual parts of a tag: names that are cut or wrong, values with references, misplaced characters, and
// the messages about them. `markup` is where the tag begins.

import { nextMark } from './byte-marks.ts'
import {
  AMPERSAND,
  APOSTROPHE,
  afterSpace,
  EQUALS,
  GT,
  LT,
  nameEnd,
  QUOTE,
  SLASH,
} from './bytes.ts'
import { isXmlCharacter, STARTS_NAME } from './characters.ts'
import { type Fault, notAllowed, notWellFormed, short, shown, stop, wrong } from './fault.ts'
import { htmlHint, lessThanReason, SLASH_HINT, SPACE_HINT } from './hints.ts'
import { type Input, NEED_MORE } from './input.ts'
import { tooLong } from './limits.ts'
import { type Name, type NameTable, NONE } from './names.ts'
import { readReference } from './reference.ts'

/** NAME_GOES_ON matches a character after a "/" that somebody probably put into a name. */
const NAME_GOES_ON = /^[\p{L}\p{N}_]/u
const STARTS_ATTRIBUTE = new RegExp(`:|${STARTS_NAME.source}`, 'u')

/** elementName returns the number of the tag's name, which ends at `to`; NONE if the name might continue. */
export function elementName(input: Input, names: NameTable, markup: number, to: number): number {
  if (markup + 1 >= input.end) return NONE
  checkFirst(input, markup, markup + 1)
  return nameIn(input, names, markup, markup + 1, to)
}

/**
 * nameIn returns the number that `names` gives the Name (production 5) from `from` to `to`; NONE if the input ends with
 * the name, which might then continue. Throws `FaultFound` for a name that is wrong or too long.
 */
export function nameIn(
  input: Input,
  names: NameTable,
  markup: number,
  from: number,
  to: number,
): number {
  const { base, view, end, final, limits } = input
  if (to - from > limits.name) stop(tooLong('name', 'a name', limits.name, base + from))
  if (to >= end && !final) return NONE
  const number = names.find(view, from, to, NONE)
  const { wrongAt } = names.of(number)
  if (wrongAt !== null) stop(misplaced(input, markup, from + wrongAt))
  return to >= end ? NONE : number
}

/** checkFirst throws `FaultFound` unless a name begins at `from`. */
export function checkFirst(input: Input, markup: number, from: number): void {
  const character = characterAt(input, from)
  if (STARTS_NAME.test(character)) return
  const reason =
    from > markup + 1
      ? `an end tag must have a name after "</", not ${shown(character)}`
      : lessThanReason(character)
  wrong(reason, input.base + markup)
}

/** refuseUnlessCut throws `FaultFound` for the character at `at`, unless the end of the input cuts the tag there. */
export function refuseUnlessCut(input: Input, markup: number, at: number, hasSpace: boolean): void {
  const { data, end } = input
  if (at >= end || (data[at] === SLASH && at + 1 >= end)) return
  if (data[at] === SLASH) {
    const isInName =
      at === nameEnd(data, markup + 1) && NAME_GOES_ON.test(characterAt(input, at + 1))
    const hint = isInName ? SLASH_HINT : ''
    refuse(input, markup, `"/" in the tag <{tag}> must be followed by ">"${hint}`, at + 1)
  }
  const afterName = at === nameEnd(input.data, markup + 1)
  if (hasSpace || afterName || !STARTS_ATTRIBUTE.test(characterAt(input, at))) {
    stop(misplaced(input, markup, at))
  }
  refuse(input, markup, 'a space is missing between the attributes of <{tag}>', at)
}

/** quoteAfterName reads Eq (25) between name and value, and returns the place of the opening quote, or NEED_MORE. */
export function quoteAfterName(input: Input, markup: number, from: number): number {
  const { data, end } = input
  let at = afterSpace(data, from)
  if (at >= end) return NEED_MORE
  if (data[at] !== EQUALS) {
    if (at === from && data[at] !== GT) stop(misplaced(input, markup, at))
    const hint = data[at] === GT && isFirstAttribute(input, markup, from) ? SPACE_HINT : ''
    refuse(input, markup, `an attribute of <{tag}> has no value; write name="value"${hint}`, at)
  }
  at = afterSpace(data, at + 1)
  if (at >= end) return NEED_MORE
  if (data[at] !== QUOTE && data[at] !== APOSTROPHE) {
    const forbidden = forbiddenAt(input, at)
    if (forbidden !== null) stop(forbidden)
    refuse(input, markup, 'an attribute value of <{tag}> must be put in quotes', at)
  }
  return at
}

/** isFirstAttribute returns true if the name that ends at `to` is the first after the name of the element. */
function isFirstAttribute({ data }: Input, markup: number, to: number): boolean {
  const begin = afterSpace(data, nameEnd(data, markup + 1))
  return nameEnd(data, begin) === to
}

/**
 * valueEnd returns the place of the closing quote of the AttValue (10) whose opening quote is at `open`, or NEED_MORE.
 * The value is plain up to `plain`.
 */
export function valueEnd(input: Input, open: number, plain: number): number {
  const { base, data, marks, limits } = input
  for (let at = plain; ; ) {
    if (at - open - 1 > limits.attributeValue) {
      stop(tooLong('attribute', 'an attribute value', limits.attributeValue, base + open))
    }
    if (data[at] === data[open]) return at
    const next = afterSpecial(input, at)
    if (next === NEED_MORE) return NEED_MORE
    at = nextMark(marks.value, next)
  }
}

/** afterSpecial returns the place after the quote or reference at `at`, or NEED_MORE. Throws `FaultFound`. */
function afterSpecial(input: Input, at: number): number {
  const { base, data, end } = input
  const byte = data[at]
  if (byte === QUOTE || byte === APOSTROPHE) return at + 1
  if (byte === LT) {
    wrong('"<" is not allowed in an attribute value; is a closing quote missing?', base + at)
  }
  if (at >= end) return NEED_MORE
  if (byte === AMPERSAND) return readReference(input, at)
  wrong(notAllowed(String.fromCharCode(byte as number)), base + at)
}

/** refuse throws `FaultFound` for the fault at `at`, by default the tag itself. `{tag}` stands for the tag's name. */
export function refuse(input: Input, markup: number, reason: string, at = markup): never {
  const last = at === markup ? nameEnd(input.data, markup + 1) : at
  const tag = tagName(input, markup, last)
  wrong(
    reason.replace('{tag}', () => tag),
    input.base + at,
  )
}

function characterAt({ data, end }: Input, at: number): string {
  const text = data.toString('utf8', at, Math.min(end, at + 4))
  return String.fromCodePoint(text.codePointAt(0) ?? 0)
}

/** tagName returns the name of the tag at `markup`, up to and including the character at `at`. */
function tagName(input: Input, markup: number, at: number): string {
  const { data } = input
  const from = markup + (data[markup + 1] === SLASH ? 2 : 1)
  const to = at + Buffer.byteLength(characterAt(input, at))
  return short(/^[^ \t\r\n/>=<]*/.exec(data.toString('utf8', from, to))?.[0] ?? '')
}

/** forbiddenAt returns the fault of a character that XML forbids, or null. The fault comes before faults of the tag. */
function forbiddenAt(input: Input, at: number): Fault | null {
  const character = characterAt(input, at)
  if (isXmlCharacter(character.codePointAt(0) ?? 0)) return null
  return notWellFormed(notAllowed(character), input.base + at)
}

/** misplaced returns the fault of the character at `at`, which is not allowed in the tag at `markup`. */
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

/** unmatched returns the fault of a wrong end tag (Element Type Match, §3). `openedAt` is where its start tag is. */
export function unmatched(name: Name, element: Name, at: number, openedAt: number): Fault {
  const hint = htmlHint(element.text, name.text)
  const reason = `the end tag </${short(name.text)}> does not match <${short(element.text)}> opened in line {line}${hint}`
  return { ...notWellFormed(reason, at), reference: openedAt }
}
