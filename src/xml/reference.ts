// Reads entity and character references (XML 1.0 §4.1). Only the five predefined entities exist, because the checker
// never reads a declaration of other entities. Common references are compared as bytes, all others are read as text.

import { HASH, isOf, NAME_CHAR, SEMICOLON } from './bytes.ts'
import { isXmlCharacter, NAME } from './characters.ts'
import { notWellFormed, short, stop, type TokenEnd } from './fault.ts'
import { type Input, NEED_MORE } from './input.ts'

/** LESS to APOS are the first four bytes of the predefined entities (§4.6) after their "&". */
const [LESS, GREATER, AND, QUOT, APOS] = ['lt;\0', 'gt;\0', 'amp;', 'quot', 'apos'].map((text) =>
  Buffer.from(text).readInt32LE(),
)
const THREE_BYTES = 0xffffff
/** MOST_DIGITS is the number of decimal digits of the largest code point. */
const MOST_DIGITS = 7

/** REFERENCE matches a whole reference, and UNFINISHED every beginning of a reference. */
const REFERENCE = new RegExp(`^&(?:#(?:x([0-9a-fA-F]+)|([0-9]+))|(${NAME}));`, 'u')
const UNFINISHED = new RegExp(`^&(?:#(?:x[0-9a-fA-F]*|[0-9]*)|${NAME})?$`, 'u')
const PREDEFINED = new Set(['amp', 'lt', 'gt', 'quot', 'apos'])

/** HTML has the entities that editors and templates put into feeds most often, with their code points. */
const HTML = new Map(
  `nbsp 160, copy 169, reg 174, laquo 171, raquo 187, middot 183, auml 228, ouml 246, uuml 252,
  Auml 196, Ouml 214, Uuml 220, szlig 223, agrave 224, aacute 225, ccedil 231, egrave 232,
  eacute 233, ecirc 234, ntilde 241, oacute 243, ndash 8211, mdash 8212, lsquo 8216,
  rsquo 8217, ldquo 8220, rdquo 8221, bull 8226, hellip 8230, euro 8364, trade 8482`
    .split(/,\s+/)
    .map((pair) => pair.split(' ') as [name: string, code: string]),
)

/** Hot: readReference returns the end of the reference whose `&` is at `at`, or NEED_MORE. Throws `FaultFound`. */
export function readReference(input: Input, at: number): number {
  const { data, view } = input
  const word = view.getInt32(at + 1, true)
  // "&lt;", "&gt;" and "&amp;" come first, because a feed with escaped HTML is full of them.
  if ((word & THREE_BYTES) === LESS || (word & THREE_BYTES) === GREATER) return at + 4
  if (word === AND) return at + 5
  if ((word === QUOT || word === APOS) && data[at + 5] === SEMICOLON) return at + 6
  const end = data[at + 1] === HASH ? decimalEnd(data, at + 2) : NEED_MORE
  return end === NEED_MORE ? otherEnd(input, at) : end
}

/** decimalEnd returns the end of a CharRef (production 66) with decimal digits from `from` on; else NEED_MORE. */
function decimalEnd(data: Buffer, from: number): number {
  let code = 0
  for (let at = from; at <= from + MOST_DIGITS; at++) {
    const byte = data[at] ?? 0
    if (byte === SEMICOLON) return at > from && isXmlCharacter(code) ? at + 1 : NEED_MORE
    if (byte < 0x30 || byte > 0x39) return NEED_MORE
    code = code * 10 + byte - 0x30
  }
  return NEED_MORE
}

/** otherEnd returns the end of any reference at `at`, or NEED_MORE. Throws `FaultFound`. */
function otherEnd({ data, base, end, limits, doctypeSeen }: Input, at: number): number {
  let last = at + 1
  while (isOf(data, last, NAME_CHAR) || data[last] === HASH) last++
  // The text includes the next whole character, which shows that the reference has ended.
  const text = data.toString('utf8', at, Math.min(end, last + 4, at + (limits.name + 1) * 4))
  const found = entityAt(text, doctypeSeen, limits.name)
  if (found === null) return NEED_MORE
  if (typeof found === 'number') return at + Buffer.byteLength(text.slice(0, found))
  stop({ ...found, at: base + at })
}

/**
 * entityAt returns the end or the fault of the reference at the beginning of `text`; null if the reference is
 * unfinished and not longer than `longest`. `doctype` says that the document has an external DTD, which could declare
 * the entity.
 */
export function entityAt(text: string, doctype: boolean, longest: number): TokenEnd {
  const match = REFERENCE.exec(text)
  if (match === null) {
    if (text.length <= longest && UNFINISHED.test(text)) return null
    return notWellFormed('"&" must be written "&amp;"', 0)
  }
  const [whole, hex, decimal, name] = match
  if (name !== undefined) {
    if (PREDEFINED.has(name)) return whole.length
    return { code: 'undefined-entity', reason: undefinedEntity(name, doctype), at: 0 }
  }
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  if (isXmlCharacter(code)) return whole.length
  const reason = `"${short(whole)}" stands for a character that XML does not allow; leave it out`
  return notWellFormed(reason, 0)
}

function undefinedEntity(name: string, doctype: boolean): string {
  const entity = `"&${short(name)};"`
  const code = HTML.get(name)
  if (code !== undefined) {
    return `${entity} is an HTML entity that XML does not know; write "&#${code};" or the character itself`
  }
  if (doctype) {
    return `the entity ${entity} could only be declared in the external DTD, which is never fetched; write the character itself`
  }
  return `the entity ${entity} is not declared; a "&" as text must be written "&amp;"`
}
