// Makes the pre-signed form of specification section 2: an S3 POST policy under neutral names, a key
// that no other form has, and the storage's signature over the policy.

import { randomBytes } from 'node:crypto'
import { HOUR } from '../lib/clock.ts'
import type { ServiceFault } from './fault-types.ts'
import { FORM_ALGORITHM, type StorageKeys } from './storage-keys.ts'

const TOKEN_LIFETIME = 12 * HOUR

export interface PresignedForm {
  url: string
  fileUrl: string
  fields: Record<string, string>
}

export interface FormSettings {
  bucket: string
  lifetimeMs: number
  contentLengthRange: readonly [min: number, max: number]
  successStatus: string
}

export type FormTwist = Extract<ServiceFault, { kind: 'form' }>

export class FormIssuer {
  readonly #keys: StorageKeys
  readonly #settings: FormSettings
  readonly #accounts = new Map<string, string | null>()
  #lastKey: string | null = null

  constructor(keys: StorageKeys, settings: FormSettings) {
    this.#keys = keys
    this.#settings = settings
  }

  /** The account that the form with this key was issued to, or null. */
  accountOf(key: string): string | null {
    return this.#accounts.get(key) ?? null
  }

  /** `owner` (a partner, or an account of its own) ends the key, with the second; `now` is wall ms. */
  issue(
    who: { owner: string; account: string | null },
    storageOrigin: string,
    now: number,
    twist?: FormTwist,
  ): PresignedForm {
    const name = [who.account, who.owner, stamp(now).replace(/[TZ]/g, '')]
      .filter((part) => part !== null)
      .map(encodeURIComponent)
      .join('_')
    const key =
      (twist?.sameKey ? this.#lastKey : null) ??
      `incoming/${randomBytes(6).toString('hex')}/${name}.xml`
    this.#lastKey = key
    this.#accounts.set(key, who.account)
    const lifetimeMs = twist?.lifetimeMs ?? this.#settings.lifetimeMs
    const day = stamp(now).slice(0, 8)
    const signed = {
      key,
      success_action_status: twist?.successStatus ?? this.#settings.successStatus,
      'x-store-algorithm': FORM_ALGORITHM,
      'x-store-credential': this.#keys.credential(day),
      'x-store-date': stamp(now),
      'x-store-security-token': this.#keys.token(now + (twist?.tokenLifetimeMs ?? TOKEN_LIFETIME)),
    }
    const policy = policyText(
      {
        expiration: new Date(now + lifetimeMs).toISOString(),
        conditions: [
          { bucket: this.#settings.bucket },
          ...Object.entries(signed).map(([name, value]) => ({ [name]: value })),
          [
            'content-length-range',
            ...(twist?.contentLengthRange ?? this.#settings.contentLengthRange),
          ],
        ],
      },
      twist?.policy,
    )
    const { key: _, ...others } = signed
    const url = `${storageOrigin}/${this.#settings.bucket}`
    return {
      url,
      fileUrl: `${url}/${key}`,
      fields: { key, policy, ...others, 'x-store-signature': this.#keys.sign(policy, day) },
    }
  }
}

function policyText(
  policy: { expiration: string; conditions: unknown[] },
  twist: FormTwist['policy'],
): string {
  const encode = (text: string) => Buffer.from(text).toString('base64')
  switch (twist) {
    case 'not-base64':
      return '%%% this is not Base64 %%%'
    case 'not-json':
      return encode('{"expiration": ')
    case 'no-expiration':
      return encode(JSON.stringify({ conditions: policy.conditions }))
    case 'whole-seconds':
      return encode(
        JSON.stringify({ ...policy, expiration: policy.expiration.replace(/\.\d+Z$/, 'Z') }),
      )
    case 'with-newlines':
      return encode(JSON.stringify(policy)).replace(/.{76}/g, '$&\n')
    case undefined:
      return encode(JSON.stringify(policy))
    default:
      throw new Error(`unknown policy twist ${twist satisfies never}`)
  }
}

/** `20270104T101530Z`. */
function stamp(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '')
}
