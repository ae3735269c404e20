// Checks what stands before and after the root element, where only white space may stand between
// tags, comments and processing instructions (XML 1.0 §2.1).

import { type Look, notWellFormed } from './fault.ts'

const NOT_SPACE = /[^ \t\r\n]/g
/** Characters that tell the formats apart that are no XML. */
const TELLING = 3

/** Looks at `text` from `at` to `end`. `after`: the root element is over. `final`: nothing follows. */
export function outsideText(
  text: string,
  at: number,
  end: number,
  after: boolean,
  final: boolean,
): Look {
  NOT_SPACE.lastIndex = at
  const found = NOT_SPACE.exec(text)
  if (found === null || found.index >= end) return { kind: 'token', end }
  const { index } = found
  if (found[0] === '\ufeff') {
    const reason = 'there is a byte order mark in the middle of the file'
    return { kind: 'fault', fault: notWellFormed(reason, index) }
  }
  if (after) {
    const reason = 'there is text after the end of the root element'
    return { kind: 'fault', fault: notWellFormed(reason, index) }
  }
  if (end === text.length && end - index < TELLING && !final) {
    return index === at ? { kind: 'more' } : { kind: 'token', end: index }
  }
  return { kind: 'fault', fault: { ...foreignText(text.slice(index, index + TELLING)), at: index } }
}

/** Text in front of the root, with a name where it is a format of its own. */
function foreignText(text: string): { code: string; reason: string } {
  if (/^[[{]/.test(text)) {
    return { code: 'json', reason: 'the file is JSON, not XML; export the feed as XML' }
  }
  if (/^b["']</.test(text)) {
    return {
      code: 'not-well-formed',
      reason:
        "the file holds a Python bytes literal (b'…') instead of the XML itself; write the bytes, not their printed form",
    }
  }
  return {
    code: 'not-well-formed',
    reason: 'there is text before the root element; the document must begin with "<"',
  }
}
