// Decides who calls the service (specification section 5, service-facts "Other facts"): headers,
// date, signature or API key. Refuses with 401 what is not proven, with 403 who is not known.

import { timingSafeEqual } from 'node:crypto'
import { MINUTE } from '../lib/clock.ts'
import { Secret } from '../lib/secret.ts'
import { type Algorithm, canonicalForm, type SignatureCheck, signatureCheck } from './signature.ts'

export interface Identity {
  /** X-SVC-Account of an account holder. */
  account?: string
  /** X-SVC-Partner. */
  partner?: string
  /** The values of X-SVC-PartnerAccount that are known; default: any. */
  partnerAccounts?: readonly string[]
  /** The secret of an HMAC, or the public key (PEM) of the other algorithms. */
  secret: string | Buffer
  /** X-SVC-ApiKey; without one, that way in is closed. */
  apiKey?: string
}

export interface Caller {
  /** The partner, or the account holder. */
  owner: string
  /** The account that the call is for; null on a route for a partner alone. */
  account: string | null
}

export interface ServiceRequest {
  method: string
  /** Relative to the base address, without the query. */
  path: string
  query: string
  body: Buffer
  header(name: string): string | null
}

/** Whom a route is for: one account (of a partner or its own), a partner as a whole, or either. */
export type Audience = 'account' | 'partner' | 'anyone'

export type Authentication =
  | { kind: 'known'; caller: Caller }
  | { kind: 'refused'; status: 401 | 403; code: string; message: string }

const DATE_WINDOW = 15 * MINUTE
/** IMF-fixdate, the one form of RFC 1123 that HTTP still sends. */
const RFC_1123 = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

export class Authenticator {
  readonly #identity: Identity
  readonly #prefix: string
  readonly #apiKey: Secret | null
  readonly #isSigned: SignatureCheck
  readonly #canonical: ReturnType<typeof canonicalForm>

  constructor(identity: Identity, algorithm: Algorithm, stringToSign: string, prefix: string) {
    this.#identity = identity
    this.#prefix = prefix
    this.#apiKey = identity.apiKey === undefined ? null : new Secret(identity.apiKey)
    this.#isSigned = signatureCheck(algorithm, identity.secret)
    this.#canonical = canonicalForm(stringToSign)
  }

  /** The account that a request says it is for, proven or not: for fault rules and the journal. */
  claimedAccount(request: Pick<ServiceRequest, 'header'>): string | null {
    return this.#get(request, 'PartnerAccount') ?? this.#get(request, 'Account')
  }

  /** The bytes whose signature is expected. */
  stringToSign(request: ServiceRequest): Buffer {
    return this.#canonical({
      ...request,
      date: this.#get(request, 'Date') ?? '',
      host: request.header('host') ?? '',
      contentType: request.header('content-type') ?? '',
      account: this.#get(request, 'Account') ?? '',
      partner: this.#get(request, 'Partner') ?? '',
      partnerAccount: this.#get(request, 'PartnerAccount') ?? '',
    })
  }

  /** `now`: wall ms of the service. */
  authenticate(request: ServiceRequest, audience: Audience, now: number): Authentication {
    return (
      this.#wrongDate(request, now) ?? this.#wrongProof(request) ?? this.#who(request, audience)
    )
  }

  #wrongDate(request: ServiceRequest, now: number): Authentication | null {
    const name = `${this.#prefix}Date`
    const date = this.#get(request, 'Date')
    if (date === null) return unauthorized('date-missing', `the header ${name} is missing`)
    const ms = RFC_1123.test(date) ? Date.parse(date) : Number.NaN
    if (Number.isNaN(ms) || new Date(ms).toUTCString() !== date) {
      return unauthorized('date-malformed', `the header ${name} is not an RFC 1123 date`)
    }
    if (now - ms > DATE_WINDOW) {
      return unauthorized('date-too-old', `the header ${name} is older than 15 minutes`)
    }
    if (ms - now > DATE_WINDOW) {
      return unauthorized('date-in-future', `the header ${name} is more than 15 minutes ahead`)
    }
    return null
  }

  #wrongProof(request: ServiceRequest): Authentication | null {
    const [signature, apiKey] = [this.#get(request, 'Signature'), this.#get(request, 'ApiKey')]
    if (signature !== null) {
      return this.#isSigned(this.stringToSign(request), signature)
        ? null
        : unauthorized('signature-mismatch', 'the signature does not match the request')
    }
    if (apiKey !== null) {
      return this.#apiKey !== null && same(this.#apiKey.reveal(), Buffer.from(apiKey))
        ? null
        : unauthorized('api-key-unknown', 'the API key is not valid')
    }
    return unauthorized('signature-missing', `the header ${this.#prefix}Signature is missing`)
  }

  #who(request: ServiceRequest, audience: Audience): Authentication {
    const [account, partner, partnerAccount] = ['Account', 'Partner', 'PartnerAccount'].map(
      (name) => this.#get(request, name),
    )
    if (partner != null) {
      if (partner !== this.#identity.partner) return unknown(`no partner "${partner}" is known`)
      if (audience === 'partner' || (audience === 'anyone' && partnerAccount == null)) {
        return { kind: 'known', caller: { owner: partner, account: null } }
      }
      if (partnerAccount == null) {
        return unauthorized(
          'identity-missing',
          `the header ${this.#prefix}PartnerAccount is required with ${this.#prefix}Partner`,
        )
      }
      return (this.#identity.partnerAccounts?.includes(partnerAccount) ?? true)
        ? { kind: 'known', caller: { owner: partner, account: partnerAccount } }
        : unknown(`the partner has no account "${partnerAccount}"`)
    }
    if (audience === 'partner') {
      return unauthorized('identity-missing', `the header ${this.#prefix}Partner is required`)
    }
    if (account == null) {
      return unauthorized(
        'identity-missing',
        `one of the headers ${this.#prefix}Account and ${this.#prefix}Partner is required`,
      )
    }
    return account === this.#identity.account
      ? { kind: 'known', caller: { owner: account, account } }
      : unknown(`no account "${account}" is known`)
  }

  #get(request: Pick<ServiceRequest, 'header'>, name: string): string | null {
    return request.header(`${this.#prefix}${name}`)
  }
}

function unauthorized(code: string, message: string): Authentication {
  return { kind: 'refused', status: 401, code, message }
}

function unknown(message: string): Authentication {
  return { kind: 'refused', status: 403, code: 'identity-unknown', message }
}

function same(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
