// What is said of a byte inside a tag that may not stand there, and of the tag that it stands in.

import { SLASH } from './byte-classes.ts'
import { short, shown } from './fault.ts'
import { type Input, notAllowed } from './input.ts'
import { wrong } from './stopped.ts'
import { isXmlCharacter } from './xml-names.ts'

/** The character at `at`. */
export function characterAt({ data, end }: Input, at: number): string {
  const text = data.toString('utf8', at, Math.min(end, at + 4))
  return String.fromCodePoint(text.codePointAt(0) ?? 0)
}

/** The name of the tag at `markup`, as it reads up to and with the character at `at`. */
export function tagName(input: Input, markup: number, at: number): string {
  const { data } = input
  const from = markup + (data[markup + 1] === SLASH ? 2 : 1)
  const to = at + Buffer.byteLength(characterAt(input, at))
  return short(/^[^ \t\r\n/>=<]*/.exec(data.toString('utf8', from, to))?.[0] ?? '')
}

/** What must be left out is named before what is missing in its place. */
export function refuseForbidden(input: Input, at: number): void {
  const character = characterAt(input, at)
  if (!isXmlCharacter(character.codePointAt(0) ?? 0)) wrong(notAllowed(character), input.base + at)
}

/** The character at `at` has no place in the tag at `markup`. */
export function misplaced(input: Input, markup: number, at: number): never {
  const character = characterAt(input, at)
  const place = input.base + at
  refuseForbidden(input, at)
  const name = tagName(input, markup, at)
  const [tag, sign] = input.data[markup + 1] === SLASH ? ['end tag', '</'] : ['tag', '<']
  if (character === '<') {
    wrong(`the ${tag} ${sign}${name} is not closed: ">" is missing before this "<"`, place)
  }
  wrong(`${shown(character)} is not allowed in the ${tag} ${sign}${name}>`, place)
}
