// The decision table: what each answer of the service and of storage means, whether it is temporary, how often
// feedsyncd tries again, and what a person can do. Data and look-ups only. docs/decision-table.md shows the same table,
// and a test compares the two.

import type { ConditionCode } from './conditions.ts'
import { type FailureClass, type Rule, rule } from './decision-rule.ts'

/**
 * The number of attempts in about an hour of growing waits. A deployment of the other side can cause refusals for that
 * long.
 */
const HOUR_OF_TRIES = 22
/** The number of attempts in about an hour of the slow curve. */
const SLOW_HOUR_OF_TRIES = 17

const OUR_BUG =
  'report this to the makers of feedsyncd with the attempt from "show"; after their answer, retry the feed'
const ASK_OPERATOR =
  'ask the service operator whether the form for this account is right; then retry the feed'
const NOT_CONFIRMED =
  'a proxy might answer in place of storage: check HTTPS_PROXY, and ask the service operator what storage answers and whether the file is there; then retry the feed'
const THEN_AGAIN = 'then retry the feed or drop the same file again'
const CHECK_KEY =
  'check the key file, service.auth and the account or partner; uploads are tried again when the key file changes, and every 5 minutes'

const TABLE = {
  noForm: rule({
    from: 'service',
    when: 'no connection, no answer, or a status that no other row names (5xx)',
  }),
  noFormThrottled: rule({
    from: 'service',
    pace: 'throttled',
    statuses: [429],
    when: 'the service is busy: this status, or a temporary answer with Retry-After',
  }),
  serviceMoved: rule({
    from: 'service',
    when: 'a redirect, which is not followed',
    hint: 'if the service has moved, set service.baseUrl to its new address, which curl -sI shows; feedsyncd never sends a signed request to another address',
  }),
  badForm: rule({
    from: 'service',
    when: 'an answer without a readable form: a 2xx, or an answer that is not valid HTTP',
    hint: 'check that service.baseUrl and service.presignPath lead to the service, not to a login or proxy page; feedsyncd tries again automatically',
  }),
  formRejected: rule({
    from: 'service',
    class: 'broken',
    tries: HOUR_OF_TRIES,
    when: 'an unsafe form: a wrong address, a field named "file", or a field twice',
    hint: ASK_OPERATOR,
  }),
  credentials: rule({
    from: 'service',
    class: 'credentials',
    statuses: [401, 403],
    when: 'the service refuses the credentials or the account',
    hint: CHECK_KEY,
  }),
  serviceRefused: rule({
    from: 'service',
    class: 'broken',
    pace: 'slow',
    tries: SLOW_HOUR_OF_TRIES,
    statuses: [400, 404, 405, 406, 409, 410, 411, 412, 413, 415, 422],
    when: 'the service refuses to give a form',
    hint: 'check service.baseUrl, service.presignPath and the account; then retry the feed',
  }),
  accountUnusable: rule({
    from: 'here',
    class: 'broken',
    when: 'the account of the feed is missing or invalid; nothing is sent',
    hint: 'correct the feed rule, folder name or file name that gives the account; then retry the feed',
  }),
  untrusted: rule({
    from: 'either',
    pace: 'slow',
    when: 'the TLS certificate cannot be trusted',
    hint: 'check the clock of this machine (timedatectl); if your proxy inspects TLS, set NODE_EXTRA_CA_CERTS to a file with its current CA, and restart feedsyncd; otherwise report it to the service operator',
  }),
  proxy: rule({
    from: 'either',
    pace: 'slow',
    statuses: [407],
    when: 'the proxy refuses the request',
    hint: 'check HTTPS_PROXY (with user:password@ if the proxy needs it) and NO_PROXY, and that the proxy allows this host',
  }),
  waiting: rule({ from: 'here', when: 'the breaker of the origin is open; nothing is sent' }),
  largerThanForm: rule({
    from: 'here',
    class: 'file',
    hint: `export a smaller file; or ask the service operator to raise the limit of the form, ${THEN_AGAIN}`,
    when: 'the file is larger than the form allows; nothing is sent',
  }),
  smallerThanForm: rule({
    from: 'here',
    class: 'file',
    hint: `check whether the export is complete; if it is, ask the service operator to lower the limit of the form, ${THEN_AGAIN}`,
    when: 'the file is smaller than the form allows; nothing is sent',
  }),
  unreachable: rule({
    from: 'storage',
    when: 'no connection',
  }),
  lostBeforeBody: rule({
    from: 'storage',
    when: 'the connection breaks before any byte of the file is sent',
  }),
  lostMidBody: rule({
    from: 'storage',
    when: 'the connection breaks while the file is sent',
  }),
  lostAfterBody: rule({
    from: 'storage',
    when: 'no answer after the last byte: the file might be stored, and the same form overwrites it',
  }),
  unreadableAnswer: rule({
    from: 'storage',
    class: 'broken',
    pace: 'slow',
    tries: 3,
    when: 'an answer that is not valid HTTP: the file might be stored, and the same form overwrites it',
    hint: 'ask the service operator whether the file is there, and to correct what storage answers; a proxy might also change the answer: check HTTPS_PROXY; then retry the feed',
  }),
  stalled: rule({
    from: 'storage',
    when: 'storage takes no byte of the file for 5 minutes',
  }),
  answeredEarly: rule({
    from: 'storage',
    class: 'broken',
    pace: 'slow',
    tries: SLOW_HOUR_OF_TRIES,
    hint: NOT_CONFIRMED,
    when: 'a success status before the whole file was sent: a part of the file might be stored',
  }),
  unconfirmed: rule({
    from: 'storage',
    class: 'broken',
    pace: 'slow',
    tries: SLOW_HOUR_OF_TRIES,
    hint: NOT_CONFIRMED,
    when: 'a 2xx without an ETag or a PostResponse, except the 200 or 204 that the form names',
  }),
  notStorage: rule({
    from: 'storage',
    pace: 'slow',
    freshForm: true,
    when: 'a page that is not from storage, with a status that no other row names (also 2xx)',
    hint: 'a proxy, firewall or login page might answer in place of storage: check HTTPS_PROXY and the network; feedsyncd tries again automatically',
  }),
  policyExpired: rule({
    from: 'storage',
    freshForm: true,
    when: 'AccessDenied: "Policy expired"',
    hint: 'check the clock of this machine (timedatectl); if it is right, report to the service operator that forms arrive expired',
  }),
  formTokenGone: rule({
    from: 'storage',
    freshForm: true,
    when: 'the token of the form is no longer valid',
    codes: 'ExpiredToken InvalidAccessKeyId TokenRefreshRequired InvalidToken',
  }),
  formRefused: rule({
    from: 'storage',
    class: 'broken',
    freshForm: true,
    tries: HOUR_OF_TRIES,
    when: 'storage refuses the form, or answers a 4xx with a code that no other row names',
    codes:
      'AccessDenied SignatureDoesNotMatch RequestTimeTooSkewed InvalidPolicyDocument NoSuchBucket',
    hint: ASK_OPERATOR,
  }),
  originRejectsAll: rule({
    from: 'either',
    when: 'three feeds in a row were refused, and none was stored between them',
    hint: 'ask the service operator whether the forms are right; all feeds wait, and feedsyncd tries them again automatically',
  }),
  requestRefused: rule({
    from: 'storage',
    class: 'broken',
    pace: 'slow',
    tries: SLOW_HOUR_OF_TRIES,
    freshForm: true,
    statuses: [411, 412, 501],
    when: 'storage refuses the request as malformed; also AccessDenied: "Extra input fields"',
    codes:
      'MalformedPOSTRequest InvalidArgument UserKeyMustBeSpecified KeyTooLongError InvalidDigest IncorrectNumberOfFilesInPostRequest MaxPostPreDataLengthExceededError MissingContentLength PreconditionFailed RequestIsNotMultiPartContent NotImplemented',
    hint: OUR_BUG,
  }),
  tooLarge: rule({
    from: 'storage',
    class: 'file',
    statuses: [413],
    hint: `export a smaller file; or ask the service operator, or the owner of the proxy that answered, to raise the limit, ${THEN_AGAIN}`,
    when: 'storage, or a proxy in front of it, refuses a file of this size',
    codes: 'EntityTooLarge MaxMessageLengthExceeded',
  }),
  tooSmall: rule({
    from: 'storage',
    class: 'file',
    hint: `check whether the export is complete; if it is, ask the service operator to lower the limit of storage, ${THEN_AGAIN}`,
    when: 'storage refuses a file that is this small',
    codes: 'EntityTooSmall',
  }),
  formAllowsOtherSize: rule({
    from: 'storage',
    class: 'file',
    freshForm: true,
    hint: `the form is at fault, not the file: ask the service operator to make the limits of forms and of storage equal, ${THEN_AGAIN}`,
    when: 'storage refuses the size of a file, by one of the codes above, although the form allows it',
  }),
  bytesMissing: rule({
    from: 'storage',
    when: 'storage did not receive all bytes in time',
    codes: 'RequestTimeout IncompleteBody',
  }),
  digestDiffers: rule({
    from: 'storage',
    class: 'broken',
    tries: 3,
    when: 'storage received other bytes, according to its MD5',
    codes: 'BadDigest',
    hint: 'something between this machine and storage changes the bytes: look for a proxy; then retry the feed',
  }),
  storageError: rule({
    from: 'storage',
    statuses: [408, 409],
    when: 'an error of storage itself: these statuses, and every 5xx that no other row names',
    codes: 'InternalError OperationAborted',
  }),
  throttled: rule({
    from: 'storage',
    pace: 'throttled',
    statuses: [429, 503],
    when: 'storage is busy',
    codes:
      'SlowDown ServiceUnavailable Throttling ThrottlingException TooManyRequests TooManyRequestsException RequestLimitExceeded BandwidthLimitExceeded',
  }),
  movedForGood: rule({
    from: 'storage',
    class: 'broken',
    freshForm: true,
    tries: HOUR_OF_TRIES,
    statuses: [301],
    hint: ASK_OPERATOR,
    when: 'storage has moved permanently',
    codes: 'PermanentRedirect',
  }),
  movedElsewhere: rule({
    from: 'storage',
    class: 'broken',
    freshForm: true,
    tries: HOUR_OF_TRIES,
    when: 'a 307 or 308 to another host or to a less protected address, or a second redirect',
    hint: ASK_OPERATOR,
  }),
  spoolChanged: rule({
    from: 'here',
    class: 'broken',
    when: 'the copy of the file in the state directory is gone, or has changed since the check',
    hint: 'check the disk of the state directory; then put the file into the folder again',
  }),
  spoolUnreadable: rule({
    from: 'here',
    pace: 'slow',
    when: 'the copy of the file in the state directory cannot be opened or read',
    hint: 'check the disk and the permissions of the state directory',
  }),
} satisfies Record<string, Omit<Rule, 'name'>>

export const RULES = Object.fromEntries(
  Object.entries(TABLE).map(([name, row]) => [name, { name, ...row }]),
) as Record<keyof typeof TABLE, Rule>

/** ruleOfStatus returns the row for an answer of which only the HTTP status is known; null if no row names it. */
export function ruleOfStatus(from: 'service' | 'storage', status: number): Rule | null {
  const rows = Object.values(RULES).filter((row) => row.from === from || row.from === 'either')
  return rows.find(({ statuses }) => statuses.includes(status)) ?? null
}

/** ruleOfCode returns the row of an error code of storage; null if no row names the code. */
export function ruleOfCode(code: string): Rule | null {
  return Object.values(RULES).find(({ codes }) => codes.includes(code)) ?? null
}

export interface Failure {
  /** The row of the table. */
  rule: Rule
  class: FailureClass
  /** A stable short name: a system code, a storage error code, `http-503`, `policy-expired`, `stalled`. */
  code: string
  /** The HTTP status; null means no answer came. */
  status: number | null
  /** A plain sentence without secrets: what happened. */
  reason: string
  /** A plain sentence: what a person can do. */
  hint: string
  /** The wait that the service or storage asked for, in ms from now; null if it asked for none. */
  retryAfterMs: number | null
  /** The scheme, host and port that failed, by which the breaker knows the origin; null if no origin failed. */
  origin: string | null
  /** The condition that the daemon sets, because one of its own files failed; absent for any other failure. */
  condition?: ConditionCode
  /** True if the request might have taken effect although no answer confirmed it. */
  ambiguous: boolean
}

/** FailureDetails are the facts of a failure that its row does not give. */
export type FailureDetails = Pick<Failure, 'code' | 'reason'> & Partial<Failure>

/** failureOf returns a failure with the class and the hint of its row, unless `details` has its own. */
export function failureOf(rule: Rule, details: FailureDetails): Failure {
  const rest = { status: null, retryAfterMs: null, origin: null, ambiguous: false }
  return { class: rule.class, hint: rule.hint, ...rest, ...details, rule }
}
