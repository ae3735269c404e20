// The limits of a document, so that reading any document takes bounded memory. Each limit has its own code and message,
// and its row in docs/feeds.md.

import type { Fault } from './fault.ts'

export interface Limits {
  /** Open elements, including the root; the value is also libxml2's default. */
  depth: number
  /** Attributes of one element. */
  attributes: number
  /** Bytes of a name of an element, attribute, entity or processing instruction. */
  name: number
  /** Bytes of the attribute values of one tag. All values of a tag are in memory at once. */
  attributeValue: number
  /** Bytes of one tag without its attribute values. */
  tag: number
  /** Bytes of one text, CDATA section, comment or processing instruction. */
  text: number
}

export const LIMITS: Limits = {
  depth: 256,
  attributes: 256,
  name: 1_000,
  attributeValue: 64 * 2 ** 20,
  tag: 500_000,
  text: 64 * 2 ** 20,
}

export function tooLong(code: string, what: string, most: number, at: number): Fault {
  const reason = `${what} is longer than ${most.toLocaleString('en-US')} bytes, which is the limit`
  return { code: `${code}-too-long`, reason, at }
}

export function tooManyAttributes(most: number, at: number): Fault {
  const reason = `a tag has more than ${most} attributes, which is the limit`
  return { code: 'too-many-attributes', reason, at }
}

export function tooDeep(most: number, at: number): Fault {
  const reason = `elements are nested more than ${most} deep, which is the limit`
  return { code: 'too-deep', reason, at }
}
