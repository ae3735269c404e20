// Asks for a pre-signed form (specification section 4) and finds the row of the decision table for each answer. It
// repeats a request only if a wrong clock dated it.

import type { Rule } from '../domain/decision-rule.ts'
import {
  type Failure,
  type FailureDetails,
  failureOf,
  RULES,
  ruleOfStatus,
} from '../domain/decision-table.ts'
import type { Clock } from '../lib/clock.ts'
import type { HttpAnswer, HttpReply } from '../lib/http.ts'
import {
  type NoAnswer,
  type NoAnswerKind,
  noAnswerText,
  PROXY_REFUSAL,
} from '../lib/http-errors.ts'
import { isHtml, retryAfterMs } from '../lib/http-text.ts'
import { type ServiceAuth, ServiceClient, type ServiceOptions } from './client.ts'
import { Rejected, readForm } from './form-answer.ts'
import { readAnswer, serviceMessage, Unusable } from './json-answer.ts'
import { isHandedOver, keyAdvice } from './key-file.ts'
import type { FormAnswer, FormSource } from './port.ts'

export interface FormSourceOptions extends ServiceOptions {
  presignPath: string
}

/** MAX_ANSWER limits the bytes of an answer that are read. A form has a few kB, so a longer answer is not a form. */
const MAX_ANSWER = 1024 * 1024

/**
 * HEADER_VALUE matches an account that a header can hold. A feed rule can take the account from any part of a path, and
 * an empty account would silently mean the whole partner.
 */
const HEADER_VALUE = /^[\x21-\x7e]+( [\x21-\x7e]+)*$/

/**
 * createFormSource returns a source that reads the key once, and again on `reloadKey`. @throws FeedsyncError (78) if
 * the key cannot be used.
 */
export function createFormSource({ presignPath, ...options }: FormSourceOptions): FormSource {
  const client = new ServiceClient(options)
  return {
    origin: client.origin,
    clockSkewMs: () => client.clockSkewMs(),
    reloadKey: () => client.reloadKey(),
    requestForm: async (account, signal, path) => {
      const unusable = whyAccountNotUsable(client, { account, path, presignPath })
      if (unusable !== null) return failed(failureOf(RULES.accountUnusable, unusable))
      const call = { method: 'POST', path: presignPath, body: null, account }
      const answer = await client.call({ ...call, maxAnswerBytes: MAX_ANSWER }, signal)
      const skewMs = client.clockSkewMs()
      return judgeAnswer(answer, { ...options, account, skewMs })
    },
  }
}

function failed(failure: Failure): FormAnswer {
  return { kind: 'failure', failure }
}

/** FormQuestion is what the service was asked, and with which settings. */
interface FormQuestion {
  account: string | null
  auth: ServiceAuth
  baseUrl: string
  clock: Clock
  /** The service's time minus ours in ms; null if it is unknown. */
  skewMs: number | null
}

function judgeAnswer(
  answer: HttpAnswer,
  { account, auth, baseUrl, clock, skewMs }: FormQuestion,
): FormAnswer {
  const base = new URL(baseUrl)
  const { origin } = base
  if (answer.kind === 'no-answer') return failed(judgeNoAnswer(answer, origin))
  const { status, headers, body } = answer
  const retryAfter = retryAfterMs(headers, clock.now())
  const failedAs = (row: Rule, reason: string, rest: Partial<FailureDetails> = {}) => {
    const details = { code: `http-${status}`, status, origin, retryAfterMs: retryAfter, reason }
    return failed(failureOf(row, { ...details, ...rest }))
  }
  if (status >= 200 && status < 300) {
    const form = readAnswer(answer, (bytes) => readForm(bytes, base))
    if (!(form instanceof Unusable)) return { kind: 'form', form }
    const what = isHtml(headers, body) ? 'a web page instead of a form' : form.message
    const row = form instanceof Rejected ? RULES.formRejected : RULES.badForm
    return failedAs(row, `the service answered ${status} with ${what}`, { code: 'bad-form' })
  }
  const message = refusalMessage(answer)
  const rule = ruleOfStatus('service', status)
  if (rule === RULES.credentials && status === 403 && account !== null)
    return failedAs(
      rule,
      `the service refused the partner account "${account}" with 403${message}`,
      {
        hint: `check the folder or file name that "${account}" comes from, and ask the service operator to admit it; its feeds are tried again every 5 minutes, and at once by "retry"`,
      },
    )
  if (rule === RULES.credentials) {
    const whom = account === null ? '' : ` for the partner account "${account}"`
    const when = isHandedOver(auth.keyFile) ? '' : 'when the key file changes, and '
    return failedAs(rule, `the service refused the credentials${whom} with ${status}${message}`, {
      hint: `${keyAdvice(auth.keyFile)}; check service.auth and the account or partner${skewHint(skewMs)}; uploads are tried again ${when}every 5 minutes`,
    })
  }
  if (rule === RULES.serviceRefused)
    return failedAs(rule, `the service refused to give an upload form: ${status}${message}`)
  if (rule === RULES.proxy) return failedAs(rule, PROXY_REFUSAL, { code: 'proxy-407' })
  if (headers.location !== undefined && status >= 300 && status < 400) {
    const place = placeOf(headers.location, origin)
    return failedAs(RULES.serviceMoved, `the service redirects to ${place} (${status})`)
  }
  const row = rule ?? (retryAfter === null ? RULES.noForm : RULES.noFormThrottled)
  return failedAs(row, `the service answered ${status}${message}`)
}

/** placeOf describes the target of a redirect without the address of another host, which can contain a secret. */
function placeOf(location: string, origin: string): string {
  const to = URL.parse(location, origin)
  if (to === null) return 'no usable address'
  if (to.origin === origin) return 'another path of the same host'
  return to.hostname === new URL(origin).hostname
    ? 'another protocol or port of the same host'
    : 'another host'
}

/** ROW_OF has the rows of the missing answers that a person can correct; all others are `noForm`. */
const ROW_OF: { readonly [why in NoAnswerKind]?: Rule } = {
  certificate: RULES.untrusted,
  proxy: RULES.proxy,
  unreadable: RULES.badForm,
}

/** judgeNoAnswer returns the failure of a request without an answer. No failure is ambiguous: no file was sent yet. */
function judgeNoAnswer(answer: NoAnswer, origin: string): Failure {
  const { code, why } = answer
  return failureOf(ROW_OF[why] ?? RULES.noForm, {
    code,
    reason: noAnswerText('the service', answer),
    origin,
  })
}

/** refusalMessage returns the service's own words about a refusal, to follow `answered 400`; empty without words. */
function refusalMessage(reply: HttpReply): string {
  return isHtml(reply.headers, reply.body) ? ' with a web page' : serviceMessage(reply)
}

function skewHint(skewMs: number | null): string {
  return skewMs === null || Math.abs(skewMs) < 60_000
    ? ''
    : ` (this clock is ${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'behind' : 'ahead of'} the service's)`
}

/** whyAccountNotUsable returns why the account of a feed prevents the request, and what to do; null if nothing does. */
function whyAccountNotUsable(
  client: ServiceClient,
  {
    account,
    path = 'this feed',
    presignPath,
  }: { account: string | null; path?: string | undefined; presignPath: string },
): FailureDetails | null {
  if (account !== null && !client.isPartner)
    return {
      code: 'account-without-partner',
      reason: `the feed names the partner account "${account}", but the configured identity is an account, not a partner`,
      hint: 'set service.partner instead of service.account, or remove partnerAccount from the feed rule; then retry the feed',
    }
  if (account !== null && !HEADER_VALUE.test(account))
    return {
      code: 'account-unusable',
      reason: `the partner account ${JSON.stringify(account)} of the feed cannot be sent: it must be plain ASCII text`,
      hint: 'rename the folder or file from which the feed rule takes the account; or name the account in the rule, restart feedsyncd, and retry the feed',
    }
  if (client.lacksAccount(presignPath, account))
    return {
      code: 'no-partner-account',
      reason: `no rule gives a partner account for ${path}`,
      hint: 'set service.partnerAccount, or partnerAccount in the rule of feeds that matches the path; then restart feedsyncd and retry the feed',
    }
  return null
}
