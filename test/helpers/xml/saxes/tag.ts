// Checks the beginning of a tag: "<" or "</", a name, and whether a tag is allowed here.

import { NAME_START } from '../../../../src/xml/characters.ts'
import { notWellFormed, shown, type TokenEnd } from '../../../../src/xml/fault.ts'

const STARTS_NAME = new RegExp(NAME_START, 'uy')

/** tagAt checks the tag at `at`, and returns where its name begins. `depth` is the number of open elements. */
export function tagAt(text: string, at: number, depth: number, rootSeen: boolean): TokenEnd {
  const closing = text[at + 1] === '/'
  const name = closing ? at + 2 : at + 1
  if (name >= text.length) return null
  STARTS_NAME.lastIndex = name
  if (!STARTS_NAME.test(text)) {
    const character = shown(String.fromCodePoint(text.codePointAt(name) ?? 0))
    return notWellFormed(
      closing
        ? `an end tag must have a name after "</", not ${character}`
        : '"<" must be written "&lt;"',
      at,
    )
  }
  if (depth > 0) return name
  if (closing) return notWellFormed('there is an end tag without a start tag', at)
  if (!rootSeen) return name
  const reason = 'there is a second root element; one element must contain all postings'
  return { code: 'several-roots', reason, at }
}
