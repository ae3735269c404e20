// Authentication finds out who calls the service (specification section 5): headers, date, signature or API key. It
// refuses a call without proof with 401 and an unknown caller with 403.

import { MINUTE } from '../lib/clock.ts'
import { refuse } from './answer.ts'
import { type Algorithm, expectedBytes, signatureCheck } from './signature.ts'

export interface KnownCaller {
  /** account is the X-SVC-Account of an account holder. */
  account?: string | undefined
  /** partner is the X-SVC-Partner of a partner. */
  partner?: string | undefined
  /** partnerAccounts lists the accepted values of X-SVC-PartnerAccount; default: any value. */
  partnerAccounts?: readonly string[] | undefined
  /** secret is the secret of an HMAC, or the key (PEM, public or private) of the other algorithms. */
  secret: string | Buffer
  /** algorithm is hmac-sha1 by default. */
  algorithm?: Algorithm | undefined
  /** apiKey is the accepted X-SVC-ApiKey; by default no API key is accepted. */
  apiKey?: string | undefined
}

export interface Caller {
  /** owner is the partner or the account holder. */
  owner: string
  /** account is the account that the call is for; null on a route that serves a partner as a whole. */
  account: string | null
}

export interface ServiceRequest {
  method: string
  /** path is relative to the base address and has no query. */
  path: string
  query: string
  body: Buffer
  header(name: string): string | null
}

/** Audience says who may call a route: one account (with or without a partner), a partner as a whole, or either. */
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

  /** stringToSign returns the bytes that the caller must have signed. */
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
    // HTTP sends RFC 1123 dates in one form, IMF-fixdate. toUTCString writes this form.
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

  /** checkProof compares the signature or the API key with every key of the caller; a caller may have several keys. */
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

  /** claimedCaller returns the caller that the headers name, and the known callers whose keys can prove it. */
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
      return missing(`the header ${prefix}Account or ${prefix}Partner is required`)
    }
    const claimed = known.filter((one) => one.account === account)
    if (claimed.length === 0) unknown(`no account "${account}" is known`)
    return [{ owner: account, account }, claimed]
  }

  return {
    stringToSign,
    /** claimedAccount returns the account that the headers name, unproven. Fault rules and the journal use it. */
    claimedAccount: (request: Pick<ServiceRequest, 'header'>) =>
      get(request, 'PartnerAccount') ?? get(request, 'Account'),
    /** authenticate returns the caller, and refuses a call without proof. `now` is the service's wall clock in ms. */
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
