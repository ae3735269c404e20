// Checks one entity or character reference (XML 1.0 §4.1). Only the five predefined entities exist:
// nothing that could declare another one is ever read.

import { isXmlCharacter, NAME } from './characters.ts'
import { type Look, notWellFormed, short } from './fault.ts'

const REFERENCE = new RegExp(`&(?:#(?:x([0-9a-fA-F]+)|([0-9]+))|(${NAME}));`, 'uy')
const UNFINISHED = new RegExp(`^&(?:#(?:x[0-9a-fA-F]*|[0-9]*)|${NAME})?$`, 'u')
const PREDEFINED = new Set(['amp', 'lt', 'gt', 'quot', 'apos'])

/** The names that editors and templates put into feeds most, with what to write for them. */
const HTML = new Map(
  `nbsp 160, copy 169, reg 174, laquo 171, raquo 187, middot 183, auml 228, ouml 246, uuml 252,
  Auml 196, Ouml 214, Uuml 220, szlig 223, agrave 224, aacute 225, ccedil 231, egrave 232,
  eacute 233, ecirc 234, ntilde 241, oacute 243, ndash 8211, mdash 8212, lsquo 8216,
  rsquo 8217, ldquo 8220, rdquo 8221, bull 8226, hellip 8230, euro 8364, trade 8482`
    .split(/,\s+/)
    .map((pair) => pair.split(' ') as [name: string, code: string]),
)

/** Looks at the `&` at `at`. `doctype`: a DTD that is not read could declare more entities. */
export function entityAt(text: string, at: number, doctype: boolean, longest: number): Look {
  REFERENCE.lastIndex = at
  const match = REFERENCE.exec(text)
  if (match === null) {
    const rest = text.slice(at, at + longest + 1)
    if (at + rest.length === text.length && rest.length <= longest && UNFINISHED.test(rest)) {
      return { kind: 'more' }
    }
    return { kind: 'fault', fault: notWellFormed('"&" must be written "&amp;"', at) }
  }
  const [whole, hex, decimal, name] = match
  if (name !== undefined) {
    if (PREDEFINED.has(name)) return { kind: 'token', end: at + whole.length }
    const reason = undefinedEntity(name, doctype)
    return { kind: 'fault', fault: { code: 'undefined-entity', reason, at } }
  }
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  if (isXmlCharacter(code)) return { kind: 'token', end: at + whole.length }
  const reason = `"${short(whole)}" stands for a character that XML does not allow; leave it out`
  return { kind: 'fault', fault: notWellFormed(reason, at) }
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
  return `the entity ${entity} is not declared; a "&" that is meant as text must be written "&amp;"`
}
