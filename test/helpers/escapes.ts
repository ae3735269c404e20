// The ways in which another host may write down what it was sent, and how much of a secret can be read in a text.

const chars = (write: (c: string, code: number) => string) => (text: string) =>
  [...text].map((c) => write(c, c.codePointAt(0) ?? 0)).join('')
const hex = (code: number, size = 2) => code.toString(16).padStart(size, '0')
const odd = chars((c, code) => (/[a-z0-9]/i.test(c) ? c : `&#x${hex(code)};`))

export const ESCAPES: Record<string, (text: string) => string> = {
  'as it is': (text) => text,
  JSON: (text) => JSON.stringify(text),
  'JSON with \\/': (text) => JSON.stringify(text).replaceAll('/', '\\/'),
  'JSON, all \\u': chars((_, code) => `\\u${hex(code, 4)}`),
  'JSON, all \\U in capitals': chars((_, code) => `\\u${hex(code, 4).toUpperCase()}`),
  'JavaScript \\x': chars((_, code) => `\\x${hex(code)}`),
  'JavaScript \\u{}': chars((_, code) => `\\u{${hex(code)}}`),
  URL: encodeURIComponent,
  'URL in small letters': (text) =>
    encodeURIComponent(text).replace(/%../g, (one) => one.toLowerCase()),
  'URL, all': chars((_, code) => `%${hex(code)}`),
  'form (+ for a space)': (text) => new URLSearchParams({ a: text }).toString(),
  XML: (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`),
  'XML in hex': odd,
  'XML in hex with zeros and capitals': chars((_, code) => `&#x0000${hex(code).toUpperCase()};`),
  'XML in decimal without semicolons': chars((_, code) => `&#${code} `),
  'HTML names': (text) =>
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('"', '&quot;')
      .replaceAll('/', '&sol;')
      .replaceAll('+', '&plus;')
      .replaceAll('=', '&equals;'),
  'Base64 of URLs without padding': (text) =>
    text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
  'broken into lines': (text) => text.replace(/.{6}/g, '$&\n '),
  'with zero width spaces': (text) => text.replace(/.{3}/gs, '$&\u200b'),
  'in capitals': (text) => text.toUpperCase(),
  'in small letters, as in a host': (text) => text.toLowerCase(),
  'Base64 of it': (text) => Buffer.from(text).toString('base64'),
  'hex of it': (text) => Buffer.from(text).toString('hex').toUpperCase(),
}

/** How many letters and digits of a secret, of its Base64 or of its hex stand side by side in a text. */
export function leakOf(secret: string, text: string): number {
  const letters = (one: string) => one.toLowerCase().replace(/[^a-z0-9]/g, '')
  const forms = [
    secret,
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('hex'),
  ]
  const shown = letters(text)
  let longest = 0
  for (const form of forms.map(letters))
    for (let from = 0; from < form.length; from++)
      while (from + longest < form.length && shown.includes(form.slice(from, from + longest + 1)))
        longest++
  return longest
}
