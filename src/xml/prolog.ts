// Checks the parts around the root element (XML 1.0 §2.1, §2.6, §2.8): the XML declaration, the DOCTYPE, processing
// instructions, and text, which is forbidden there.

import { NC_NAME } from './characters.ts'
import { type Fault, notWellFormed, shown, type TokenEnd } from './fault.ts'
import { tooLong } from './limits.ts'

const S = '[ \\t\\r\\n]'

// The XML declaration: <?xml version="1.0" encoding="…" standalone="…"?>

interface Declaration {
  /** length is in characters; 0 if the document has no XML declaration. */
  length: number
  encoding: { name: string; at: number } | null
}

/** LONGEST_DECLARATION is in characters; only white space can make a declaration longer. */
export const LONGEST_DECLARATION = 1_000

const WHOLE_DECLARATION = new RegExp(
  `^<\\?xml${S}+version${S}*=${S}*(["'])1\\.[0-9]+\\1` +
    `(?:${S}+encoding${S}*=${S}*(["'])(?<encoding>[A-Za-z][A-Za-z0-9._-]*)\\2)?` +
    `(?:${S}+standalone${S}*=${S}*(["'])(?:yes|no)\\4)?${S}*\\?>`,
  'd',
)

/** readDeclaration reads the XML declaration at the beginning of `text`. It returns null if it needs more text. */
export function readDeclaration(text: string): Declaration | Fault | null {
  if (!/^<\?xml[ \t\r\n]/.test(text)) {
    return text.length < 6 && '<?xml '.startsWith(text) ? null : { length: 0, encoding: null }
  }
  const match = WHOLE_DECLARATION.exec(text)
  if (match !== null) {
    const name = match.groups?.encoding
    const at = match.indices?.groups?.encoding?.[0] ?? 0
    return { length: match[0].length, encoding: name === undefined ? null : { name, at } }
  }
  const correct = DECLARATION_BEGINNING.exec(text)?.[0].length ?? 0
  if (correct === text.length && correct < LONGEST_DECLARATION) return null
  const reason =
    'the XML declaration is wrong here; it must look like <?xml version="1.0" encoding="UTF-8"?>'
  return notWellFormed(reason, correct)
}

/** DECLARATION_BEGINNING matches the longest correct beginning; the next character always decides between branches. */
const DECLARATION_BEGINNING = (() => {
  /** chain matches as many of the parts, in order, as it can; `rest` follows the last part. */
  const chain = (parts: string[], rest = '') =>
    parts.reduceRight((next, part) => `${part}(?:${next})?`, rest)
  const attribute = (name: string, values: string[][], rest: string) =>
    chain(
      [...name, `${S}*`, '=', `${S}*`],
      ['"', "'"]
        .map((quote) =>
          chain([quote], values.map((parts) => chain([...parts, quote], rest)).join('|')),
        )
        .join('|'),
    )
  const close = chain(['\\?', '>'])
  const after = (...attributes: string[]) =>
    `${S}+(?:${[...attributes, close].join('|')})?|${close}`
  const standalone = attribute('standalone', [[...'yes'], [...'no']], after())
  const encoding = attribute('encoding', [['[A-Za-z]', '[A-Za-z0-9._-]*']], after(standalone))
  const version = attribute('version', [['1', '\\.', '[0-9]+']], after(encoding, standalone))
  return new RegExp(`^<\\?xml${S}+(?:${version})?`)
})()

// The DOCTYPE. Without an internal subset it passes, and nothing is fetched. With an internal subset it is refused, so
// that entity bombs and external entities are impossible.

/** LONGEST_DOCTYPE is in characters; well-known ones have about 150. */
export const LONGEST_DOCTYPE = 4_000

const REFUSED =
  'the DOCTYPE has an internal subset ("[...]"), which is refused because it can declare entities; leave it out'

const SYSTEM = `(?:"[^"]*"|'[^']*')`
const PUBLIC = `(?:"[ \\r\\na-zA-Z0-9\\-'()+,./:=?;!*#@$_%]*"|'[ \\r\\na-zA-Z0-9\\-()+,./:=?;!*#@$_%]*')`
const WHOLE_DOCTYPE = new RegExp(
  `^<!DOCTYPE${S}+(${NC_NAME}(?::${NC_NAME})?)(?:${S}+(?:SYSTEM${S}+${SYSTEM}|PUBLIC${S}+${PUBLIC}${S}+${SYSTEM}))?${S}*([>[])`,
  'u',
)
/** EXTERNAL matches every beginning of an external identifier. */
const EXTERNAL = [
  prefixesOf('SYSTEM'),
  prefixesOf('PUBLIC'),
  `SYSTEM${S}+(?:"[^"]*|'[^']*|${SYSTEM}${S}*)?`,
  `PUBLIC${S}+(?:"[^"]*|'[^']*|${PUBLIC}|${PUBLIC}${S}+(?:"[^"]*|'[^']*|${SYSTEM}${S}*)?)?`,
].join('|')
const UNFINISHED_DOCTYPE = new RegExp(
  `^<!DOCTYPE(?:${S}+(?:${NC_NAME}(?::(?:${NC_NAME})?)?(?:${S}+(?:${EXTERNAL})?)?)?)?$`,
  'u',
)

/** prefixesOf matches every beginning of a word: `S|SY|SYS…`. */
function prefixesOf(word: string): string {
  return Array.from(word, (_, at) => word.slice(0, at + 1)).join('|')
}

/** doctypeAt reads a text that begins with `<!`. `late` says that the root element or another DOCTYPE came before. */
export function doctypeAt(text: string, late: boolean): TokenEnd {
  if (!text.startsWith('<!DOCTYPE')) {
    // Only HTML writes DOCTYPE in lower case.
    if (/d/i.test(text[2] ?? '')) return HTML
    return notWellFormed('"<!" must be followed by "--", "[CDATA[" or "DOCTYPE"', 0)
  }
  if (late) {
    return notWellFormed('a DOCTYPE may appear only once, and only before the root element', 0)
  }
  const [whole, name, end] = WHOLE_DOCTYPE.exec(text) ?? []
  if (name?.toLowerCase() === 'html') return HTML
  if (end === '[') return { code: 'doctype-refused', reason: REFUSED, at: 0 }
  if (whole !== undefined) return whole.length
  if (text.length <= LONGEST_DOCTYPE && UNFINISHED_DOCTYPE.test(text)) return null
  const reason = 'the DOCTYPE is wrong; it must look like <!DOCTYPE source SYSTEM "feed.dtd">'
  return notWellFormed(reason, 0)
}

export const HTML_PAGE =
  'the file is an HTML page, not an XML feed; the export might have saved an error or login page'
const HTML: Fault = { code: 'html', reason: HTML_PAGE, at: 0 }

// Processing instructions: a name, and then white space or the end.

const TARGET = new RegExp(`^<\\?(${NC_NAME})`, 'u')

/** instructionAt reads a text that begins with `<?`, up to the end of the target, which `longest` limits. */
export function instructionAt(text: string, longest: number): TokenEnd {
  const target = TARGET.exec(text)?.[1] ?? ''
  const end = 2 + target.length
  if (target.length > longest) return tooLong('name', 'a name', longest, 0)
  // "?" ends the target only together with ">".
  if (end >= text.length || (text[end] === '?' && end + 1 === text.length)) return null
  if (target.toLowerCase() === 'xml') {
    const reason = 'the XML declaration may appear only once, at the very beginning of the file'
    return notWellFormed(reason, 0)
  }
  const hasEnded = /[ \t\r\n]/.test(text[end] ?? '') || text.startsWith('?>', end)
  if (target !== '' && hasEnded) return end
  const character = shown(String.fromCodePoint(text.codePointAt(end) ?? 0))
  const reason = `a processing instruction must begin with "<?", a name and a space, not with ${character}`
  return notWellFormed(reason, end)
}

// Text outside the root element: only white space is allowed.

/** FORMAT_CHARACTERS are enough to recognise other formats, such as indented JSON. */
export const FORMAT_CHARACTERS = 64
/** JSON_BEGINS is strict, because templates and error messages can begin with a bracket too. */
const JSON_BEGINS = /^(?:\{\s*["}]|\[\s*(?:[{"\]]|\[\s*[{["\]]))/

/**
 * outsideText returns the fault of text outside the root element; null if more text can show which format it is.
 * `after` says that the root element has ended, and `final` that there is no more text.
 */
export function outsideText(text: string, after: boolean, final: boolean): TokenEnd {
  if (text.startsWith('\ufeff')) {
    return notWellFormed('there is a byte order mark in the middle of the file', 0)
  }
  if (after) return notWellFormed('there is text after the end of the root element', 0)
  if (text.length < FORMAT_CHARACTERS && !final) return null
  if (JSON_BEGINS.test(text.slice(0, FORMAT_CHARACTERS))) {
    const reason = 'the file is JSON, not XML; export the feed as XML'
    return { code: 'json', reason, at: 0 }
  }
  if (/^b["']</.test(text)) {
    const reason =
      "the file holds a Python bytes literal (b'…') instead of the XML itself; write the bytes, not their printed form"
    return notWellFormed(reason, 0)
  }
  return notWellFormed(`there is text before the root element; ${textOrigin(text)}`, 0)
}

/** textOrigin says where the text before a root element probably comes from, or else how a document begins. */
function textOrigin(text: string): string {
  if (text.startsWith('This XML file does not appear')) {
    return 'it was copied from a browser: save the file itself'
  }
  if (/^(?:---|\{\{|\{%|\{[#$]|\$\{)/.test(text))
    return 'it looks like a template: export its result'
  return 'the document must begin with "<"'
}
