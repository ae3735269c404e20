// Reads `<?xml version="1.0" encoding="…" standalone="…"?>` (XML 1.0 §2.8) from the decoded start of
// a document, and knows of every prefix whether it can still become one.

import { type Fault, notWellFormed } from '../fault.ts'

export interface Declaration {
  /** Characters; 0: the document begins with something else. */
  length: number
  encoding: { name: string; at: number } | null
}

/** Longer ones are refused: only white space can make a declaration this long. */
export const LONGEST_DECLARATION = 1_000

const S = '[ \\t\\r\\n]'
const WHOLE = new RegExp(
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
  const match = WHOLE.exec(text)
  if (match !== null) {
    const name = match.groups?.encoding
    const at = match.indices?.groups?.encoding?.[0] ?? 0
    return { length: match[0].length, encoding: name === undefined ? null : { name, at } }
  }
  const viable = BEGINNING.exec(text)?.[0].length ?? 0
  if (viable === text.length && viable < LONGEST_DECLARATION) return null
  const reason =
    'the XML declaration is misspelt here; it must read like <?xml version="1.0" encoding="UTF-8"?>'
  return notWellFormed(reason, viable)
}

/** The longest correct beginning: what comes next always tells by its first character which way to go. */
const BEGINNING = (() => {
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
