// Owns what an answer of storage means: success, a place to post to instead, or a failure with its row of
// the decision table. Pure functions. The XML code decides before the status does, because one 403 means
// "ask for a new form" and the next one "never again" (research/upload.md fact 4).

import type { HttpReply } from '../lib/http.ts'
import type { NoAnswer } from '../lib/http-errors.ts'
import {
  excerpt,
  isHtml,
  isSafeAddress,
  retryAfterMs,
  shownCode,
  shownOrigin,
} from '../lib/http-text.ts'
import { holdsSecret, redact } from '../lib/redact.ts'
import { confirm, isSuccess } from './confirmation.ts'
import type { FormFacts } from './form.ts'
import type { Failure } from './port.ts'
import { RULES, type Rule } from './rules.ts'
import { readStorageBody, type StorageError } from './storage-answer.ts'

export interface Verdict {
  failure: Failure
  rule: Rule
}

export type Judgement =
  | { kind: 'stored'; etagVerified: boolean; warning: string | null }
  | { kind: 'moved'; to: URL; verdict: Verdict }
  | { kind: 'failed'; verdict: Verdict }

type Told = Pick<Failure, 'code' | 'reason'> & Partial<Failure>

/** The failure of a row; what the other side said comes in `told`. */
export function failureOf(rule: Rule, told: Told): Verdict {
  const next = rule.sameForm > 0 ? 'same-form' : rule.newForms > 0 ? 'new-form' : 'stop'
  const rest = { status: null, retryAfterMs: null, origin: null, ambiguous: false }
  return { rule, failure: { class: rule.class, hint: rule.hint, next, ...rest, ...told } }
}

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
  const told = { status, origin: facts.origin, retryAfterMs: retryAfterMs(reply.headers, wallNow) }
  const failed = (
    rule: Rule,
    rest: Pick<Failure, 'code' | 'reason'> & Partial<Failure>,
  ): Judgement => ({
    kind: 'failed',
    verdict: failureOf(rule, { ...told, ...rest }),
  })
  if (isSuccess(status, facts) && body.kind !== 'error') {
    const confirmed = confirm(reply, body, facts, md5)
    if (confirmed.kind === 'stored') return confirmed
    const { rule, code, reason, ambiguous } = confirmed
    return failed(rule, { code, reason, ambiguous })
  }
  if (status === 307 || status === 308) return judgeMove(reply, facts, told)
  if (body.kind !== 'error') {
    const how = isPage ? ' and a web page' : ''
    const reason = `storage answered ${status}${how}`
    return failed(ruleOfStatus(status), { code: `http-${status}`, reason })
  }
  const { error } = body
  const message = excerpt(error.message, facts.secrets)
  const named = shownCode(error.code, facts.secrets)
  const called = named === null ? status : `${status} ${named}`
  const says = `storage answered ${called}${message === '' ? '' : `: ${message}`}`
  const rule = ruleOfCode(error) ?? ruleOfStatus(status, true)
  const code = rule === RULES.policyExpired ? 'policy-expired' : (named ?? `http-${status}`)
  return failed(rule, { code, reason: redact(says + sizes(error), facts.secrets) })
}

/** Row 27: an address of the same host or under it, and nothing less protected than the form's own. */
function judgeMove(reply: HttpReply, facts: FormFacts, told: Partial<Failure>): Judgement {
  const { status } = reply
  const { location } = reply.headers
  const to = location === undefined ? null : URL.parse(location, facts.url.href)
  const verdict = failureOf(RULES.movedElsewhere, {
    ...told,
    code: `http-${status}`,
    reason: `storage redirects to ${to === null ? 'nowhere' : shownOrigin(to, facts.secrets)}, which the form does not allow`,
  })
  const under =
    to !== null &&
    !holdsSecret(to.host, facts.secrets) &&
    (to.hostname === facts.url.hostname || to.hostname.endsWith(`.${facts.url.hostname}`))
  const asSafe = to !== null && isSafeAddress(to) && to.protocol === facts.url.protocol
  return under && asSafe ? { kind: 'moved', to, verdict } : { kind: 'failed', verdict }
}

/** `announced`: bytes of the whole request body. */
export function judgeNoAnswer(answer: NoAnswer, announced: number, origin: string): Verdict {
  const sentAll = answer.bytesSent >= announced
  const told = { code: answer.code, reason: `no answer from storage: ${answer.reason}`, origin }
  switch (answer.why) {
    case 'unreachable':
      return failureOf(RULES.unreachable, told)
    case 'certificate':
      return failureOf(RULES.untrusted, told)
    case 'proxy':
      return failureOf(RULES.proxy, told)
    case 'source':
      return failureOf(RULES.spoolChanged, {
        code: 'spool-changed',
        reason: 'the copy of the file in the state directory could not be read to its end',
      })
    case 'lost':
      if (sentAll) return failureOf(RULES.lostAfterBody, { ...told, ambiguous: true })
      return failureOf(answer.bytesSent === 0 ? RULES.lostBeforeBody : RULES.lostMidBody, told)
    case 'silent':
      if (sentAll) return failureOf(RULES.lostAfterBody, { ...told, ambiguous: true })
      return failureOf(RULES.stalled, told)
    case 'stalled':
    case 'aborted':
      return failureOf(RULES.stalled, told)
    default:
      return answer.why satisfies never
  }
}

const CODES: ReadonlyArray<readonly [rule: Rule, codes: string]> = [
  [RULES.formTokenGone, 'ExpiredToken InvalidAccessKeyId TokenRefreshRequired InvalidToken'],
  [
    RULES.formRefused,
    'AccessDenied SignatureDoesNotMatch RequestTimeTooSkewed InvalidPolicyDocument NoSuchBucket',
  ],
  [
    RULES.ourBug,
    'MalformedPOSTRequest InvalidArgument UserKeyMustBeSpecified KeyTooLongError InvalidDigest ' +
      'IncorrectNumberOfFilesInPostRequest MaxPostPreDataLengthExceededError MissingContentLength ' +
      'PreconditionFailed RequestIsNotMultiPartContent NotImplemented',
  ],
  [RULES.fileRefused, 'EntityTooLarge EntityTooSmall MaxMessageLengthExceeded'],
  [RULES.bytesMissing, 'RequestTimeout IncompleteBody'],
  [RULES.digestDiffers, 'BadDigest'],
  [RULES.storageError, 'InternalError OperationAborted'],
  [
    RULES.throttled,
    'SlowDown ServiceUnavailable Throttling ThrottlingException TooManyRequests ' +
      'TooManyRequestsException RequestLimitExceeded BandwidthLimitExceeded',
  ],
  [RULES.movedForGood, 'PermanentRedirect'],
]

const RULE_OF_CODE = new Map(
  CODES.flatMap(([rule, codes]) => codes.split(' ').map((code) => [code, rule] as const)),
)

function ruleOfCode({ code, message }: StorageError): Rule | null {
  if (code === 'AccessDenied' && /policy expired/i.test(message)) return RULES.policyExpired
  if (code === 'AccessDenied' && /extra input fields/i.test(message)) return RULES.ourBug
  return RULE_OF_CODE.get(code) ?? null
}

/** `fromStorage`: the body was storage's XML with a code that we do not know. */
function ruleOfStatus(status: number, fromStorage = false): Rule {
  if (status === 301) return RULES.movedForGood
  if (status === 407) return RULES.proxy
  if (status === 408 || status === 409) return RULES.storageError
  if (status === 411 || status === 412 || status === 501) return RULES.ourBug
  if (status === 413) return RULES.fileRefused
  if (status === 429 || status === 503) return RULES.throttled
  if (status >= 500) return RULES.storageError
  return fromStorage && status >= 400 ? RULES.formRefused : RULES.notStorage
}

function sizes({ proposedSize, maxSizeAllowed, minSizeAllowed }: StorageError): string {
  const parts = [
    proposedSize === null ? null : `the file has ${proposedSize} bytes`,
    maxSizeAllowed === null ? null : `at most ${maxSizeAllowed} are allowed`,
    minSizeAllowed === null ? null : `at least ${minSizeAllowed} are needed`,
  ].filter((part) => part !== null)
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}
