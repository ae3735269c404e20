// FormIssuer makes pre-signed forms (specification section 2). A form has an S3 POST policy, a session token and an
// object key of its own. Its fields are named `x-store-…` instead of `x-amz-…`, and the policy is signed with the key
// chain of S3's signature version 4.

import { createHash, createHmac } from 'node:crypto'
import { HOUR } from '../../lib/clock.ts'
import type { SandboxDatabase } from '../database.ts'
import type { Caller } from './authentication.ts'

export const BUCKET = 'feeds'
export const FORM_ALGORITHM = 'STORE4-HMAC-SHA256'
const REGION = 'local-1'
const SCOPE_END = 'store4_request'
/** TOKEN_BYTES is about the length of real session tokens, which count towards the 20 KB limit before the file. */
const TOKEN_BYTES = 600
const TOKEN_LIFETIME = 12 * HOUR

export interface Policy {
  expiration: string
  conditions: unknown[]
}

interface FormLimits {
  lifetimeMs: number
  contentLengthRange: readonly [min: number, max: number]
  successStatus: string
}

/** FormSettings are the settings of one form. */
export interface FormSettings extends FormLimits {
  /** now is wall-clock ms. */
  now: number
  tokenLifetimeMs: number
  /** key is the key of the object that the form can store. By default it is a new key. */
  key: string
  /** encodePolicy writes the policy as the form has it, by default as JSON in Base64. */
  encodePolicy: (policy: Policy) => string
}

/** IssuerSettings are the settings of all forms. */
interface IssuerSettings extends FormLimits {
  /** seed decides the keys of the objects and the credentials, so that two sandboxes give the same forms. */
  seed: number
}

export class FormIssuer {
  readonly accessKeyId: string
  readonly #secret: string
  readonly #settings: IssuerSettings
  readonly #database: SandboxDatabase
  #lastKey: string | null = null

  /** The credentials are kept in the database, so that a form stays valid over a restart. */
  constructor(settings: IssuerSettings, database: SandboxDatabase) {
    this.#settings = settings
    this.#database = database
    const newId = () => `STIA${this.#random('access key', 8).toString('hex').toUpperCase()}`
    this.accessKeyId = database.text('access key', newId)
    this.#secret = database.text('secret', () => this.#random('secret', 30).toString('base64'))
  }

  /** lastKey is the object key of the newest form, or null if this sandbox has issued none since its start. */
  get lastKey(): string | null {
    return this.#lastKey
  }

  /** accountOf returns the account that received the form with this object key, or null. */
  accountOf(key: string): string | null {
    return this.#database.accountOf(key)
  }

  /** issue makes a form, and saves which account received it. A new object key names account, owner and time. */
  issue(
    { owner, account }: Caller,
    storageOrigin: string,
    given: Partial<FormSettings> & { now: number },
  ) {
    const { now, lifetimeMs, contentLengthRange, successStatus, ...rest } = {
      ...this.#settings,
      ...given,
    }
    const { tokenLifetimeMs = TOKEN_LIFETIME, encodePolicy = encoded } = rest
    const time = stamp(now)
    const day = time.slice(0, 8)
    const key = this.#database.transaction(() => {
      const n = this.#database.nextNumber('last form')
      const name = [account, owner, time.replace(/[TZ]/g, '')].filter((part) => part !== null)
      const fresh = `incoming/${this.#random(`key ${n}`, 6).toString('hex')}/${name.map(encodeURIComponent).join('_')}.xml`
      this.#database.saveForm(given.key ?? fresh, account)
      return given.key ?? fresh
    })
    this.#lastKey = key
    const signed = {
      key,
      success_action_status: successStatus,
      'x-store-algorithm': FORM_ALGORITHM,
      'x-store-credential': this.credential(day),
      'x-store-date': time,
      'x-store-security-token': this.#token(now + tokenLifetimeMs),
    }
    const conditions = [
      { bucket: BUCKET },
      ...Object.entries(signed).map(([field, value]) => ({ [field]: value })),
      ['content-length-range', ...contentLengthRange],
    ]
    const expiration = new Date(now + lifetimeMs).toISOString()
    const policy = encodePolicy({ expiration, conditions })
    const { key: _, ...others } = signed
    const url = `${storageOrigin}/${BUCKET}`
    return {
      url,
      fileUrl: `${url}/${key.split('/').map(encodeURIComponent).join('/')}`,
      fields: { key, policy, ...others, 'x-store-signature': this.sign(policy, day) },
    }
  }

  /** credential returns the value of `x-store-credential` for a day such as `20270104`. */
  credential(day: string): string {
    return [this.accessKeyId, day, REGION, 'store', SCOPE_END].join('/')
  }

  /** sign returns the signature of a policy in hex. `policy` is as the form has it, and `day` is such as `20270104`. */
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

  /** #token makes a session token that expires at `endsAt`, in wall-clock ms. */
  #token(endsAt: number): string {
    const filler = this.#random(`token ${endsAt}`, TOKEN_BYTES).toString('base64url')
    const payload = Buffer.from(`${endsAt}.${filler}`).toString('base64url')
    return `${payload}.${hmac(this.#secret, payload).toString('base64url')}`
  }

  /** #random returns bytes that look random, and are the same for the same seed and name. */
  #random(name: string, bytes: number): Buffer {
    return createHash('shake256', { outputLength: bytes })
      .update(`${this.#settings.seed} ${name}`)
      .digest()
  }
}

const encoded = (policy: Policy) => Buffer.from(JSON.stringify(policy)).toString('base64')

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** stamp returns a time such as `20270104T101530Z`. */
function stamp(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '')
}
