// Signs requests to the service with the algorithm and the template of `service.auth`. The key is a Secret; no message
// shows the key, the signed text or the signature.

import { constants, createHmac, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import type { SignatureAlgorithm, SignField } from '../domain/service-words.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import type { Secret } from '../lib/secrets.ts'

/**
 * Signable holds the parts of one request that a template can name. `path` is relative to the base address, `query` has
 * no question mark and can be empty, `body` is the exact bytes, and `date` is the exact value of the Date header.
 */
export type Signable = Record<Exclude<SignField, 'body'>, string> & { body: Buffer }

type Signer = (text: Buffer) => string

/**
 * createSigner returns a function that signs a text and returns the signature in Base64. ECDSA signatures are DER
 * (ASN.1); the salt of RSA-PSS is as long as the digest; keys are PEM in PKCS#1, SEC1 or PKCS#8 form; an HMAC key is
 * the bytes of the secret.
 * @throws FeedsyncError (78) if the key does not fit the algorithm.
 */
export function createSigner(algorithm: SignatureAlgorithm, key: Secret, keyFile: string): Signer {
  const digest = algorithm.slice(algorithm.lastIndexOf('-') + 1)
  if (algorithm.startsWith('hmac-'))
    return (text) => createHmac(digest, key.reveal()).update(text).digest('base64')
  const privateKey = privateKeyFor(algorithm, key, keyFile)
  const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_DIGEST: saltLength } = constants
  const how = algorithm === 'rsa-pss-sha256' ? { key: privateKey, padding, saltLength } : privateKey
  // Ed25519 contains its digest, so Node wants null.
  const signer: Signer = (text) =>
    sign(algorithm === 'ed25519' ? null : digest, text, how).toString('base64')
  try {
    signer(Buffer.alloc(0))
  } catch {
    // Only signing shows that a key is too short for the digest, or made for another digest.
    throw unfit(`the key in ${keyFile} cannot sign with ${algorithm}`)
  }
  return signer
}

/** privateKeyFor reads a key in PEM form. It throws `FeedsyncError` (78) if the key does not fit the algorithm. */
function privateKeyFor(algorithm: SignatureAlgorithm, key: Secret, keyFile: string): KeyObject {
  let privateKey: KeyObject
  try {
    privateKey = createPrivateKey(key.reveal())
  } catch {
    const encrypted = /ENCRYPTED/.test(key.reveal().toString('latin1'))
    throw new FeedsyncError(
      `the key file ${keyFile} holds ${encrypted ? 'an encrypted' : 'no readable'} private key, but ${algorithm} needs a readable one in PEM form`,
      {
        hint: encrypted
          ? 'store the key without a passphrase and protect the file by its permissions'
          : 'check that the file is the private key ("BEGIN PRIVATE KEY"), or set service.auth.algorithm to an hmac one if it is a shared secret',
        exitCode: EXIT.config,
      },
    )
  }
  const found = privateKey.asymmetricKeyType ?? 'unknown'
  const curve = privateKey.asymmetricKeyDetails?.namedCurve
  const fits =
    (algorithm.startsWith('rsa') &&
      (found === 'rsa' || (found === 'rsa-pss' && algorithm === 'rsa-pss-sha256'))) ||
    (algorithm === 'ecdsa-p256-sha256' && found === 'ec' && curve === 'prime256v1') ||
    (algorithm === 'ed25519' && found === 'ed25519')
  if (fits) return privateKey
  throw unfit(
    `the key file ${keyFile} holds ${article(curve ?? found)} ${curve ?? found} key, but ${algorithm} needs another kind`,
  )
}

function unfit(message: string): FeedsyncError {
  const hint = 'set service.auth.algorithm to the kind of the key, or use the right key'
  return new FeedsyncError(message, { hint, exitCode: EXIT.config })
}

const article = (word: string) => (/^[aeiou]|^rsa/.test(word) ? 'an' : 'a')

/**
 * bytesToSign fills a template such as `{method}{path}?{query};{body};{date}`. The configuration allows only the names
 * of `Signable`. Text outside the braces stays as it is.
 */
export function bytesToSign(template: string, values: Signable): Buffer {
  const parts = template.split(/\{(\w+)\}/).map((part, index) => {
    const text = index % 2 === 0 ? part : values[part as keyof Signable]
    return typeof text === 'string' ? Buffer.from(text) : text
  })
  return Buffer.concat(parts)
}
