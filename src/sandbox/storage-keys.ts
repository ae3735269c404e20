// The storage's own temporary credentials: they sign the forms that the service issues and verify
// them when they come back. The chain is that of S3's signature version 4 under neutral names.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

export const FORM_ALGORITHM = 'STORE4-HMAC-SHA256'
const REGION = 'local-1'
const SCOPE_END = 'store4_request'
/** Session tokens of real stores are about this long; they count towards the limit of the form's head. */
const TOKEN_BYTES = 600

export type TokenState = { kind: 'invalid' } | { kind: 'until'; expiresAt: number }

export class StorageKeys {
  readonly #accessKeyId = `STIA${randomBytes(8).toString('hex').toUpperCase()}`
  readonly #secret = randomBytes(30).toString('base64')

  /** `x-store-credential` for a day given as `20270104`. */
  credential(day: string): string {
    return [this.#accessKeyId, day, REGION, 'store', SCOPE_END].join('/')
  }

  /** Whether the credential is ours, and of which day. */
  readCredential(
    credential: string,
  ): { kind: 'unknown-key' } | { kind: 'malformed' } | { kind: 'day'; day: string } {
    const [id, day = ''] = credential.split('/')
    if (id !== this.#accessKeyId) return { kind: 'unknown-key' }
    return credential === this.credential(day) && /^\d{8}$/.test(day)
      ? { kind: 'day', day }
      : { kind: 'malformed' }
  }

  /** The hex signature of a policy as it is in the form (Base64 text). */
  sign(policy: string, day: string): string {
    let key: Buffer = Buffer.from(`STORE4${this.#secret}`)
    for (const part of [day, REGION, 'store', SCOPE_END]) key = hmac(key, part)
    return hmac(key, policy).toString('hex')
  }

  verifies(policy: string, day: string, signature: string): boolean {
    const right = Buffer.from(this.sign(policy, day))
    const given = Buffer.from(signature)
    return right.length === given.length && timingSafeEqual(right, given)
  }

  /** A session token that carries its end. */
  token(expiresAt: number): string {
    const filler = randomBytes(TOKEN_BYTES).toString('base64url')
    const payload = Buffer.from(`${expiresAt}.${filler}`).toString('base64url')
    return `${payload}.${hmac(this.#secret, payload).toString('base64url')}`
  }

  readToken(token: string): TokenState {
    const [payload = '', seal = ''] = token.split('.')
    if (hmac(this.#secret, payload).toString('base64url') !== seal) return { kind: 'invalid' }
    return {
      kind: 'until',
      expiresAt: Number(Buffer.from(payload, 'base64url').toString().split('.')[0]),
    }
  }
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
