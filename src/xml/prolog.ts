// Checks what stands around the root element (XML 1.0 §2.1, §2.6, §2.8): the XML declaration, the DOCTYPE, processing
// instructions, and text that may not stand there.

import { NC_NAME } from './characters.ts'
import { type Fault, type Look, notWellFormed, shown } from './fault.ts'
import { tooLong } from './limits.ts'

const S = '[ \\t\\r\\n]'

// The XML declaration: <?xml version="1.0" encoding="…" standalone="…"?>

export interface Declaration {
  /** Characters; 0: the document begins with something else. */
  length: number
  encoding: { name: string; at: number } | null
}

/** Longer ones are refused: only white space can make a declaration this long. */
export const LONGEST_DECLARATION = 1_000

const WHOLE_DECLARATION = new RegExp(
  `^<\\?xml${S}+version${S}*=${S}*(["'])1\\.[0-9]+\\1` +
    `(?:${S}+encoding${S}*=${S}*(["'])(?<encoding>[A-Za-z][A-Za-z0-9._-]*)\\2)?` +
    `(?:${S}+standalone${S}*=${S}*(["'])(?:yes|no)\\4)?${S}*\\?>`,
  'd',
)

/** Null: that can be told only when more is there. */
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
  const viable = DECLARATION_BEGINNING.exec(text)?.[0].length ?? 0
  if (viable === text.length && viable < LONGEST_DECLARATION) return null
  const reason =
    'the XML declaration is misspelt here; it must read like <?xml version="1.0" encoding="UTF-8"?>'
  return notWellFormed(reason, viable)
}

/** The longest correct beginning: what comes next always tells by its first character which way to go. */
const DECLARATION_BEGINNING = (() => {
  /** The parts one after the other, as far as they go; what follows the last of them is `rest`. */
  const chain = (parts: string[], rest = '') =>
    parts.reduceRight((next, part) => `${part}(?:${next})?`, rest)
  const attribute = (name: string, values: string[][], rest: string) =>
    chain(
      [...name, `${S}*`, '=', `${S}*`],
      ['"', "'"]
        .map((quote) => chain([quote], values.map((v) => chain([...v, quote], rest)).join('|')))
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

// The DOCTYPE. Without an internal subset it passes and nothing is fetched; with one it is refused, so that entity
// bombs and external entities cannot exist.

/** Longer ones are refused; the public ones have some 150 characters. */
export const LONGEST_DOCTYPE = 4_000

const REFUSED =
  'the DOCTYPE has an internal subset ("[...]"), which is refused because it can declare entities; leave it out'

const SYSTEM = `(?:"[^"]*"|'[^']*')`
const PUBLIC = `(?:"[ \\r\\na-zA-Z0-9\\-'()+,./:=?;!*#@$_%]*"|'[ \\r\\na-zA-Z0-9\\-()+,./:=?;!*#@$_%]*')`
const WHOLE_DOCTYPE = new RegExp(
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
const UNFINISHED_DOCTYPE = new RegExp(
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
  const [whole, name, end] = WHOLE_DOCTYPE.exec(text) ?? []
  if (name?.toLowerCase() === 'html') return HTML
  if (end === '[') return { code: 'doctype-refused', reason: REFUSED, at: 0 }
  if (whole !== undefined) return whole.length
  if (text.length <= LONGEST_DOCTYPE && UNFINISHED_DOCTYPE.test(text)) return null
  const reason =
    'the DOCTYPE is not written correctly; it must read like <!DOCTYPE source SYSTEM "feed.dtd">'
  return notWellFormed(reason, 0)
}

export const HTML_PAGE =
  'the file is an HTML page, not an XML feed; the export may have saved an error or login page'
const HTML: Fault = { code: 'html', reason: HTML_PAGE, at: 0 }

// Processing instructions: a name, and then white space or the end.

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

// Text: only white space may stand there.

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
