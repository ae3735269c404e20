// FormIssuer makes pre-signed forms (specification section 2). A form has an S3 POST policy under neutral names, signed
// with the key chain of S3's signature version 4, a session token, and an object key of its own.

import { createHmac, randomBytes } from 'node:crypto'
import { HOUR } from '../lib/clock.ts'
import type { Caller } from './authentication.ts'
import type { SandboxDatabase } from './database.ts'
import type { FaultOf } from './fault-types.ts'

export const BUCKET = 'feeds'
export const FORM_ALGORITHM = 'STORE4-HMAC-SHA256'
const REGION = 'local-1'
const SCOPE_END = 'store4_request'
/** TOKEN_BYTES is about the length of real session tokens, which count towards the 20 KB limit before the file. */
const TOKEN_BYTES = 600
const TOKEN_LIFETIME = 12 * HOUR

export interface FormSettings {
  lifetimeMs: number
  contentLengthRange: readonly [min: number, max: number]
  successStatus: string
}

export class FormIssuer {
  readonly accessKeyId: string
  readonly #secret: string
  readonly #settings: FormSettings
  readonly #database: SandboxDatabase
  #lastKey: string | null = null

  /** The credentials are kept in the database, so that a form stays valid over a restart. */
  constructor(settings: FormSettings, database: SandboxDatabase) {
    this.#settings = settings
    this.#database = database
    const newId = () => `STIA${randomBytes(8).toString('hex').toUpperCase()}`
    this.accessKeyId = database.text('access key', newId)
    this.#secret = database.text('secret', () => randomBytes(30).toString('base64'))
  }

  /** accountOf returns the account that received the form with this object key, or null. */
  accountOf(key: string): string | null {
    return this.#database.accountOf(key)
  }

  /** issue makes a form. Its object key ends with the owner and the second of `now`, which is wall-clock ms. */
  issue(
    { owner, account }: Caller,
    storageOrigin: string,
    now: number,
    fault: Partial<FaultOf<'form'>> = {},
  ) {
    const settings = this.#settings
    const time = stamp(now)
    const day = time.slice(0, 8)
    const name = [account, owner, time.replace(/[TZ]/g, '')]
      .filter((part) => part !== null)
      .map(encodeURIComponent)
      .join('_')
    const key =
      (fault.sameKey ? this.#lastKey : null) ??
      `incoming/${randomBytes(6).toString('hex')}/${name}.xml`
    this.#lastKey = key
    this.#database.saveForm(key, account)
    const signed = {
      key,
      success_action_status: fault.successStatus ?? settings.successStatus,
      'x-store-algorithm': FORM_ALGORITHM,
      'x-store-credential': this.credential(day),
      'x-store-date': time,
      'x-store-security-token': this.#token(now + (fault.tokenLifetimeMs ?? TOKEN_LIFETIME)),
    }
    const conditions = [
      { bucket: BUCKET },
      ...Object.entries(signed).map(([field, value]) => ({ [field]: value })),
      ['content-length-range', ...(fault.contentLengthRange ?? settings.contentLengthRange)],
    ]
    const expiration = new Date(now + (fault.lifetimeMs ?? settings.lifetimeMs)).toISOString()
    const policy = policyText({ expiration, conditions }, fault.policy)
    const { key: _, ...others } = signed
    const url = `${storageOrigin}/${BUCKET}`
    return {
      url,
      fileUrl: `${url}/${key.split('/').map(encodeURIComponent).join('/')}`,
      fields: { key, policy, ...others, 'x-store-signature': this.sign(policy, day) },
    }
  }

  /** credential returns the `x-store-credential` of a day such as `20270104`. */
  credential(day: string): string {
    return [this.accessKeyId, day, REGION, 'store', SCOPE_END].join('/')
  }

  /** sign returns the hex signature of a policy in Base64. */
  sign(policy: string, day: string): string {
    let key: Buffer = Buffer.from(`STORE4${this.#secret}`)
    for (const part of [day, REGION, 'store', SCOPE_END]) key = hmac(key, part)
    return hmac(key, policy).toString('hex')
  }

  /** tokenEnd returns when a session token expires (wall-clock ms), or null if this issuer did not make the token. */
  tokenEnd(token: string): number | null {
    const [payload = '', seal] = token.split('.')
    if (hmac(this.#secret, payload).toString('base64url') !== seal) return null
    return Number.parseInt(Buffer.from(payload, 'base64url').toString(), 10)
  }

  #token(endsAt: number): string {
    const filler = randomBytes(TOKEN_BYTES).toString('base64url')
    const payload = Buffer.from(`${endsAt}.${filler}`).toString('base64url')
    return `${payload}.${hmac(this.#secret, payload).toString('base64url')}`
  }
}

function policyText(
  policy: { expiration: string; conditions: unknown[] },
  variant: FaultOf<'form'>['policy'],
): string {
  if (variant === 'not-base64') return '%%% this is not Base64 %%%'
  const text = JSON.stringify({
    ...(variant !== 'no-expiration' && {
      expiration: policy.expiration.replace(variant === 'whole-seconds' ? /\.\d+/ : '', ''),
    }),
    conditions: policy.conditions,
  })
  const encoded = Buffer.from(variant === 'not-json' ? text.slice(0, 15) : text).toString('base64')
  return variant === 'with-newlines' ? encoded.replace(/.{76}/g, '$&\n') : encoded
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** stamp returns a time such as `20270104T101530Z`. */
function stamp(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '')
}
