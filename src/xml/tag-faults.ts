// What is said of a tag that is not right, and of a byte inside one that may not stand there.

import { SLASH } from './bytes.ts'
import { isXmlCharacter } from './characters.ts'
import { type Fault, notAllowed, notWellFormed, short, shown } from './fault.ts'
import type { Input } from './input.ts'
import type { Name } from './names.ts'

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

/** The character at `at`, where no document may have it: what must be left out is named first. */
export function forbiddenAt(input: Input, at: number): Fault | null {
  const character = characterAt(input, at)
  if (isXmlCharacter(character.codePointAt(0) ?? 0)) return null
  return notWellFormed(notAllowed(character), input.base + at)
}

/** The character at `at` has no place in the tag at `markup`. */
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

/** `first` stands where the name of a tag must begin. */
export function noName(first: string, closing: boolean, at: number): Fault {
  const reason = closing
    ? `an end tag must have a name after "</", not ${shown(first)}`
    : '"<" must be written "&lt;"'
  return notWellFormed(reason, at)
}

/** QName (Namespaces production 7). */
export function malformedName({ text }: Name): string {
  return `"${short(text)}" is not a name: a ":" must stand between a prefix and a name, once`
}

/** NCName (Namespaces production 4). */
export function badLocalName({ text }: Name): string {
  return `"${short(text)}" is not a name: what follows the ":" must begin with a letter or "_"`
}

/** Element Type Match (§3). `openedAt`: where the start tag is. */
export function unmatched(name: Name, element: Name, at: number, openedAt: number): Fault {
  const reason = `the end tag </${short(name.text)}> does not match <${short(element.text)}> opened in line {line}`
  return { ...notWellFormed(reason, at), reference: openedAt }
}
