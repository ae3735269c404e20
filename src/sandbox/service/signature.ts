// This file verifies and makes signatures (specification section 5), in each algorithm that a caller can have. The
// service verifies them, and `feedsyncd sandbox sign` makes them.

import { constants, createHmac, createPublicKey, sign, verify } from 'node:crypto'

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

/**
 * signatureCheck returns a function that verifies a signature in padded standard Base64. `key` is the secret of an
 * HMAC, or a public or private key as PEM. Throws if `key` is not PEM and the algorithm is not an HMAC.
 */
export function signatureCheck(algorithm: Algorithm, key: string | Buffer) {
  const hash = algorithm.split('-').at(-1) ?? ''
  if (algorithm.startsWith('hmac-')) {
    return (signed: Buffer, signature: string) =>
      createHmac(hash, key).update(signed).digest('base64') === signature
  }
  const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_DIGEST: saltLength } = constants
  const publicKey = {
    key: createPublicKey(key),
    ...(algorithm === 'rsa-pss-sha256' && { padding, saltLength }),
  }
  return (signed: Buffer, signature: string) => {
    const given = Buffer.from(signature, 'base64')
    if (given.toString('base64') !== signature) return false
    // The specification does not name the encoding of an ECDSA signature, and both are in use.
    return (['der', 'ieee-p1363'] as const).some((dsaEncoding) =>
      verify(algorithm === 'ed25519' ? null : hash, signed, { ...publicKey, dsaEncoding }, given),
    )
  }
}

/**
 * expectedBytes fills a template such as `{method}{path}\n{date}`, in which a backslash and `n` stand for a newline.
 * Throws if the template has a name that `values` does not have.
 */
export function expectedBytes(template: string, values: Record<string, string | Buffer>): Buffer {
  const parts = template.replaceAll('\\n', '\n').split(/\{(\w+)\}/)
  return Buffer.concat(
    parts.map((part, i) => {
      const text = i % 2 === 0 ? part : values[part]
      if (text === undefined)
        throw new Error(`the string to sign has an unknown placeholder: {${part}}`)
      return Buffer.from(text)
    }),
  )
}

/**
 * signatureMaker returns a function that makes the signature of bytes in Base64. `key` is the secret of an HMAC, or a
 * private key as PEM.
 */
export function signatureMaker(algorithm: Algorithm, key: string) {
  const hash = algorithm.split('-').at(-1) ?? ''
  if (algorithm.startsWith('hmac-')) {
    return (bytes: Buffer) => createHmac(hash, key).update(bytes).digest('base64')
  }
  const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_DIGEST: saltLength } = constants
  const privateKey = { key, ...(algorithm === 'rsa-pss-sha256' && { padding, saltLength }) }
  return (bytes: Buffer) =>
    sign(algorithm === 'ed25519' ? null : hash, bytes, privateKey).toString('base64')
}
