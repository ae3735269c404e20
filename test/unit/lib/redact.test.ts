// Promise 5: what another host repeats of a secret is not shown, however it writes it down.

import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { excerpt, shownAddress, shownCode, shownOrigin } from '../../../src/lib/http-text.ts'
import { keepSecret, redact, redactWhole, rememberForm } from '../../../src/lib/redact.ts'
import { ESCAPES, leakOf } from '../../helpers/escapes.ts'

/** Signs that every escape treats differently, two hex digits at its start, Base64 padding at its end. */
const KEY = '41Zq/7w+Xk_9="T-p&R<4;vB%2Fd\\u0041Lm=='
keepSecret(KEY)

const NAMES = Object.keys(ESCAPES)
const write = (name: string, text: string) => ESCAPES[name]?.(text) ?? ''

const leaked = (shown: string) => leakOf(KEY, shown)

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

  it('are not its bucket and where it sends a browser, but for the query of that', () => {
    const redirect = 'https://www.store.example/done?session=token-of-the-redirect'
    const more = rememberForm(
      [
        ['bucket', 'feeds-incoming'],
        ['success_action_redirect', redirect],
      ],
      [],
    )
    const shown = shownAddress('https://feeds-incoming.store.example/done', more)
    expect(shown).toBe('https://feeds-incoming.store.example/done')
    expect(redact(redirect, more)).toBe('[secret]')
  })

  it('stay known to those who use the form, however many forms follow', () => {
    for (let n = 0; n < 1000; n++) rememberForm([['policy', `another policy, number ${n}`]], [])
    expect(redact('0f'.repeat(32))).not.toBe('[secret]')
    expect(redact('0f'.repeat(32), own)).toBe('[secret]')
  })
})

it('a token of one letter is found in a text of that letter, and the search ends', () => {
  const own = rememberForm([['x-store-security-token', 'A'.repeat(200_000)]], [])
  const text = 'A'.repeat(16_000)

  expect(redact(`no ${text}, sorry`, own)).toBe('no [secret], sorry')
  expect(redact('AB'.repeat(8_000), own)).not.toBe('[secret]')
})

it('of large forms only the newest are remembered, so that they fill no memory', () => {
  const policies = Array.from({ length: 20 }, (_, n) =>
    hash('shake256', `policy ${n}`, { outputEncoding: 'base64', outputLength: 20_000 }),
  )
  for (const policy of policies) rememberForm([['policy', policy]], [])

  const known = policies.filter((policy) => redact(policy.slice(0, 40)) === '[secret]')
  expect(known).toEqual(policies.slice(-2))
})

describe('what is shown of another host', () => {
  it('is a code only when it is a word without a secret', () => {
    expect(shownCode('AccessDenied')).toBe('AccessDenied')
    expect(shownCode('XMinioStorageFull.v2')).toBe('XMinioStorageFull.v2')
    const key = KEY.replace(/[^A-Za-z0-9]/g, '')
    for (const code of [`A${key}`, `Key.${key.slice(0, 12)}`, '4xx', 'a b', 'a'.repeat(65), ''])
      expect(shownCode(code)).toBeNull()
    // With so few digits that it could be a long word.
    expect(shownCode(btoa('FwoGZ/XIvYX+dzE"Tok&en/+==tail'))).toBeNull()
    expect(shownCode('MaxPostPreDataLengthExceededError')).not.toBeNull()
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
    ['go to https://u:q@zz@a.example/b?token=1#c now', 'go to https://a.example/b now'],
    ['{"to":"https:\\/\\/u:p@a.example\\/b?t=1"}', '{"to":"https://a.example/b"}'],
    ['see //u:p@a.example/b', 'see //a.example/b'],
    ['GET /v1/b?sig=abc failed', 'GET /v1/b failed'],
    ['https%3A%2F%2Fu%3Ap%40a.example%2Fb%3Ft%3D1', 'https://a.example/b'],
  ])('are the addresses in a sentence without what may be secret: %s', (text, shown) => {
    expect(excerpt(text)).toBe(shown)
  })
})
