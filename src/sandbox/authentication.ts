// Decides who calls the service (specification section 5): headers, date, signature or API key. Refuses with 401
// what is not proven, with 403 who is not known.

import { MINUTE } from '../lib/clock.ts'
import { refuse } from './answer.ts'
import { type Algorithm, expectedBytes, signatureCheck } from './signature.ts'

export interface KnownCaller {
  /** X-SVC-Account of an account holder. */
  account?: string | undefined
  /** X-SVC-Partner. */
  partner?: string | undefined
  /** The values of X-SVC-PartnerAccount that are known; default: any. */
  partnerAccounts?: readonly string[] | undefined
  /** The secret of an HMAC, or the key (PEM, public or private) of the other algorithms. */
  secret: string | Buffer
  /** Default hmac-sha1. */
  algorithm?: Algorithm | undefined
  /** X-SVC-ApiKey; without one, no key is accepted. */
  apiKey?: string | undefined
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

const DATE_WINDOW = 15 * MINUTE

export type Authenticator = ReturnType<typeof createAuthenticator>

export function createAuthenticator(
  callers: readonly KnownCaller[],
  template: string,
  prefix: string,
) {
  const known = callers.map((caller) => ({
    ...caller,
    isSigned: signatureCheck(caller.algorithm ?? 'hmac-sha1', caller.secret),
  }))
  type Known = (typeof known)[number]
  const get = (request: Pick<ServiceRequest, 'header'>, name: string) =>
    request.header(`${prefix}${name}`)

  /** The bytes whose signature is expected. */
  function stringToSign(request: ServiceRequest): Buffer {
    const { method, path, query, body } = request
    return expectedBytes(template, {
      method,
      path,
      query,
      body,
      date: get(request, 'Date') ?? '',
      host: request.header('host') ?? '',
      account: get(request, 'Account') ?? '',
      partner: get(request, 'Partner') ?? '',
      partnerAccount: get(request, 'PartnerAccount') ?? '',
    })
  }

  function checkDate(request: ServiceRequest, now: number): void {
    const name = `${prefix}Date`
    const date = get(request, 'Date')
    if (date === null) refuse(401, 'date-missing', `the header ${name} is missing`)
    const ms = Date.parse(date)
    // IMF-fixdate is the one form of RFC 1123 that HTTP still sends, and the one that this writes.
    if (Number.isNaN(ms) || new Date(ms).toUTCString() !== date) {
      refuse(401, 'date-malformed', `the header ${name} is not an RFC 1123 date`)
    }
    if (now - ms > DATE_WINDOW) {
      refuse(401, 'date-too-old', `the header ${name} is older than 15 minutes`)
    }
    if (ms - now > DATE_WINDOW) {
      refuse(401, 'date-in-future', `the header ${name} is more than 15 minutes ahead`)
    }
  }

  /** Several known ones may be the same caller with another key. */
  function checkProof(request: ServiceRequest, claimed: readonly Known[]): void {
    const [signature, apiKey] = [get(request, 'Signature'), get(request, 'ApiKey')]
    if (signature !== null) {
      const signed = stringToSign(request)
      if (!claimed.some(({ isSigned }) => isSigned(signed, signature))) refuseSignature()
    } else if (apiKey === null) {
      refuse(401, 'signature-missing', `the header ${prefix}Signature is missing`)
    } else if (!claimed.some((one) => one.apiKey === apiKey)) {
      refuse(401, 'api-key-unknown', 'the API key is not valid')
    }
  }

  /** Who the caller says to be, and the known callers that could prove it. */
  function claimedCaller(request: ServiceRequest, audience: Audience): [Caller, readonly Known[]] {
    const account = get(request, 'Account')
    const partner = get(request, 'Partner')
    const partnerAccount = get(request, 'PartnerAccount')
    const unknown = (message: string) => refuse(403, 'identity-unknown', message)
    const missing = (message: string) => refuse(401, 'identity-missing', message)
    if (partner !== null) {
      const partners = known.filter((one) => one.partner === partner)
      if (partners.length === 0) unknown(`no partner "${partner}" is known`)
      if (audience === 'partner' || (audience === 'anyone' && partnerAccount === null)) {
        return [{ owner: partner, account: null }, partners]
      }
      if (partnerAccount === null) {
        return missing(`the header ${prefix}PartnerAccount is required with ${prefix}Partner`)
      }
      const hasAccount = ({ partnerAccounts: all }: Known) => all?.includes(partnerAccount) ?? true
      const claimed = partners.filter(hasAccount)
      if (claimed.length === 0) unknown(`the partner has no account "${partnerAccount}"`)
      return [{ owner: partner, account: partnerAccount }, claimed]
    }
    if (audience === 'partner') missing(`the header ${prefix}Partner is required`)
    if (account === null) {
      return missing(`one of the headers ${prefix}Account and ${prefix}Partner is required`)
    }
    const claimed = known.filter((one) => one.account === account)
    if (claimed.length === 0) unknown(`no account "${account}" is known`)
    return [{ owner: account, account }, claimed]
  }

  return {
    stringToSign,
    /** The account that a request says it is for, proven or not: for fault rules and the journal. */
    claimedAccount: (request: Pick<ServiceRequest, 'header'>) =>
      get(request, 'PartnerAccount') ?? get(request, 'Account'),
    /** The caller. Refuses what is not proven. `now`: wall ms of the service. */
    authenticate: (request: ServiceRequest, audience: Audience, now: number) => {
      checkDate(request, now)
      const [caller, claimed] = claimedCaller(request, audience)
      checkProof(request, claimed)
      return caller
    },
  }
}

export function refuseSignature(): never {
  return refuse(401, 'signature-mismatch', 'the signature does not match the request')
}
