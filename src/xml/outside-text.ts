// Checks what stands before and after the root element, where only white space may stand between
// tags, comments and processing instructions (XML 1.0 §2.1).

import { type Look, notWellFormed } from './fault.ts'

/** Characters that tell the formats apart that are no XML: JSON may be indented. */
export const TELLING = 64
/** An object, or an array of objects, arrays or words: a template and a line of an error begin with a bracket, too. */
const JSON_BEGINS = /^(?:\{\s*["}]|\[\s*(?:[{"\]]|\[\s*[{["\]]))/

/** Looks at text that begins with no white space. `after`: the root element is over. `final`: nothing follows. */
export function outsideText(text: string, after: boolean, final: boolean): Look {
  if (text.startsWith('\ufeff')) {
    return notWellFormed('there is a byte order mark in the middle of the file', 0)
  }
  if (after) return notWellFormed('there is text after the end of the root element', 0)
  if (text.length < TELLING && !final) return null
  if (JSON_BEGINS.test(text.slice(0, TELLING))) {
    const reason = 'the file is JSON, not XML; export the feed as XML'
    return { code: 'json', reason, at: 0 }
  }
  if (/^b["']</.test(text)) {
    const reason =
      "the file holds a Python bytes literal (b'…') instead of the XML itself; write the bytes, not their printed form"
    return notWellFormed(reason, 0)
  }
  const reason = 'there is text before the root element; the document must begin with "<"'
  return notWellFormed(reason, 0)
}
