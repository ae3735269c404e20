// Owns asking for a pre-signed form (specification section 4) and what each answer means: rows 1 to 7 of
// the decision table in research/upload.md. It retries nothing but a request that a wrong clock spoiled.

import type { HttpAnswer, HttpReply } from '../lib/http.ts'
import type { NoAnswer } from '../lib/http-errors.ts'
import { excerpt, isHtml, retryAfterMs, shownAddress } from '../lib/http-text.ts'
import { isHandedOver, keyAdvice } from '../lib/key-advice.ts'
import type { Failure } from '../upload/port.ts'
import { createServiceClient, type ServiceClient, type ServiceOptions } from './client.ts'
import { readForm } from './form-answer.ts'
import type { FormAnswer, FormSource } from './port.ts'

export interface FormSourceOptions extends ServiceOptions {
  presignPath: string
}

/** A form is a few kB; a longer answer is something else. */
const MAX_ANSWER = 1024 * 1024

/** Row 7 of the table: what the service means for us. A redirect, a WAF's 418 or a 5xx may pass by itself. */
const OUR_MISTAKE = new Set([400, 404, 405, 406, 409, 410, 411, 412, 413, 415, 422])

/** Of a captured path segment, which may be any text: empty it would silently mean the whole partner. */
const HEADER_VALUE = /^[\x21-\x7e]+( [\x21-\x7e]+)*$/

const UNTRUSTED =
  'if a proxy of yours inspects TLS, put its CA into a file and set NODE_EXTRA_CA_CERTS to it; otherwise report it to the service operator'
const BY_ITSELF = 'nothing to do: it is tried again by itself'

/** @throws FeedsyncError (78) when the key or the template cannot be used. */
export function createFormSource(options: FormSourceOptions): FormSource {
  const client = createServiceClient(options)
  const accepted = new Map<string | null, number>()
  return {
    origin: client.origin,
    accepted: () => accepted,
    clockSkewMs: () => client.clockSkewMs(),
    reloadKey: () => {
      client.reloadKey()
      accepted.clear()
    },
    requestForm: async (account, signal, path) => {
      if (account !== null && !client.isPartner) return failed(accountWithoutPartner(account))
      if (account !== null && !HEADER_VALUE.test(account)) return failed(oddAccount(account))
      if (client.lacksAccount(options.presignPath, account)) return failed(noAccount(path))
      const call = { method: 'POST', path: options.presignPath, body: null, account }
      const answer = await client.call({ ...call, maxAnswerBytes: MAX_ANSWER }, signal)
      const judged = judge(answer, client, account, options)
      if (judged.kind === 'form') accepted.set(account, options.clock.monotonic())
      const isRefused = judged.kind === 'failure' && judged.failure.class === 'credentials'
      // Row 6: what worked a moment ago may have stumbled; it is asked once more, and only once.
      if (isRefused && accepted.delete(account)) judged.failure.next = 'new-form'
      return judged
    },
  }
}

function failed(failure: Failure): FormAnswer {
  return { kind: 'failure', failure }
}

function judge(
  answer: HttpAnswer,
  client: ServiceClient,
  account: string | null,
  { auth, clock }: FormSourceOptions,
): FormAnswer {
  if (answer.kind === 'no-answer') return failed({ ...noAnswer(answer), origin: client.origin })
  const { status, headers, body, bodyCut } = answer
  const common = { status, origin: client.origin, ambiguous: false }
  const retryAfter = retryAfterMs(headers, clock.now())
  if (status >= 200 && status < 300) {
    const reading = bodyCut
      ? ({ kind: 'unreadable', reason: 'a body that was cut off' } as const)
      : readForm(body)
    if (reading.kind === 'form') return reading
    const page = isHtml(headers, body)
    return failed({
      ...common,
      class: 'transient',
      code: 'bad-form',
      reason: `the service answered ${status} with ${page ? 'a web page instead of a form' : reading.reason}`,
      hint: 'check that service.baseUrl and service.presignPath name the service, and no login or proxy page; it is tried again by itself',
      retryAfterMs: retryAfter,
      next: 'new-form',
    })
  }
  const says = spoken(answer)
  if (status === 401 || status === 403) {
    const isOfAccount = status === 403 && account !== null
    const whom = account === null ? '' : ` for the partner account "${account}"`
    return failed({
      ...common,
      class: 'credentials',
      code: `http-${status}`,
      reason: isOfAccount
        ? `the service refused the partner account "${account}" with 403${says}`
        : `the service refused the credentials${whom} with ${status}${says}`,
      hint: isOfAccount
        ? `check the folder or file name that "${account}" comes from, and ask the service operator to admit it; its feeds are tried again every 15 minutes, and at once by "retry"`
        : `${keyAdvice(auth.keyFile)}; check service.auth and the account or partner${skewHint(client.clockSkewMs())}; uploads are tried again ${isHandedOver(auth.keyFile) ? '' : 'when the key file changes, and '}every 15 minutes`,
      retryAfterMs: null,
      next: 'stop',
    })
  }
  if (status === 407)
    return failed({
      ...common,
      class: 'transient',
      code: 'proxy-407',
      reason: 'the proxy wants a user name and password, or refuses those it was given (407)',
      hint: 'put user:password@ into HTTPS_PROXY; it is tried again by itself',
      retryAfterMs: retryAfter,
      next: 'stop',
    })
  if (headers.location !== undefined && status >= 300 && status < 400)
    return failed({
      ...common,
      class: 'transient',
      code: `http-${status}`,
      reason: `the service redirects to ${placeOf(headers.location, client.origin)} (${status})`,
      hint: 'if that is the service, set service.baseUrl to it: a signed request is never sent to another address by itself',
      retryAfterMs: retryAfter,
      next: 'new-form',
    })
  if (!OUR_MISTAKE.has(status))
    return failed({
      ...common,
      class: 'transient',
      code: `http-${status}`,
      reason: `the service answered ${status}${says}`,
      hint: BY_ITSELF,
      retryAfterMs: retryAfter,
      next: 'new-form',
    })
  return failed({
    ...common,
    class: 'broken',
    code: `http-${status}`,
    reason: `the service refused to give an upload form: ${status}${says}`,
    hint: 'check service.baseUrl, service.presignPath and the account; then retry the feed',
    retryAfterMs: null,
    next: 'stop',
  })
}

function placeOf(location: string, origin: string): string {
  const to = URL.parse(location, origin)
  const shown = to === null ? null : shownAddress(to.href)
  return shown === null ? 'no usable address' : excerpt(shown)
}

function noAnswer(answer: NoAnswer): Omit<Failure, 'origin'> {
  const untrusted = answer.why === 'certificate'
  return {
    class: 'transient',
    code: answer.code,
    status: null,
    reason: `no answer from the service: ${answer.reason}`,
    hint: untrusted ? UNTRUSTED : BY_ITSELF,
    retryAfterMs: null,
    // A certificate does not mend itself within seconds, and asking again looks like an attack to both sides.
    next: untrusted || answer.why === 'proxy' ? 'stop' : 'new-form',
    // A form that was made and never arrived stores nothing.
    ambiguous: false,
  }
}

/** What the service says of its refusal, for the partner's support; nothing of a web page. */
function spoken({ headers, body }: HttpReply): string {
  if (isHtml(headers, body)) return ' and a web page'
  const text = excerpt(body.toString('utf8'))
  return text === '' ? '' : `: ${text}`
}

function skewHint(skewMs: number | null): string {
  return skewMs === null || Math.abs(skewMs) < 60_000
    ? ''
    : ` (this clock is ${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'behind' : 'ahead of'} the service's)`
}

function accountWithoutPartner(account: string): Failure {
  return unsent(
    'account-without-partner',
    `the feed names the partner account "${account}", and the configured identity is an account, not a partner`,
    'set service.partner in place of service.account, or take partnerAccount out of the feed rule',
  )
}

function noAccount(path: string | undefined): Failure {
  return unsent(
    'no-partner-account',
    `no partner account: no rule names one for ${path ?? 'this feed'}`,
    'set service.partnerAccount, or partnerAccount in the rule of feeds that matches the path; then retry the feed',
  )
}

function oddAccount(account: string): Failure {
  return unsent(
    'account-unusable',
    `the partner account ${JSON.stringify(account)} of the feed cannot be sent: it must be plain ASCII text`,
    'rename the folder or file that the feed rule takes the account from, or name the account in the rule',
  )
}

/** A failure of the configuration: the service was not asked. */
function unsent(code: string, reason: string, hint: string): Failure {
  return {
    ...{ class: 'broken', code, reason, hint, next: 'stop' },
    ...{ status: null, retryAfterMs: null, origin: null, ambiguous: false },
  }
}
