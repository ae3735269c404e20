// Checks how a processing instruction begins (XML 1.0 §2.6): a name, and then white space or the end.

import { NC_NAME } from './characters.ts'
import { type Look, notWellFormed, shown } from './fault.ts'
import { tooLong } from './limits.ts'

const TARGET = new RegExp(`^<\\?(${NC_NAME})`, 'u')

/** Looks at the `<?` that `text` begins with; the token ends with the target. */
export function instructionAt(text: string, longest: number): Look {
  const target = TARGET.exec(text)?.[1] ?? ''
  const end = 2 + target.length
  if (target.length > longest) return tooLong('name', 'a name', longest, 0)
  // "?" ends the target only together with ">".
  if (end >= text.length || (text[end] === '?' && end + 1 === text.length)) return null
  if (target.toLowerCase() === 'xml') {
    const reason =
      'the XML declaration may stand only once, as the very first thing in the file, with nothing before it'
    return notWellFormed(reason, 0)
  }
  const parted = /[ \t\r\n]/.test(text[end] ?? '') || text.startsWith('?>', end)
  if (target !== '' && parted) return end
  const character = shown(String.fromCodePoint(text.codePointAt(end) ?? 0))
  const reason = `a processing instruction must begin with "<?", a name and a space, not with ${character}`
  return notWellFormed(reason, end)
}
