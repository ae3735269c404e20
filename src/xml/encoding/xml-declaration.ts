// Reads `<?xml version="1.0" encoding="…" standalone="…"?>` (XML 1.0 §2.8) from the decoded start of
// a document, and knows of every prefix whether it can still become one.

import { type Fault, notWellFormed } from '../fault.ts'

export type Declaration =
  /** The document begins with something else. */
  | { kind: 'none' }
  | { kind: 'more' }
  | {
      kind: 'declaration'
      length: number
      encoding: { name: string; at: number } | null
    }
  | { kind: 'fault'; fault: Fault }

/** Longer ones are refused: only white space can make a declaration this long. */
export const LONGEST_DECLARATION = 1_000

const S = '[ \\t\\r\\n]'
const WHOLE = new RegExp(
  `^<\\?xml${S}+version${S}*=${S}*(["'])1\\.[0-9]+\\1` +
    `(?:${S}+encoding${S}*=${S}*(["'])(?<encoding>[A-Za-z][A-Za-z0-9._-]*)\\2)?` +
    `(?:${S}+standalone${S}*=${S}*(["'])(?:yes|no)\\4)?${S}*\\?>`,
  'd',
)
const PREFIXES = prefixes()

export function readDeclaration(text: string): Declaration {
  if (!/^<\?xml[ \t\r\n]/.test(text)) {
    return { kind: text.length < 6 && '<?xml '.startsWith(text) ? 'more' : 'none' }
  }
  const match = WHOLE.exec(text)
  if (match !== null) {
    const name = match.groups?.encoding
    const at = match.indices?.groups?.encoding?.[0] ?? 0
    const encoding = name === undefined ? null : { name, at }
    return { kind: 'declaration', length: match[0].length, encoding }
  }
  const viable = Math.max(...PREFIXES.map((prefix) => prefix.exec(text)?.[0].length ?? 0))
  if (viable === text.length && viable < LONGEST_DECLARATION) return { kind: 'more' }
  return {
    kind: 'fault',
    fault: notWellFormed(
      'the XML declaration is misspelt here; it must read like <?xml version="1.0" encoding="UTF-8"?>',
      viable,
    ),
  }
}

/** One expression for each form of the declaration, each matching its longest correct beginning. */
function prefixes(): RegExp[] {
  const attribute = (name: string, quote: string, value: string[]) => [
    `${S}+`,
    ...name,
    `${S}*`,
    '=',
    `${S}*`,
    quote,
    ...value,
    quote,
  ]
  const quotes = ['"', "'"]
  const version = quotes.map((q) => attribute('version', q, ['1', '\\.', '[0-9]+']))
  const encoding = quotes.map((q) => attribute('encoding', q, ['[A-Za-z]', '[A-Za-z0-9._-]*']))
  const standalone = quotes.flatMap((q) => [
    attribute('standalone', q, [...'yes']),
    attribute('standalone', q, [...'no']),
  ])
  const forms = version.flatMap((v) =>
    [[], ...encoding].flatMap((e) => [[], ...standalone].map((s) => [...v, ...e, ...s])),
  )
  return forms.map((form) => {
    const atoms = [...'<', '\\?', ...'xml', ...form, `${S}*`, '\\?', '>']
    return new RegExp(`^${atoms.reduceRight((rest, atom) => `(?:${atom}${rest})?`, '')}`)
  })
}
