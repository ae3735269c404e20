// Checks a document type declaration (XML 1.0 §2.8). Without an internal subset it passes and nothing
// is fetched; with one it is refused, so that entity bombs and external entities cannot exist.

import { NC_NAME } from './characters.ts'
import { type Look, notWellFormed } from './fault.ts'

/** Longer ones are refused; the public ones have some 150 characters. */
export const LONGEST_DOCTYPE = 4_000

const REFUSED =
  'the DOCTYPE has an internal subset ("[...]"), which is refused because it can declare entities; leave it out'

const S = '[ \\t\\r\\n]'
const SYSTEM = `(?:"[^"]*"|'[^']*')`
const PUBLIC = `(?:"[ \\r\\na-zA-Z0-9\\-'()+,./:=?;!*#@$_%]*"|'[ \\r\\na-zA-Z0-9\\-()+,./:=?;!*#@$_%]*')`
const WHOLE = new RegExp(
  `<!DOCTYPE${S}+(${NC_NAME}(?::${NC_NAME})?)(?:${S}+(?:SYSTEM${S}+${SYSTEM}|PUBLIC${S}+${PUBLIC}${S}+${SYSTEM}))?${S}*([>[])`,
  'uy',
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

/** Looks at the `<!` at `at`. `late`: the root or another declaration came before. */
export function doctypeAt(text: string, at: number, late: boolean): Look {
  const wrong = (reason: string): Look => ({ kind: 'fault', fault: notWellFormed(reason, at) })
  if (!text.startsWith('<!DOCTYPE', at)) {
    // Only HTML writes it in other letters.
    if (/d/i.test(text[at + 2] ?? '')) return html(at)
    return wrong('"<!" must be followed by "--", "[CDATA[" or "DOCTYPE"')
  }
  if (late) {
    return wrong('a DOCTYPE may stand only once, and only before the root element')
  }
  WHOLE.lastIndex = at
  const match = WHOLE.exec(text)
  if (match?.[1]?.toLowerCase() === 'html') return html(at)
  if (match?.[2] === '[') {
    return { kind: 'fault', fault: { code: 'doctype-refused', reason: REFUSED, at } }
  }
  if (match !== null) return { kind: 'token', end: at + match[0].length }
  const rest = text.slice(at, at + LONGEST_DOCTYPE + 1)
  if (at + rest.length === text.length && rest.length <= LONGEST_DOCTYPE && UNFINISHED.test(rest)) {
    return { kind: 'more' }
  }
  return wrong(
    'the DOCTYPE is not written correctly; it must read like <!DOCTYPE source SYSTEM "feed.dtd">',
  )
}

function html(at: number): Look {
  return { kind: 'fault', fault: { code: 'html', reason: HTML_PAGE, at } }
}

export const HTML_PAGE =
  'the file is an HTML page, not an XML feed; the export may have saved an error or login page'
