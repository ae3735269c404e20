// Checks a document type declaration (XML 1.0 §2.8). Without an internal subset it passes and nothing
// is fetched; with one it is refused, so that entity bombs and external entities cannot exist.

import { NC_NAME } from './characters.ts'
import { type Fault, type Look, notWellFormed } from './fault.ts'

/** Longer ones are refused; the public ones have some 150 characters. */
export const LONGEST_DOCTYPE = 4_000

const REFUSED =
  'the DOCTYPE has an internal subset ("[...]"), which is refused because it can declare entities; leave it out'

const S = '[ \\t\\r\\n]'
const SYSTEM = `(?:"[^"]*"|'[^']*')`
const PUBLIC = `(?:"[ \\r\\na-zA-Z0-9\\-'()+,./:=?;!*#@$_%]*"|'[ \\r\\na-zA-Z0-9\\-()+,./:=?;!*#@$_%]*')`
const WHOLE = new RegExp(
  `^<!DOCTYPE${S}+(${NC_NAME}(?::${NC_NAME})?)(?:${S}+(?:SYSTEM${S}+${SYSTEM}|PUBLIC${S}+${PUBLIC}${S}+${SYSTEM}))?${S}*([>[])`,
  'u',
)
/** Every beginning of a declaration. */
const EXTERNAL = [
  prefixesOf('SYSTEM'),
  prefixesOf('PUBLIC'),
  `SYSTEM${S}+(?:"[^"]*|'[^']*|${SYSTEM}${S}*)?`,
  `PUBLIC${S}+(?:"[^"]*|'[^']*|${PUBLIC}|${PUBLIC}${S}+(?:"[^"]*|'[^']*|${SYSTEM}${S}*)?)?`,
].join('|')
const UNFINISHED = new RegExp(
  `^<!DOCTYPE(?:${S}+(?:${NC_NAME}(?::(?:${NC_NAME})?)?(?:${S}+(?:${EXTERNAL})?)?)?)?$`,
  'u',
)

/** `S|SY|SYS…`: what a word may be so far. */
function prefixesOf(word: string): string {
  return Array.from(word, (_, at) => word.slice(0, at + 1)).join('|')
}

/** Looks at the `<!` that `text` begins with. `late`: the root or another declaration came before. */
export function doctypeAt(text: string, late: boolean): Look {
  if (!text.startsWith('<!DOCTYPE')) {
    // Only HTML writes it in other letters.
    if (/d/i.test(text[2] ?? '')) return HTML
    return notWellFormed('"<!" must be followed by "--", "[CDATA[" or "DOCTYPE"', 0)
  }
  if (late) {
    return notWellFormed('a DOCTYPE may stand only once, and only before the root element', 0)
  }
  const [whole, name, end] = WHOLE.exec(text) ?? []
  if (name?.toLowerCase() === 'html') return HTML
  if (end === '[') return { code: 'doctype-refused', reason: REFUSED, at: 0 }
  if (whole !== undefined) return whole.length
  if (text.length <= LONGEST_DOCTYPE && UNFINISHED.test(text)) return null
  const reason =
    'the DOCTYPE is not written correctly; it must read like <!DOCTYPE source SYSTEM "feed.dtd">'
  return notWellFormed(reason, 0)
}

export const HTML_PAGE =
  'the file is an HTML page, not an XML feed; the export may have saved an error or login page'
const HTML: Fault = { code: 'html', reason: HTML_PAGE, at: 0 }
