import { constants, generateKeyPairSync, type KeyObject, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { Secret } from '../../../src/lib/secrets.ts'
import { bytesToSign, createSigner, type Signable } from '../../../src/service/signer.ts'

const REQUEST: Signable = {
  method: 'POST',
  path: '/v1/public-api/validate-authorization',
  query: '',
  body: Buffer.alloc(0),
  date: 'Mon, 31 Oct 2022 20:23:10 GMT',
  host: 'api.example.com',
  url: 'https://api.example.com/api/v1/public-api/validate-authorization',
  account: '',
  partner: 'acme',
  partnerAccount: '42',
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const ed = generateKeyPairSync('ed25519')
const TEXT = Buffer.from('what is signed')

const secret = (text: string) => new Secret(text)
const pem = (key: KeyObject, type: 'pkcs1' | 'pkcs8' | 'sec1') =>
  secret(key.export({ format: 'pem', type }).toString())

describe('the signature', () => {
  it('equals the published signature for the published request', () => {
    const sign = createSigner('hmac-sha1', secret('your api secret key'), 'key')

    expect(sign(bytesToSign('{method}{path}?{query};{body};{date}', REQUEST))).toBe(
      '5hY9zBIziUhrAqfEIfSsQB4HddU=',
    )
  })

  // RFC 4231 section 4.3 (test case 2).
  it.each([
    ['hmac-sha256', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
    [
      'hmac-sha512',
      '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554' +
        '9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
    ],
  ] as const)('agrees with the test vector of the standard (%s)', (algorithm, expected) => {
    const sign = createSigner(algorithm, secret('Jefe'), 'key')
    const signature = sign(Buffer.from('what do ya want for nothing?'))

    expect(Buffer.from(signature, 'base64').toString('hex')).toBe(expected)
  })

  it.each([
    ['rsa-sha1', 'pkcs1'],
    ['rsa-sha256', 'pkcs8'],
    ['rsa-sha512', 'pkcs1'],
  ] as const)('is PKCS #1 v1.5 (%s, key in %s)', (algorithm, type) => {
    const sign = createSigner(algorithm, pem(rsa.privateKey, type), 'key')

    const signature = Buffer.from(sign(TEXT), 'base64')

    expect(verify(algorithm.slice(4), TEXT, rsa.publicKey, signature)).toBe(true)
  })

  it('is PSS with a salt as long as the digest (rsa-pss-sha256)', () => {
    const sign = createSigner('rsa-pss-sha256', pem(rsa.privateKey, 'pkcs8'), 'key')
    const pss = { key: rsa.publicKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }

    const signature = Buffer.from(sign(TEXT), 'base64')

    expect(verify('sha256', TEXT, pss, signature)).toBe(true)
  })

  it.each(['sec1', 'pkcs8'] as const)('is DER (ecdsa-p256-sha256, key in %s)', (type) => {
    const sign = createSigner('ecdsa-p256-sha256', pem(ec.privateKey, type), 'key')
    const der = { key: ec.publicKey, dsaEncoding: 'der' as const }

    const signature = Buffer.from(sign(TEXT), 'base64')

    expect(verify('sha256', TEXT, der, signature)).toBe(true)
  })

  it('is plain Ed25519 (ed25519)', () => {
    const sign = createSigner('ed25519', pem(ed.privateKey, 'pkcs8'), 'key')

    const signature = Buffer.from(sign(TEXT), 'base64')

    expect(verify(null, TEXT, ed.publicKey, signature)).toBe(true)
  })

  it('differs for different bytes that are not text, with a key that is not text', () => {
    const sign = createSigner('hmac-sha256', new Secret(Buffer.from([0xff, 0x00])), 'key')

    expect(sign(Buffer.from([0xfe]))).not.toBe(sign(Buffer.from([0xfd])))
  })
})

const PSS_OF_SHA384 = { hashAlgorithm: 'sha384', mgf1HashAlgorithm: 'sha384' }

describe('a key of another kind', () => {
  const kinds = [
    ['rsa-sha256', ec.privateKey, 'holds a prime256v1 key'],
    ['ecdsa-p256-sha256', rsa.privateKey, 'holds an rsa key'],
    ['ed25519', rsa.privateKey, 'holds an rsa key'],
    [
      'ecdsa-p256-sha256',
      generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
      'holds a secp384r1 key',
    ],
  ] as const

  it.each(kinds)(
    'is refused for %s as a configuration error that names its kind',
    (algorithm, key, message) => {
      const create = () => createSigner(algorithm, pem(key, 'pkcs8'), '/etc/key')

      expect(create).toThrow(
        expect.objectContaining({ exitCode: 78, message: expect.stringContaining(message) }),
      )
    },
  )

  it.each([
    ['rsa-sha512', generateKeyPairSync('rsa', { modulusLength: 512 }).privateKey],
    [
      'rsa-pss-sha256',
      generateKeyPairSync('rsa-pss', { modulusLength: 1024, ...PSS_OF_SHA384 }).privateKey,
    ],
  ] as const)(
    'is refused before the first signature if it cannot sign like this (%s)',
    (algorithm, key) => {
      const create = () => createSigner(algorithm, pem(key, 'pkcs8'), '/etc/key')

      expect(create).toThrow(
        expect.objectContaining({ exitCode: 78, message: expect.stringContaining('cannot sign') }),
      )
    },
  )

  it('is refused, not shown, and taken for an hmac secret if it is not PEM', () => {
    const create = () => createSigner('rsa-sha256', secret('hunter2'), '/etc/key')

    expect(create).toThrow(
      expect.objectContaining({
        exitCode: 78,
        message: expect.not.stringContaining('hunter2'),
        hint: expect.stringContaining('hmac'),
      }),
    )
  })

  it('is refused if it needs a passphrase', () => {
    const locked = rsa.privateKey.export({
      ...{ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' },
    })
    const create = () => createSigner('rsa-sha256', secret(locked.toString()), '/etc/key')

    expect(create).toThrow('an encrypted private key')
  })
})

describe('the template', () => {
  it('replaces every name and keeps the text between them', () => {
    const filled = bytesToSign('{host}\n{account}|{partner}|{partnerAccount} {url}{{}}', REQUEST)

    expect(filled.toString()).toBe(`api.example.com\n|acme|42 ${REQUEST.url}{{}}`)
  })

  it('is filled only once, so a value cannot contain a name', () => {
    const values = { ...REQUEST, query: '{date}', body: Buffer.from([0xff, 0xfe]) }

    const filled = bytesToSign('{query}{body}', values)

    expect(filled).toEqual(Buffer.concat([Buffer.from('{date}'), Buffer.from([0xff, 0xfe])]))
  })
})
