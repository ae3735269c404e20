// Owns what an answer of storage means: success, a place to post to instead, or a failure with its row of
// the decision table. Pure functions. The XML code decides before the status does, because one 403 means
// "ask for a new form" and the next one "this form is wrong".

import {
  type Failure,
  failureOf,
  RULES,
  type Rule,
  ruleOfCode,
  ruleOfStatus,
  type FailureDetails,
} from '../lib/decision-table.ts'
import type { HttpReply } from '../lib/http.ts'
import type { NoAnswer } from '../lib/http-errors.ts'
import { isHtml, retryAfterMs } from '../lib/http-text.ts'
import { redact, shownName } from '../lib/secrets.ts'
import { type Confirmation, confirm, isSuccess } from './confirmation.ts'
import type { FormFacts } from './form.ts'
import { readStorageBody, type StorageError } from './storage-answer.ts'

export type Judgement = Confirmation | { kind: 'moved'; to: URL; failure: Failure }

/** `md5`: of the file that was sent, in hex. */
export function judgeReply(
  reply: HttpReply,
  facts: FormFacts,
  md5: string,
  wallNow: number,
): Judgement {
  const { status } = reply
  const isPage = isHtml(reply.headers, reply.body)
  const body = isPage ? ({ kind: 'foreign' } as const) : readStorageBody(reply.body)
  const common = { status, origin: facts.origin, retryAfterMs: retryAfterMs(reply.headers, wallNow) }
  const failed = (rule: Rule, rest: FailureDetails): Judgement => ({
    kind: 'failed',
    failure: failureOf(rule, { ...common, ...rest }),
  })
  if (isSuccess(status, facts) && body.kind !== 'error')
    return confirm(reply, body, facts, md5, common)
  if (status === 307 || status === 308) return judgeMove(reply, facts, common)
  if (body.kind !== 'error') {
    const how = isPage ? ' and a web page' : ''
    const reason = `storage answered ${status}${how}`
    return failed(ruleOfAnswer(status), { code: `http-${status}`, reason })
  }
  const { error } = body
  const named = shownName(error.code)
  const called = named === null ? status : `${status} ${named}`
  const rule = ruleOfError(error, status)
  const isExpired = rule === RULES.policyExpired
  const code = isExpired ? 'policy-expired' : (named ?? `http-${status}`)
  const clauses = isExpired ? ['the policy has expired'] : error.sizes
  const details = clauses.length === 0 ? '' : ` (${clauses.join(', ')})`
  return failed(rule, { code, reason: `storage answered ${called}${details}` })
}

/** Only to the same host or one below it, and with the same protocol as the form's address. */
function judgeMove(reply: HttpReply, facts: FormFacts, common: Partial<Failure>): Judgement {
  const { status } = reply
  const { location } = reply.headers
  const to = location === undefined ? null : URL.parse(location, facts.url.href)
  const failure = failureOf(RULES.movedElsewhere, {
    ...common,
    code: `http-${status}`,
    reason: `storage redirects to ${to === null ? 'no address' : 'an address'} that the form does not allow`,
  })
  const { hostname, protocol } = facts.url
  const isAllowed =
    to !== null &&
    redact(to.host) === to.host &&
    (to.hostname === hostname || to.hostname.endsWith(`.${hostname}`)) &&
    to.protocol === protocol &&
    to.username + to.password === ''
  return isAllowed ? { kind: 'moved', to, failure } : { kind: 'failed', failure }
}

/** The rows that do not depend on how much was sent. */
const ROW_OF = {
  unreachable: RULES.unreachable,
  certificate: RULES.untrusted,
  proxy: RULES.proxy,
  silent: RULES.stalled,
  stalled: RULES.stalled,
  aborted: RULES.stalled,
}

/** `announced`: bytes of the whole request body. */
export function judgeNoAnswer(answer: NoAnswer, announced: number, origin: string): Failure {
  const { bytesSent, code, why } = answer
  const common = { code, reason: `no answer from storage: ${answer.reason}`, origin }
  if (why === 'source') {
    const reason = 'the copy of the file in the state directory could not be read to its end'
    return failureOf(RULES.spoolChanged, { code: 'spool-changed', reason })
  }
  if ((why === 'lost' || why === 'silent') && bytesSent >= announced)
    return failureOf(RULES.lostAfterBody, { ...common, ambiguous: true })
  if (why === 'lost')
    return failureOf(bytesSent === 0 ? RULES.lostBeforeBody : RULES.lostMidBody, common)
  return failureOf(ROW_OF[why], common)
}

function ruleOfError({ code, message }: StorageError, status: number): Rule {
  if (code === 'AccessDenied' && /policy expired/i.test(message)) return RULES.policyExpired
  if (code === 'AccessDenied' && /extra input fields/i.test(message)) return RULES.requestRefused
  return ruleOfCode(code) ?? ruleOfAnswer(status, status >= 400 && status < 500)
}

/** `fromStorage`: the body was storage's XML with a code that the table does not name. */
function ruleOfAnswer(status: number, fromStorage = false): Rule {
  const rule = ruleOfStatus('storage', status)
  if (rule !== null) return rule
  if (status >= 500) return RULES.storageError
  return fromStorage ? RULES.formRefused : RULES.notStorage
}
