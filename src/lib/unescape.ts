// Undoes one level of the escapes that another host may have written a text with: those of JSON and
// JavaScript, of XML and HTML, and of URLs. Text that no escape is in comes back as it is.

import { isUtf8 } from 'node:buffer'

const ESCAPE =
  /\\u\{([0-9a-f]{1,6})\}|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|\\([0-7]{3})|\\(.)|&#x([0-9a-f]+);?|&#([0-9]+);?|&([a-z]+);?|((?:%[0-9a-f]{2})+)|%u([0-9a-f]{4})/gis

const JSON_LETTERS: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

/** Names that HTML has for the characters of ASCII (HTML Standard section 13.5). */
const ENTITIES: Record<string, string> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', tab: '\t', newline: '\n' },
  ...{ excl: '!', num: '#', dollar: '$', percnt: '%', lpar: '(', rpar: ')', ast: '*', midast: '*' },
  ...{ plus: '+', comma: ',', period: '.', sol: '/', colon: ':', semi: ';', equals: '=' },
  ...{ quest: '?', commat: '@', lsqb: '[', lbrack: '[', bsol: '\\', rsqb: ']', rbrack: ']' },
  ...{ hat: '^', lowbar: '_', underbar: '_', grave: '`', diacriticalgrave: '`', hyphen: '-' },
  ...{ dash: '-', lcub: '{', lbrace: '{', verbar: '|', vert: '|', verticalline: '|' },
  ...{ rcub: '}', rbrace: '}' },
}

export function unescaped(text: string): string {
  if (!/[\\&%]/.test(text)) return text
  return text.replace(
    ESCAPE,
    (whole, braced, unit, byte, octal, after, hex, decimal, name, percent, percentUnit) => {
      const hexDigits: string | undefined = braced ?? unit ?? byte ?? hex ?? percentUnit
      if (hexDigits !== undefined) return character(Number.parseInt(hexDigits, 16), whole)
      if (octal !== undefined) return character(Number.parseInt(octal, 8), whole)
      if (decimal !== undefined) return character(Number.parseInt(decimal, 10), whole)
      if (after !== undefined) return JSON_LETTERS[after] ?? after
      if (name !== undefined) return named(name) ?? whole
      const bytes = Buffer.from(percent.replaceAll('%', ''), 'hex')
      return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
    },
  )
}

function named(name: string): string | undefined {
  const lower = name.toLowerCase()
  return Object.hasOwn(ENTITIES, lower) ? ENTITIES[lower] : undefined
}

function character(code: number, otherwise: string): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : otherwise
}
