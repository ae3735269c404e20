// Promise 5: a secret that another program repeats is not shown.

import { describe, expect, it } from 'vitest'
import { shownAddress } from '../../../src/lib/http-text.ts'
import {
  redact,
  redactValue,
  registerSecret,
  registerSecretAddress,
  registerTemporarySecret,
  shownMessage,
  shownName,
} from '../../../src/lib/secrets.ts'
import { ESCAPES } from '../../helpers/escapes.ts'

/** It has characters that each escape writes differently, and Base64 padding at its end. */
const KEY = '41Zq/7w+Xk_9="T-p&R<4;vB%2Fd\\u0041Lm=='
registerSecret(KEY)

describe('a known secret', () => {
  it.each(Object.entries(ESCAPES))('is removed from a text that repeats it: %s', (_, write) => {
    const written = write(KEY)
    const text = `wrong key ${written}, says the service`

    for (const shown of [redact(text), redactValue(text), shownMessage(text)])
      expect(shown).toMatch(/^wrong key "?\[secret\][="]*, says the service$/)
  })

  it('is each line of a PEM key except its BEGIN and END lines', () => {
    registerSecret('-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN/one\nMIIEvQIBADAN/two\n-----END')

    expect(redact('MIIEvQIBADAN/one MIIEvQIBADAN/two')).toBe('[secret] [secret]')
    expect(redact('-----BEGIN PRIVATE KEY-----')).toBe('-----BEGIN PRIVATE KEY-----')
  })

  it('is the path of a webhook and each long part of it, but not its host', () => {
    registerSecretAddress('https://hooks.example/services/T0A1B2/token-of-the-hook?x=1')

    expect(redact('POST /services/T0A1B2/token-of-the-hook?x=1')).toBe('POST [secret]')
    expect(redact('token-of-the-hook at hooks.example')).toBe('[secret] at hooks.example')
  })

  it('is removed whole if it contains another secret', () => {
    registerTemporarySecret('abcdefghijkl')
    registerTemporarySecret('abcdefghijkl/mnopq')

    expect(redact('not abcdefghijkl/mnopq')).toBe('not [secret]')
  })

  it('is forgotten after many others if it was for one request', () => {
    registerTemporarySecret('signature-of-one-request')
    expect(redact('signature-of-one-request')).toBe('[secret]')

    for (let n = 0; n < 1000; n++) registerTemporarySecret(`another signature, number ${n}`)
    expect(redact('signature-of-one-request')).toBe('signature-of-one-request')
  })

  it('stays in compared values if it is short, because it occurs there by chance', () => {
    registerSecret('nurses')

    expect(redact('no nurses')).toBe('no [secret]')
    expect(redactValue('nurses in Bern')).toBe('nurses in Bern')
  })

  it('is found quickly among many secrets that begin alike', () => {
    for (let n = 0; n < 150; n++) registerTemporarySecret('A'.repeat(2000) + n)

    expect(shownMessage('A'.repeat(100_000))).toHaveLength(300)
    expect(redact(`${'A'.repeat(100_000)}7`)).toMatch(/^A+\[secret\]$/)
  })

  it('changes no other text', () => {
    for (const text of ['', 'a', 'Größe 100 %', 'C:\\feeds\\new', 'a&amp;b %41', '{"a":"\\u0041"}'])
      expect(redact(text)).toBe(text)
  })
})

describe('a message of another program', () => {
  it.each([
    ['token FwoGZXIvYXdzE/Q+1a==', 'token [cut]'],
    ['hex 0f0f0f0f0f0f0f0f0f0f', 'hex [cut]'],
    ['?sig=FwoGZXIvYX%2Bzd%2BE%2FQ, no', '?[cut], no'],
    ['a\\/bcdefghijklmnopq&#x2F;r7s', '[cut]'],
    ['AK\u200bIA12\u200b3456\u200b78901234567', '[cut]'],
    ['20 characters: internationalization', '20 characters: internationalization'],
    ['19: 1234567890123456789', '19: 1234567890123456789'],
  ])('loses text that looks like a token: %s', (text, shown) => {
    expect(shownMessage(text)).toBe(shown)
  })

  it('is one line of at most 300 characters', () => {
    expect(shownMessage('  wrong\r\n\tdate\u0007 ')).toBe('wrong date')
    expect(shownMessage('no '.repeat(9999))).toMatch(/^(no )+.{0,3}…$/)
    expect(shownMessage('no '.repeat(9999))).toHaveLength(300)
    expect(shownMessage(`${'no '.repeat(98)}${KEY}`)).toBe(`${'no '.repeat(98)}[secr…`)
  })
})

it('a name of another program is shown if it has 1 to 64 letters, nothing else, and is not a secret', () => {
  registerSecret('LettersOnly')

  expect(shownName('AccessDenied')).toBe('AccessDenied')
  for (const name of ['', 'XMinio.v2', 'A1', 'a b', 'a-b', 'ü', 'a'.repeat(65), 'LettersOnly'])
    expect(shownName(name)).toBeNull()
})

it('an address is shown without user, query, fragment and known secrets, and other texts are not addresses', () => {
  expect(shownAddress('https://u:p@a.example:8443/b%20c.xml?t=1#f')).toBe(
    'https://a.example:8443/b%20c.xml',
  )
  expect(shownAddress(`https://a.example/${encodeURIComponent(KEY)}/b.xml`)).toBe(
    'https://a.example/[secret]/b.xml',
  )
  for (const none of ['', 'b.xml', 'data:text/plain,x', 'mailto:u@a.example'])
    expect(shownAddress(none)).toBeNull()
})
