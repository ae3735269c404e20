// The limits of a document, so that reading any document takes bounded memory. Real feeds stay far below. Each limit
// has its own code and message.

import type { Fault } from './fault.ts'

export interface Limits {
  /** Open elements, including the root; the value is also libxml2's default. */
  depth: number
  /** Attributes of one element. */
  attributes: number
  /** Bytes of a name of an element, attribute, entity or processing instruction. */
  name: number
  /** Bytes of one attribute value. */
  attributeValue: number
  /** Bytes of one tag without its attribute values; all its values together may have twice `attributeValue`. */
  tag: number
  /** Bytes of one text, CDATA section, comment or processing instruction, as libxml2's XML_MAX_TEXT_LENGTH. */
  text: number
}

export const LIMITS: Limits = {
  depth: 256,
  attributes: 256,
  name: 1_000,
  attributeValue: 1_000_000,
  tag: 500_000,
  text: 10_000_000,
}

export function tooLong(code: string, what: string, most: number, at: number): Fault {
  const reason = `${what} is longer than ${most.toLocaleString('en-US')} bytes, which no feed needs`
  return { code: `${code}-too-long`, reason, at }
}

export function tooManyAttributes(most: number, at: number): Fault {
  const reason = `a tag has more than ${most} attributes, which no feed needs`
  return { code: 'too-many-attributes', reason, at }
}

export function tooDeep(most: number, at: number): Fault {
  const reason = `elements are nested more than ${most} deep, which no feed needs`
  return { code: 'too-deep', reason, at }
}
