// How much of one thing a document may have, so that reading it takes bounded memory whatever is in
// it. Real feeds stay far below; what goes over is reported with a code and a sentence of its own.

export interface Limits {
  /** Open elements, the root included (libxml2's default too). */
  depth: number
  /** Attributes of one element. */
  attributes: number
  /** Characters of a name of an element, attribute, entity or processing instruction. */
  name: number
  /** Characters of one attribute value. */
  attributeValue: number
  /** Characters of one tag without its attribute values. */
  tag: number
  /** Characters of one text, CDATA section, comment or processing instruction (libxml2's XML_MAX_TEXT_LENGTH). */
  text: number
}

export const LIMITS: Limits = {
  depth: 256,
  attributes: 256,
  name: 1_000,
  attributeValue: 100_000,
  tag: 500_000,
  text: 10_000_000,
}
