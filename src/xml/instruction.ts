// Checks how a processing instruction begins (XML 1.0 §2.6): a name, and then white space or the end.

import { NC_NAME } from './characters.ts'
import { type Look, notWellFormed, shown } from './fault.ts'
import { tooLong } from './limits.ts'

const TARGET = new RegExp(`<\\?(${NC_NAME})`, 'uy')

/** Looks at the `<?` at `at`; the token ends with the target. */
export function instructionAt(text: string, at: number, longest: number): Look {
  TARGET.lastIndex = at
  const target = TARGET.exec(text)?.[1] ?? ''
  const end = at + 2 + target.length
  if (target.length > longest)
    return { kind: 'fault', fault: tooLong('name', 'a name', longest, at) }
  // "?" ends the target only together with ">".
  if (end >= text.length || (text[end] === '?' && end + 1 === text.length)) return { kind: 'more' }
  if (target.toLowerCase() === 'xml') {
    const reason =
      'the XML declaration may stand only once, as the very first thing in the file, with nothing before it'
    return { kind: 'fault', fault: notWellFormed(reason, at) }
  }
  const parted = /[ \t\r\n]/.test(text[end] ?? '') || text.startsWith('?>', end)
  if (target !== '' && parted) return { kind: 'token', end }
  const character = shown(String.fromCodePoint(text.codePointAt(end) ?? 0))
  const reason = `a processing instruction must begin with "<?", a name and a space, not with ${character}`
  return { kind: 'fault', fault: notWellFormed(reason, end) }
}
