// Promise 5: what another host repeats of a secret is not shown, however it writes it down.

import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { excerpt, shownAddress, shownCode, shownOrigin } from '../../src/lib/http-text.ts'
import { keepSecret, redact, redactWhole, rememberForm } from '../../src/lib/redact.ts'

/** Signs that every escape treats differently, two hex digits at its start, Base64 padding at its end. */
const KEY = '41Zq/7w+Xk_9="T-p&R<4;vB%2Fd\\u0041Lm=='
keepSecret(KEY)

const chars = (write: (c: string, code: number) => string) => (text: string) =>
  [...text].map((c) => write(c, c.codePointAt(0) ?? 0)).join('')
const hex = (code: number, size = 2) => code.toString(16).padStart(size, '0')
const odd = chars((c, code) => (/[a-z0-9]/i.test(c) ? c : `&#x${hex(code)};`))

const ESCAPES: Record<string, (text: string) => string> = {
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
const NAMES = Object.keys(ESCAPES)
const write = (name: string, text: string) => ESCAPES[name]?.(text) ?? ''

/** Letters and digits of the key that stand side by side in a text, in whatever way it is read. */
function leaked(shown: string): number {
  const letters = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '')
  const forms = [KEY, Buffer.from(KEY).toString('base64'), Buffer.from(KEY).toString('hex')]
  const text = letters(shown)
  let longest = 0
  for (const form of forms.map(letters))
    for (let from = 0; from < form.length; from++)
      while (text.includes(form.slice(from, from + longest + 1)) && from + longest < form.length)
        longest++
  return longest
}

describe('a known secret', () => {
  it.each(NAMES)('is taken out of a text that repeats it: %s', (name) => {
    const text = `wrong key ${write(name, KEY)}, says the service`

    expect(leaked(redact(text))).toBeLessThan(8)
    expect(redact(text)).toContain('[secret]')
    expect(leaked(excerpt(text))).toBeLessThan(8)
    expect(excerpt(text)).toContain('says the service')
  })

  it('is taken out when two escapes are put around it, in any order', () => {
    const around = [
      'JSON with \\/',
      'URL',
      'URL, all',
      'XML in hex',
      'HTML names',
      'JavaScript \\x',
    ]
    for (const first of around)
      for (const second of around)
        for (const third of ['as it is', ...around]) {
          const text = `(${write(third, write(second, write(first, KEY)))})`
          expect([first, second, third, leaked(redact(text))]).toEqual([
            ...[first, second, third],
            expect.toSatisfy((n: number) => n < 8),
          ])
        }
  })

  it('does not hide behind an escape that begins before it', () => {
    for (const before of ['%', '\\', '\\x', '\\u00', '&#x', '&#', '&', '%25', '\\\\'])
      expect(leaked(redact(`${before}${KEY}`))).toBeLessThan(8)
  })

  it('is taken out when only its beginning, its end or its middle came', () => {
    for (let length = 12; length < KEY.length; length++)
      for (const name of ['as it is', 'URL', 'XML in hex', 'JSON'])
        for (const part of [KEY.slice(0, length), KEY.slice(-length), KEY.slice(3, 3 + length)])
          expect(leaked(redact(write(name, part)))).toBeLessThan(8)
  })

  it('is taken out where an answer is cut', () => {
    const text = `${' '.repeat(16 * 1024 - 20)}${KEY}`
    expect(leaked(excerpt(text))).toBeLessThan(8)
  })

  it('is nowhere in a text that is escaped without end', () => {
    let text = KEY
    for (let n = 0; n < 12; n++) text = encodeURIComponent(text)
    expect(redact(text)).toBe('[secret]')
  })

  it('leaves all other text as it came', () => {
    for (const text of ['', 'a', 'Größe 100 %', 'C:\\feeds\\new', 'a&amp;b %41', '{"a":"\\u0041"}'])
      expect(redact(text)).toBe(text)
  })
})

describe('values that are compared', () => {
  it('lose a whole secret and no fragment of one', () => {
    expect(redactWhole(`Nurses ${KEY}`)).toBe('Nurses [secret]')
    expect(redactWhole(`Nurses ${encodeURIComponent(KEY)}`)).toBe('Nurses [secret]')
    expect(redactWhole(`Nurses ${KEY.slice(0, 20)}`)).toBe(`Nurses ${KEY.slice(0, 20)}`)
  })
})

describe('the secrets of a form', () => {
  const fields: [string, string][] = [
    ['key', 'incoming/acme.xml'],
    ['policy', hash('shake256', 'policy', { outputEncoding: 'base64', outputLength: 1500 })],
    ['x-store-credential', 'ACCESSKEYOFTHETESTS/20260102/eu-central-1/store/request'],
    ['x-store-date', '20260102T030405Z'],
    ['x-store-signature', '0f'.repeat(32)],
  ]
  const own = rememberForm(fields, ['https://s.example/?sig=token-of-the-address&v=4'])

  it('are found in part, but not the date and region of a credential', () => {
    const [, policy] = fields[1] as [string, string]
    const said = `at 20260102T030405Z eu-central-1 ${policy.slice(0, 40)} ${policy.slice(900, 940)}`
    expect(redact(said, own)).toBe('at 20260102T030405Z eu-central-1 [secret] [secret]')
    expect(redact('token-of-the-address', own)).toBe('[secret]')
    expect(redact('ACCESSKEYOFTHETESTS', own)).toBe('[secret]')
    expect(redact('ACCESSKEYOFTHETESTS/20260102/eu-central-1/store/request', own)).toBe('[secret]')
  })

  it('stay known to those who use the form, however many forms follow', () => {
    for (let n = 0; n < 1000; n++) rememberForm([['policy', `another policy, number ${n}`]], [])
    expect(redact('0f'.repeat(32))).not.toBe('[secret]')
    expect(redact('0f'.repeat(32), own)).toBe('[secret]')
  })
})

describe('what is shown of another host', () => {
  it('is a code only when it is a word without a secret', () => {
    expect(shownCode('AccessDenied')).toBe('AccessDenied')
    expect(shownCode('XMinioStorageFull.v2')).toBe('XMinioStorageFull.v2')
    const key = KEY.replace(/[^A-Za-z0-9]/g, '')
    for (const code of [`A${key}`, `Key.${key.slice(0, 12)}`, '4xx', 'a b', 'a'.repeat(65), ''])
      expect(shownCode(code)).toBeNull()
  })

  it('is an address without user, query and fragment', () => {
    expect(shownAddress('https://u:p@a.example:8443/b%20c.xml?t=1#f')).toBe(
      'https://a.example:8443/b%20c.xml',
    )
    expect(shownAddress(`https://a.example/${encodeURIComponent(KEY)}/b.xml`)).toBe(
      'https://a.example/[secret]/b.xml',
    )
    for (const none of ['', 'b.xml', 'data:text/plain,x', 'mailto:u@a.example'])
      expect(shownAddress(none)).toBeNull()
  })

  it('is the origin of an address, without a secret in its host', () => {
    const host = KEY.replace(/[^A-Za-z0-9]/g, '')
    expect(shownOrigin(new URL(`https://u:p@${host}.example:8443/x?y`))).toBe(
      'https://[secret].example:8443',
    )
  })

  it.each([
    ['go to https://u:p@ss@a.example/b?token=1#c now', 'go to https://a.example/b now'],
    ['{"to":"https:\\/\\/u:p@a.example\\/b?t=1"}', '{"to":"https://a.example/b"}'],
    ['see //u:p@a.example/b', 'see //a.example/b'],
    ['GET /v1/b?sig=abc failed', 'GET /v1/b failed'],
    ['https%3A%2F%2Fu%3Ap%40a.example%2Fb%3Ft%3D1', 'https://a.example/b'],
  ])('are the addresses in a sentence without what may be secret: %s', (text, shown) => {
    expect(excerpt(text)).toBe(shown)
  })
})
