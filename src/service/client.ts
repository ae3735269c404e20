// Makes a signed call of the service (specification section 5): headers, identity, signature, and the service's clock.
// One call is one request, or two if the first answer shows that our clock is wrong. The callers interpret the answer.

import { type Identity, isBulkRoute, type SignatureAlgorithm } from '../domain/service-words.ts'
import { type Clock, MINUTE, SECOND } from '../lib/clock.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import type { HttpAnswer, HttpClient } from '../lib/http.ts'
import { httpDate } from '../lib/http-text.ts'
import type { Log } from '../lib/log.ts'
import { registerTemporarySecret, type Secret } from '../lib/secrets.ts'
import { readKeyFile } from './key-file.ts'
import { bytesToSign, createSigner, type Signable } from './signer.ts'

export interface ServiceAuth {
  method: 'signature' | 'apiKey'
  algorithm: SignatureAlgorithm
  keyFile: string
  stringToSign: string
}

export interface ServiceOptions {
  http: HttpClient
  clock: Clock
  log: Log
  /** The client puts the path of this address in front of the path of every call, and does not sign that part. */
  baseUrl: string
  identity: Identity
  headerPrefix: string
  auth: ServiceAuth
}

interface ServiceCall {
  method: string
  /** Relative to the base address, beginning with `/v1/`, with or without a query. */
  path: string
  body: Buffer | null
  /** Replaces the configured partner account; null means the configured identity. */
  account: string | null
  maxAnswerBytes: number
  /** True opens a new connection, for a call after a lost connection. */
  freshConnection?: boolean
}

/** A service can reject an old date with one of these statuses: the specification (section 7) names no status. */
const OLD_DATE: ReadonlySet<number> = new Set([400, 401, 403])

/** If the clocks differ by more than this, a refused request is signed again with the service's time. */
const SKEW_LIMIT = 60 * SECOND

/** After a longer wait, the Date of an answer can be too old to measure the service's clock. */
const SLOW_ANSWER = 20 * SECOND

const ANSWER_TIMEOUT = 30 * SECOND

/**
 * TOTAL_TIMEOUT ends a request whose answer arrives too slowly, such as one byte a second. It is longer than the limits
 * of lib/http.ts together (look-up, connection, tunnel, answer), so that a step that takes too long is named first.
 */
const TOTAL_TIMEOUT = 4 * MINUTE

export class ServiceClient {
  readonly origin: string
  /** Only a partner may name the account that it acts for (specification section 5). */
  readonly isPartner: boolean
  readonly #auth: ServiceAuth
  readonly #clock: Clock
  readonly #headerPrefix: string
  readonly #http: HttpClient
  readonly #identity: Identity
  readonly #log: Log
  readonly #base: string
  #authorize: (signable: Signable) => string
  /** The service's time minus our monotonic time in ms, whatever this host's clock shows; null until it is measured. */
  #measured: number | null = null
  /** The value of `#measured` with which requests are dated; null if this host's clock dates the requests. */
  #applied: number | null = null

  /** @throws FeedsyncError (78) when the key cannot be used. */
  constructor({ auth, baseUrl, clock, headerPrefix, http, identity, log }: ServiceOptions) {
    const base = new URL(baseUrl)
    this.#auth = auth
    this.#clock = clock
    this.#headerPrefix = headerPrefix
    this.#http = http
    this.#identity = identity
    this.#log = log
    this.origin = base.origin
    this.isPartner = 'partner' in identity
    this.#base = `${base.origin}${base.pathname.replace(/\/+$/, '')}`
    this.#authorize = this.#readAuthorization()
  }

  /**
   * lacksAccount returns whether a call would name a partner without an account, which specification section 5 forbids:
   * do not send that call. `account` replaces the configured partner account; null means the configured identity.
   */
  lacksAccount(path: string, account: string | null): boolean {
    const { partner, partnerAccount } = this.#identify(account)
    return partner !== '' && partnerAccount === '' && !isBulkRoute(path)
  }

  /** clockSkewMs returns the service's time minus ours in ms; null until an answer has a Date header. */
  clockSkewMs(): number | null {
    return this.#skewOf(this.#measured)
  }

  /** reloadKey reads the key again. @throws FeedsyncError (78); then the previous key stays in use. */
  reloadKey(): void {
    this.#authorize = this.#readAuthorization()
  }

  /**
   * call sends the request once. If the answer might refuse its date, and the clocks differ, later requests are dated
   * with the service's time, and call sends this request again, except one whose body was refused with 400.
   */
  async call(call: ServiceCall, signal: AbortSignal): Promise<HttpAnswer> {
    const datedSkewMs = this.#skewOf(this.#applied) ?? 0
    const answer = await this.#send(call, signal)
    const refused = answer.kind === 'answer' && OLD_DATE.has(answer.status)
    const skewMs = this.clockSkewMs()
    if (!refused || skewMs === null) return answer
    // Compare with the date of this request: a parallel request might have corrected the clock since.
    if (Math.abs(skewMs - datedSkewMs) <= SKEW_LIMIT) return answer
    this.#applied = this.#measured
    this.#log.warn(
      { event: 'service.clock-skew', skewMs, status: answer.status },
      'the clock of this machine differs from the clock of the service; requests are dated with the service’s time',
    )
    // A 400 can also refuse the body. Do not send such a request twice, because it can create something.
    return answer.status === 400 && call.body !== null ? answer : this.#send(call, signal)
  }

  async #send(call: ServiceCall, signal: AbortSignal): Promise<HttpAnswer> {
    const clock = this.#clock
    const url = new URL(this.#base + call.path)
    const date = new Date(clock.now() + (this.#skewOf(this.#applied) ?? 0)).toUTCString()
    const who = this.#identify(call.account)
    const proof = this.#authorize({
      method: call.method,
      path: url.href.slice(this.#base.length).replace(/[?#].*$/s, ''),
      query: url.search.slice(1),
      body: call.body ?? Buffer.alloc(0),
      date,
      host: url.host,
      url: url.href,
      ...who,
    })
    registerTemporarySecret(proof)
    const proofName = this.#auth.method === 'apiKey' ? 'ApiKey' : 'Signature'
    const named = {
      Account: who.account,
      Partner: who.partner,
      PartnerAccount: who.partnerAccount,
      Date: date,
      [proofName]: proof,
    }
    const used = Object.entries(named).filter(([, value]) => value !== '')
    const headers = {
      accept: 'application/json',
      ...(call.body !== null && { 'content-type': 'application/json' }),
      ...Object.fromEntries(used.map(([name, value]) => [this.#headerPrefix + name, value])),
    }
    const late = new AbortController()
    using _timer = clock.after(TOTAL_TIMEOUT, () => late.abort())
    const answer = await this.#http.request({
      method: call.method,
      url,
      headers,
      body: call.body,
      signal: AbortSignal.any([signal, late.signal]),
      headersTimeoutMs: ANSWER_TIMEOUT,
      bodyTimeoutMs: ANSWER_TIMEOUT,
      maxAnswerBytes: call.maxAnswerBytes,
      freshConnection: call.freshConnection ?? false,
    })
    if (answer.kind === 'answer') {
      if (answer.tookMs <= SLOW_ANSWER) this.#measureClock(answer.headers)
      return answer
    }
    if (!late.signal.aborted) return answer
    const reason = `${url.host} did not answer within ${TOTAL_TIMEOUT / SECOND} s`
    return { ...answer, why: 'silent', code: 'answer-timeout', reason }
  }

  #identify(account: string | null): { account: string; partner: string; partnerAccount: string } {
    const identity = this.#identity
    if ('account' in identity) return { account: identity.account, partner: '', partnerAccount: '' }
    const { partner, partnerAccount } = identity
    return { account: '', partner, partnerAccount: account ?? partnerAccount ?? '' }
  }

  #measureClock(headers: Readonly<Record<string, string>>): void {
    const date = httpDate(headers)
    if (date !== null) this.#measured = date - this.#clock.monotonic()
  }

  /** #skewOf turns a difference to our monotonic time into a difference to our wall time, in whole ms. */
  #skewOf(offset: number | null): number | null {
    const clock = this.#clock
    return offset === null ? null : Math.round(offset + clock.monotonic() - clock.now())
  }

  /** #readAuthorization reads the key and returns a function, which makes the header with the signature or API key. */
  #readAuthorization(): (signable: Signable) => string {
    const { method, algorithm, keyFile, stringToSign } = this.#auth
    const isApiKey = method === 'apiKey'
    const key = readKeyFile(keyFile, {
      dropNewline: isApiKey || algorithm.startsWith('hmac-'),
    })
    if (isApiKey) return headerValue(key, keyFile)
    const sign = createSigner(algorithm, key, keyFile)
    return (signable) => sign(bytesToSign(stringToSign, signable))
  }
}

function headerValue(key: Secret, keyFile: string): () => string {
  const value = key.reveal().toString('latin1')
  if (/^[\x21-\x7e]+$/.test(value)) return () => value
  throw new FeedsyncError(`the key file ${keyFile} holds characters that an API key cannot have`, {
    hint: 'the file must contain only the key, on one line, without spaces',
    exitCode: EXIT.config,
  })
}
