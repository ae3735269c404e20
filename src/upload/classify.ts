// Decides what an answer of storage means: success, another address to post to, or a failure with its row of the
// decision table. Pure functions. The XML code decides before the status, because one 403 means "ask for a new form"
// and another 403 means "this form is wrong".

import type { Rule } from '../domain/decision-rule.ts'
import {
  type Failure,
  type FailureDetails,
  failureOf,
  RULES,
  ruleOfCode,
  ruleOfStatus,
} from '../domain/decision-table.ts'
import type { HttpReply } from '../lib/http.ts'
import { type NoAnswer, noAnswerText } from '../lib/http-errors.ts'
import { isHtml, retryAfterMs } from '../lib/http-text.ts'
import { redact, shownName } from '../lib/secrets.ts'
import { type Confirmation, isSuccess, judgeSuccess, type SentFile } from './confirmation.ts'
import type { FormFacts } from './form.ts'
import { readStorageBody, type StorageError } from './storage-answer.ts'

/** Judgement is what an answer means. `failure` is the result of a `moved` that is not followed. */
export type Judgement = Confirmation | { kind: 'moved'; to: URL; failure: Failure }

/** judgeReply judges an answer of storage. `wallNow`, in wall ms, turns the date of a Retry-After into a wait. */
export function judgeReply(reply: HttpReply, sent: SentFile, wallNow: number): Judgement {
  const { status } = reply
  const { facts } = sent
  const isPage = isHtml(reply.headers, reply.body)
  const body = isPage ? ({ kind: 'foreign' } as const) : readStorageBody(reply.body)
  const common = {
    status,
    origin: facts.origin,
    retryAfterMs: retryAfterMs(reply.headers, wallNow),
  }
  const failed = (rule: Rule, rest: FailureDetails): Judgement => ({
    kind: 'failed',
    failure: failureOf(rule, { ...common, ...rest }),
  })
  if (isSuccess(status, facts) && body.kind !== 'error')
    return judgeSuccess(reply, { body, common }, sent)
  if (status === 307 || status === 308) return judgeMove(reply, facts, common)
  if (body.kind !== 'error') {
    const how = isPage ? ' with a web page' : ''
    const reason = `storage answered ${status}${how}`
    return failed(ruleOfAnswer(status, RULES.notStorage), { code: `http-${status}`, reason })
  }
  const { error } = body
  const named = shownName(error.code)
  const called = named === null ? status : `${status} ${named}`
  const rule = ruleOfError(error, status, facts)
  const isExpired = rule === RULES.policyExpired
  const code = isExpired ? 'policy-expired' : (named ?? `http-${status}`)
  const clauses = isExpired ? ['the policy has expired'] : [...error.sizes]
  if (rule === RULES.formAllowsOtherSize && facts.sizes !== null)
    clauses.push(`the form allows ${facts.sizes.join(' to ')} bytes`)
  const details = clauses.length === 0 ? '' : ` (${clauses.join(', ')})`
  return failed(rule, { code, reason: `storage answered ${called}${details}` })
}

/**
 * judgeMove allows a redirect only to the form's host or a host below it, with the same protocol, without a user name
 * or password, and without a known secret in the host.
 */
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

/** ROW_OF has the rows of missing answers that do not depend on how many bytes were sent. */
const ROW_OF = {
  unreachable: RULES.unreachable,
  certificate: RULES.untrusted,
  proxy: RULES.proxy,
  silent: RULES.stalled,
  stalled: RULES.stalled,
  aborted: RULES.stalled,
}

/** judgeNoAnswer judges a request without an answer. `announced` is the size of the whole request body in bytes. */
export function judgeNoAnswer(answer: NoAnswer, announced: number, origin: string): Failure {
  const { bytesSent, code, why } = answer
  const common = { code, reason: noAnswerText('storage', answer), origin }
  if (why === 'source') {
    const reason = 'the copy of the file in the state directory could not be read to its end'
    return failureOf(RULES.spoolChanged, { code: 'spool-changed', reason })
  }
  if ((why === 'lost' || why === 'silent') && bytesSent >= announced)
    return failureOf(RULES.lostAfterBody, { ...common, ambiguous: true })
  if (why === 'unreadable')
    return failureOf(RULES.unreadableAnswer, { ...common, ambiguous: bytesSent >= announced })
  if (why === 'lost')
    return failureOf(bytesSent === 0 ? RULES.lostBeforeBody : RULES.lostMidBody, common)
  return failureOf(ROW_OF[why], common)
}

/** ABOUT_SIZE are the rows of an `<Error>` that refuses the size of the file. */
const ABOUT_SIZE: readonly Rule[] = [RULES.tooLarge, RULES.tooSmall]

/**
 * ruleOfError returns the row of an error document. The sender posts a file only if the form allows its size, so an
 * error about the size contradicts a form that names sizes.
 */
function ruleOfError({ code, message }: StorageError, status: number, facts: FormFacts): Rule {
  if (code === 'AccessDenied' && /policy expired/i.test(message)) return RULES.policyExpired
  if (code === 'AccessDenied' && /extra input fields/i.test(message)) return RULES.requestRefused
  const rule = ruleOfCode(code)
  if (rule !== null && ABOUT_SIZE.includes(rule) && facts.sizes !== null)
    return RULES.formAllowsOtherSize
  const otherwise = status >= 400 && status < 500 ? RULES.formRefused : RULES.notStorage
  return rule ?? ruleOfAnswer(status, otherwise)
}

/** ruleOfAnswer returns the row of a status; `otherwise` is the row of a status below 500 that no row names. */
function ruleOfAnswer(status: number, otherwise: Rule): Rule {
  return ruleOfStatus('storage', status) ?? (status >= 500 ? RULES.storageError : otherwise)
}
