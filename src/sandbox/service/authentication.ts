// This file finds out who calls the service (specification section 5), by headers, date, and a signature or API key. It
// refuses a call without proof with 401, and an unknown caller with 403.

import { MINUTE } from '../../lib/clock.ts'
import { jsonAnswer, Refusal, refuse } from '../http/answer.ts'
import type { ArrivedCall, CallHeaders } from './call.ts'
import { type Algorithm, expectedBytes, signatureCheck } from './signature.ts'
import { differenceIn } from './signature-advice.ts'

export interface KnownCaller {
  /** account is the value of X-SVC-Account if the caller is an account holder. */
  account?: string | undefined
  /** partner is the value of X-SVC-Partner if the caller is a partner. */
  partner?: string | undefined
  /** partnerAccounts are the values of X-SVC-PartnerAccount that are valid for the partner. By default any value is. */
  partnerAccounts?: readonly string[] | undefined
  /** secret is the secret of an HMAC, or the key (PEM, public or private) of the other algorithms. */
  secret: string | Buffer
  /** algorithm is the algorithm of the caller's signatures, by default hmac-sha1. */
  algorithm?: Algorithm | undefined
  /** apiKey is the value of X-SVC-ApiKey that proves the caller. By default no API key does. */
  apiKey?: string | undefined
}

export interface Caller {
  /** owner is the id of the partner or of the account holder. */
  owner: string
  /** account is the account that the call is for; null on a route that serves a partner as a whole. */
  account: string | null
}

/** Audience says who may call a route: one account (with or without a partner), a partner as a whole, or any caller. */
export type Audience = 'account' | 'partner' | 'anyone'

/** DATE_WINDOW is how many ms the date of a call can differ from the time of the service. */
const DATE_WINDOW = 15 * MINUTE

export interface Authenticator {
  /** claimedAccount returns the account that the headers name, before any proof, or null. */
  claimedAccount(call: CallHeaders): string | null
  /** authenticate returns the caller. It refuses a call without proof with 401, and an unknown caller with 403. */
  authenticate(call: ArrivedCall, audience: Audience): Caller
}

interface AuthenticationSettings {
  callers: readonly KnownCaller[]
  /** stringToSign is a template such as `{method}{path}?{query};{body};{date}`. */
  stringToSign: string
  /** headerPrefix begins the names of the headers, such as `X-SVC-`. */
  headerPrefix: string
  /** basePath is the path of the base address, which is not signed. */
  basePath: string
}

export function createAuthenticator(settings: AuthenticationSettings): Authenticator {
  const { stringToSign: template, headerPrefix: prefix, basePath } = settings
  const known = settings.callers.map((caller) => ({
    ...caller,
    algorithm: caller.algorithm ?? ('hmac-sha1' as const),
    isSigned: signatureCheck(caller.algorithm ?? 'hmac-sha1', caller.secret),
  }))
  type Known = (typeof known)[number]
  const get = (call: CallHeaders, name: string) => call.header(`${prefix}${name}`)

  /** signedValues returns the values that the caller must have signed. */
  function signedValues(call: ArrivedCall): Record<string, string | Buffer> {
    const { method, path, query, body } = call
    return {
      ...{ method, path, query, body },
      date: get(call, 'Date') ?? '',
      host: call.header('host') ?? '',
      account: get(call, 'Account') ?? '',
      partner: get(call, 'Partner') ?? '',
      partnerAccount: get(call, 'PartnerAccount') ?? '',
    }
  }

  /** checkDate refuses a call whose date is missing, malformed, or too far from the time of the service. */
  function checkDate(call: ArrivedCall): void {
    const { now } = call
    const name = `${prefix}Date`
    const date = get(call, 'Date')
    if (date === null) refuse(401, 'date-missing', `the header ${name} is missing`)
    const ms = Date.parse(date)
    // A valid date is one that toUTCString writes in the same way. That is the only form of RFC 1123 that HTTP allows.
    if (Number.isNaN(ms) || new Date(ms).toUTCString() !== date) {
      refuse(
        401,
        'date-malformed',
        `the header ${name} is not an RFC 1123 date such as ${new Date(now).toUTCString()}`,
      )
    }
    const here = `: the time of the service is ${new Date(now).toUTCString()}`
    if (now - ms > DATE_WINDOW) {
      refuse(401, 'date-too-old', `the header ${name} is older than 15 minutes${here}`)
    }
    if (ms - now > DATE_WINDOW) {
      refuse(401, 'date-in-future', `the header ${name} is more than 15 minutes ahead${here}`)
    }
  }

  /** checkProof refuses a call that no key of the caller proves. `claimed` has an item for each key of the caller. */
  function checkProof(call: ArrivedCall, claimed: readonly Known[]): void {
    const [signature, apiKey] = [get(call, 'Signature'), get(call, 'ApiKey')]
    if (signature !== null) {
      const values = signedValues(call)
      const signed = expectedBytes(template, values)
      if (claimed.some(({ isSigned }) => isSigned(signed, signature))) return
      const others = known
        .filter((one) => !claimed.includes(one))
        .map((one) => ({ name: nameOf(one), isSigned: one.isSigned }))
      const headerDate = call.header('date')
      const { differs, reason } = differenceIn({
        ...{ template, values, signature, basePath, claimed, others, headerDate },
      })
      const hint = reason === null ? { hint: 'if you signed stringToSign, the key differs' } : {}
      const stringToSign = signed.toString('utf8')
      refuseSignature(reason === null ? '' : `: ${reason}`, { differs, stringToSign, ...hint })
    } else if (apiKey === null) {
      refuse(401, 'signature-missing', `the header ${prefix}Signature is missing`)
    } else if (!claimed.some((one) => one.apiKey === apiKey)) {
      refuse(401, 'api-key-unknown', 'the API key is not valid')
    }
  }

  /** claimedCaller returns the caller that the headers name, and the known callers with the keys that can prove it. */
  function claimedCaller(call: ArrivedCall, audience: Audience): [Caller, readonly Known[]] {
    const account = get(call, 'Account')
    const partner = get(call, 'Partner')
    const partnerAccount = get(call, 'PartnerAccount')
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
    claimedAccount: (call) => get(call, 'PartnerAccount') ?? get(call, 'Account'),
    authenticate: (call, audience) => {
      checkDate(call)
      const [caller, claimed] = claimedCaller(call, audience)
      checkProof(call, claimed)
      return caller
    },
  }
}

const nameOf = ({ account, partner }: KnownCaller) =>
  account === undefined ? `partner ${partner}` : `account ${account}`

/** refuseSignature refuses a call with 401. `why` ends the message, and the members of `more` are added to the body. */
export function refuseSignature(why = '', more: object = {}): never {
  const code = 'signature-mismatch'
  const message = `the signature does not match the request${why}`
  throw new Refusal(jsonAnswer(401, { code, message, ...more }, code))
}
