// Owns the decision table: what each answer of the service and of storage means, whether it is temporary,
// how often it is tried again, and what a person can do. Data and look-ups only; docs/decision-table.md is
// the same table as a page, and a test holds the two together.

import type { ConditionCode } from './conditions.ts'

/**
 * One behaviour each: `transient` is temporary, backs off and never gives up. `credentials` pauses the feeds of the
 * account. `file` is about this file and ends it at once. `broken` is no answer that a right request gets: it is
 * tried as often as `tries` says, then it ends as `failed`.
 */
export type FailureClass = 'transient' | 'credentials' | 'file' | 'broken'

/** How long the wait before the next attempt is: a curve of upload/retry.ts. */
export type Pace = 'usual' | 'throttled' | 'slow'

export interface Rule {
  /** Its key in `RULES`; what the log says. */
  readonly name: string
  /** Who answers so; `either`: service or storage; `here`: found on this host. */
  readonly from: 'service' | 'storage' | 'either' | 'here'
  /** What happened. */
  readonly when: string
  /** HTTP statuses that mean this where nothing more is known. */
  readonly statuses: readonly number[]
  /** Codes of storage's error documents that mean this, whatever the status. */
  readonly codes: readonly string[]
  /** What it is when everything that the rule allows was tried. */
  readonly class: FailureClass
  readonly pace: Pace
  /** The form at hand cannot succeed: the next attempt asks for another one. */
  readonly freshForm: boolean
  /** `broken` only: attempts in a row that end so until it is final. */
  readonly tries: number
  readonly hint: string
}

/** About an hour with waits that grow: a refusal may be a deployment of theirs. */
const HOUR_OF_TRIES = 22
/** The same with the slow curve. */
const SLOW_HOUR_OF_TRIES = 17

const AUTOMATIC = 'no action needed'
const OUR_BUG =
  'report this to the makers of feedsyncd with the attempt from "show"; after their answer, retry the feed'
const ASK_OPERATOR =
  'ask the service operator whether the form for this account is right; then retry the feed'
const NOT_CONFIRMED =
  'a proxy may answer in place of storage: check HTTPS_PROXY, and ask the service operator what storage answers and whether the file is there; then retry the feed'
const OTHER_LIMIT =
  'export a smaller file, or have the limit raised (by the service operator, or in the proxy that answers so) and retry the feed; the same file dropped again is retried as well'
const CHECK_KEY =
  'check the key file, service.auth and the account or partner; uploads are tried again when the key file changes, and every 5 minutes'

type Row = Pick<Rule, 'from' | 'when'> & Partial<Omit<Rule, 'codes'>> & { codes?: string }

const rule = ({ codes = '', ...row }: Row): Omit<Rule, 'name'> => ({
  statuses: [],
  class: 'transient',
  pace: 'usual',
  freshForm: false,
  tries: 1,
  hint: AUTOMATIC,
  ...row,
  codes: codes.split(' ').filter((code) => code !== ''),
})

const TABLE = {
  noForm: rule({
    from: 'service',
    when: 'no connection, no answer, or any status that is not named below (5xx)',
  }),
  noFormThrottled: rule({
    from: 'service',
    pace: 'throttled',
    statuses: [429],
    when: 'it is busy: the status, or a temporary answer with Retry-After',
  }),
  serviceMoved: rule({
    from: 'service',
    when: 'a redirect; it is not followed',
    hint: 'if the service has moved, set service.baseUrl to its new address (curl -sI shows where it leads): a signed request is never sent to another address automatically',
  }),
  badForm: rule({
    from: 'service',
    when: 'a 2xx without a form that can be read',
    hint: 'check that service.baseUrl and service.presignPath name the service, and no login or proxy page; it is tried again automatically',
  }),
  formRejected: rule({
    from: 'service',
    class: 'broken',
    tries: HOUR_OF_TRIES,
    when: 'a form that must not be posted: an unsafe address, a field called "file", a field twice',
    hint: ASK_OPERATOR,
  }),
  credentials: rule({
    from: 'service',
    class: 'credentials',
    statuses: [401, 403],
    when: 'it refuses the credentials or the account',
    hint: CHECK_KEY,
  }),
  serviceRefused: rule({
    from: 'service',
    class: 'broken',
    pace: 'slow',
    tries: SLOW_HOUR_OF_TRIES,
    statuses: [400, 404, 405, 406, 409, 410, 411, 412, 413, 415, 422],
    when: 'it refuses to give a form',
    hint: 'check service.baseUrl, service.presignPath and the account; then retry the feed',
  }),
  accountUnusable: rule({
    from: 'here',
    class: 'broken',
    when: 'the account of the feed cannot be named to the service; nothing is sent',
    hint: 'correct the feed rule, the folder or the file that the account comes from; then retry the feed',
  }),
  untrusted: rule({
    from: 'either',
    pace: 'slow',
    when: 'its TLS certificate cannot be trusted',
    hint: 'check the clock of this machine (timedatectl); if a proxy of yours inspects TLS, set NODE_EXTRA_CA_CERTS to a file with its present CA, and restart feedsyncd; otherwise report it to the service operator',
  }),
  proxy: rule({
    from: 'either',
    pace: 'slow',
    statuses: [407],
    when: 'the proxy does not let the request through',
    hint: 'check HTTPS_PROXY (with user:password@ if the proxy wants one) and NO_PROXY, and that the proxy allows this host',
  }),
  waiting: rule({ from: 'here', when: 'the breaker of the other side is open; nothing is sent' }),
  sizeOutsidePolicy: rule({
    from: 'here',
    class: 'file',
    hint: OTHER_LIMIT,
    when: 'the file is larger or smaller than the form allows; nothing is sent',
  }),
  unreachable: rule({
    from: 'storage',
    when: 'no connection',
  }),
  lostBeforeBody: rule({
    from: 'storage',
    when: 'the connection breaks before a byte of the file was sent',
  }),
  lostMidBody: rule({
    from: 'storage',
    when: 'the connection breaks while the file is sent',
  }),
  lostAfterBody: rule({
    from: 'storage',
    when: 'no answer after the last byte: it may be stored (the same form overwrites it)',
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
    when: 'a success before the whole file was sent: it may be stored in part',
  }),
  unconfirmed: rule({
    from: 'storage',
    class: 'broken',
    pace: 'slow',
    tries: SLOW_HOUR_OF_TRIES,
    hint: NOT_CONFIRMED,
    when: 'a 2xx that is neither 200 or 204 as the form names it, nor has an ETag or a PostResponse',
  }),
  notStorage: rule({
    from: 'storage',
    pace: 'slow',
    freshForm: true,
    when: 'a page that is not storage’s, with any status that is not named here (also 2xx)',
    hint: 'a proxy, firewall or login page may answer in place of storage: check HTTPS_PROXY and the network; it is tried again automatically',
  }),
  policyExpired: rule({
    from: 'storage',
    freshForm: true,
    when: 'AccessDenied: "Policy expired"',
    hint: 'check the clock of this machine (timedatectl); if it is right, tell the service operator that forms arrive expired',
  }),
  formTokenGone: rule({
    from: 'storage',
    freshForm: true,
    when: 'the token of the form is over',
    codes: 'ExpiredToken InvalidAccessKeyId TokenRefreshRequired InvalidToken',
  }),
  formRefused: rule({
    from: 'storage',
    class: 'broken',
    freshForm: true,
    tries: HOUR_OF_TRIES,
    when: 'it refuses the form, or answers a 4xx with a code that is not named here',
    codes:
      'AccessDenied SignatureDoesNotMatch RequestTimeTooSkewed InvalidPolicyDocument NoSuchBucket',
    hint: ASK_OPERATOR,
  }),
  originRejectsAll: rule({
    from: 'either',
    when: 'three feeds were refused one after the other, with none stored between',
    hint: 'ask the service operator whether its forms are right; every feed waits, and is tried again automatically',
  }),
  requestRefused: rule({
    from: 'storage',
    class: 'broken',
    pace: 'slow',
    tries: SLOW_HOUR_OF_TRIES,
    freshForm: true,
    statuses: [411, 412, 501],
    when: 'it does not take the request as it is; also AccessDenied: "Extra input fields"',
    codes:
      'MalformedPOSTRequest InvalidArgument UserKeyMustBeSpecified KeyTooLongError InvalidDigest IncorrectNumberOfFilesInPostRequest MaxPostPreDataLengthExceededError MissingContentLength PreconditionFailed RequestIsNotMultiPartContent NotImplemented',
    hint: OUR_BUG,
  }),
  fileRefused: rule({
    from: 'storage',
    class: 'file',
    statuses: [413],
    hint: OTHER_LIMIT,
    when: 'it, or a proxy before it, refuses a file of this size',
    codes: 'EntityTooLarge EntityTooSmall MaxMessageLengthExceeded',
  }),
  bytesMissing: rule({
    from: 'storage',
    when: 'it did not get all bytes in time',
    codes: 'RequestTimeout IncompleteBody',
  }),
  digestDiffers: rule({
    from: 'storage',
    class: 'broken',
    tries: 3,
    when: 'it got other bytes, by its MD5',
    codes: 'BadDigest',
    hint: 'something between this machine and storage changes the bytes: look for a proxy; then retry the feed',
  }),
  storageError: rule({
    from: 'storage',
    statuses: [408, 409],
    when: 'an error of its own: these, and every 5xx that is not named here',
    codes: 'InternalError OperationAborted',
  }),
  throttled: rule({
    from: 'storage',
    pace: 'throttled',
    statuses: [429, 503],
    when: 'it is busy',
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
    when: 'it has moved for good',
    codes: 'PermanentRedirect',
  }),
  movedElsewhere: rule({
    from: 'storage',
    class: 'broken',
    freshForm: true,
    tries: HOUR_OF_TRIES,
    when: 'a 307 or 308 to another host or to a less protected address, or a second one',
    hint: ASK_OPERATOR,
  }),
  spoolChanged: rule({
    from: 'here',
    class: 'broken',
    when: 'the copy of the file in the state directory is gone, or is not what was checked',
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

/** What a status says where nothing else is known; null: the table does not name it. */
export function ruleOfStatus(from: 'service' | 'storage', status: number): Rule | null {
  const rows = Object.values(RULES).filter((row) => row.from === from || row.from === 'either')
  return rows.find(({ statuses }) => statuses.includes(status)) ?? null
}

/** What storage's error code says, whatever the status; null: the table does not name it. */
export function ruleOfCode(code: string): Rule | null {
  return Object.values(RULES).find(({ codes }) => codes.includes(code)) ?? null
}

export interface Failure {
  /** Its row of the table. */
  rule: Rule
  class: FailureClass
  /** Stable short name: a system code, a storage error code, `http-503`, `policy-expired`, `stalled`. */
  code: string
  /** HTTP status, or null where there was no answer. */
  status: number | null
  /** Plain sentence: what happened, without any secret. */
  reason: string
  /** Plain sentence: what a person can do. */
  hint: string
  /** What the other side asked for, in ms from now; null: nothing. */
  retryAfterMs: number | null
  /** Scheme, host and port that failed: the breaker's key. */
  origin: string | null
  /** Of our own files, where that is what failed: what it means for the daemon. */
  condition?: ConditionCode
  /** True when the request may have taken effect although no answer came. */
  ambiguous: boolean
}

/** What the other side said, of a failure whose row is known. */
export type FailureDetails = Pick<Failure, 'code' | 'reason'> & Partial<Failure>

export function failureOf(rule: Rule, details: FailureDetails): Failure {
  const rest = { status: null, retryAfterMs: null, origin: null, ambiguous: false }
  return { class: rule.class, hint: rule.hint, ...rest, ...details, rule }
}
