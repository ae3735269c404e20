// Verifies the signature of a service request (specification section 5, service-facts "Signing"),
// from the server's side and for every algorithm of `service.auth`. Signs nothing.

import {
  constants,
  createHash,
  createHmac,
  createPublicKey,
  type KeyObject,
  timingSafeEqual,
  verify,
} from 'node:crypto'

export const ALGORITHMS = [
  'hmac-sha1',
  'hmac-sha256',
  'hmac-sha512',
  'rsa-sha1',
  'rsa-sha256',
  'rsa-sha512',
  'rsa-pss-sha256',
  'ecdsa-p256-sha256',
  'ed25519',
] as const

export type Algorithm = (typeof ALGORITHMS)[number]

/** Whether this Base64 text is a signature of these bytes. */
export type SignatureCheck = (signed: Buffer, signature: string) => boolean

/** `key`: the shared secret of an HMAC, or a public key as PEM. Throws on a key of another kind. */
export function signatureCheck(algorithm: Algorithm, key: string | Buffer): SignatureCheck {
  const [family, hash] = [algorithm.split('-')[0], algorithm.split('-').at(-1)]
  if (family === 'hmac') {
    return (signed, signature) => {
      const right = createHmac(String(hash), key).update(signed).digest()
      const given = strictBase64(signature)
      return given?.length === right.length && timingSafeEqual(given, right)
    }
  }
  const publicKey = createPublicKey(key)
  const expected = family === 'rsa' ? 'rsa' : family === 'ecdsa' ? 'ec' : 'ed25519'
  if (publicKey.asymmetricKeyType !== expected) {
    throw new Error(
      `the algorithm ${algorithm} needs a public key of type ${expected}, not ${publicKey.asymmetricKeyType}`,
    )
  }
  return (signed, signature) => {
    const given = strictBase64(signature)
    return given !== null && verifies(algorithm, publicKey, signed, given)
  }
}

function verifies(algorithm: Algorithm, key: KeyObject, signed: Buffer, given: Buffer): boolean {
  switch (algorithm) {
    case 'ed25519':
      return verify(null, signed, key, given)
    case 'ecdsa-p256-sha256':
      // The specification does not say which of the two encodings; both are in use.
      return (['der', 'ieee-p1363'] as const).some((dsaEncoding) =>
        verify('sha256', signed, { key, dsaEncoding }, given),
      )
    case 'rsa-pss-sha256':
      return verify(
        'sha256',
        signed,
        {
          key,
          padding: constants.RSA_PKCS1_PSS_PADDING,
          saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
        },
        given,
      )
    default:
      return verify(algorithm.split('-')[1], signed, key, given)
  }
}

/** Padded standard Base64 and nothing else; null otherwise. */
function strictBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : null
}

/** What a string to sign may be made of. `path` is relative to the base address. */
export interface SignedParts {
  method: string
  path: string
  /** Without `?`; empty where there is none. */
  query: string
  body: Buffer
  /** The exact value of the date header. */
  date: string
  host: string
  contentType: string
  account: string
  partner: string
  partnerAccount: string
}

const HASHED = /^(md5|sha1|sha256|sha512):(hex|base64)$/

/** Compiles `{method}{path}?{query};{body};{date}` and its like; `\n` is a newline. Throws on an unknown variable. */
export function canonicalForm(template: string): (parts: SignedParts) => Buffer {
  const pieces = template.split(/\{([\w:]+)\}/).map((text, i) => {
    if (i % 2 === 1) return variable(text)
    const literal = Buffer.from(text.replaceAll('\\n', '\n'))
    return () => literal
  })
  return (parts) => Buffer.concat(pieces.map((piece) => piece(parts)))
}

function variable(name: string): (parts: SignedParts) => Buffer {
  const [, hash, encoding] = HASHED.exec(name) ?? []
  if (hash !== undefined) {
    return ({ body }) =>
      Buffer.from(
        createHash(hash)
          .update(body)
          .digest(encoding as 'hex' | 'base64'),
      )
  }
  switch (name) {
    case 'body':
      return ({ body }) => body
    case 'pathQuery':
      return ({ path, query }) => Buffer.from(query === '' ? path : `${path}?${query}`)
    case 'method':
    case 'path':
    case 'query':
    case 'date':
    case 'host':
    case 'contentType':
    case 'account':
    case 'partner':
    case 'partnerAccount':
      return (parts) => Buffer.from(parts[name])
    default:
      throw new Error(`the string to sign has the unknown variable {${name}}`)
  }
}
