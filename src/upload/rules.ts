// Owns the rows of the decision table in research/upload.md (a) that end an attempt: what class of failure
// it is, what is tried again, how often, and how soon. Data only; classify.ts picks the row.

import type { FailureClass } from './port.ts'

/** Which curve of backoff.ts the wait before the next attempt follows. */
export type Pace = 'at-once' | 'transient' | 'upload' | 'throttled' | 'two-seconds' | 'half-minute'

export interface Rule {
  /** In the table of research/upload.md (a). */
  row: number
  /** What it is when everything that the rule allows was tried. */
  class: FailureClass
  pace: Pace
  /** The first repetition does not wait. */
  firstAtOnce: boolean
  /** Repetitions with the same form before a new one is asked for. */
  sameForm: number
  /** New forms that this row may ask for in one delivery. */
  newForms: number
  hint: string
}

const BY_ITSELF = 'nothing to do: it is tried again by itself'
const OUR_BUG =
  'report this to the makers of feedsyncd with the attempt from "show"; no retry can mend it'
const ASK_OPERATOR =
  'ask the service operator whether the form for this account is right; then retry the feed'

const NOT_CONFIRMED =
  'a proxy may answer in place of storage: check HTTPS_PROXY, and ask the service operator what storage answers; it is tried again automatically'

const rule = (row: number, rest: Partial<Rule>): Rule => ({
  row,
  class: 'transient',
  pace: 'upload',
  firstAtOnce: false,
  sameForm: 0,
  newForms: 0,
  hint: BY_ITSELF,
  ...rest,
})

/** More repetitions than any budget allows: retry.ts ends them. */
const WHILE_BUDGET = 99

export const RULES = {
  noForm: rule(3, { pace: 'transient', newForms: WHILE_BUDGET }),
  noFormThrottled: rule(4, { pace: 'throttled', newForms: WHILE_BUDGET }),
  noFormAndStop: rule(2, {}),
  noFormRefused: rule(6, { class: 'credentials', pace: 'two-seconds', newForms: 1 }),
  sizeOutsidePolicy: rule(9, {
    class: 'file',
    hint: 'make the file fit the limit of the form, or ask the service operator for another limit',
  }),
  unreachable: rule(10, { sameForm: WHILE_BUDGET, firstAtOnce: true }),
  untrusted: rule(2, {
    hint: 'if a proxy of yours inspects TLS, put its CA into a file and set NODE_EXTRA_CA_CERTS to it; otherwise report it to the service operator',
  }),
  proxy: rule(2, { hint: 'check HTTPS_PROXY and NO_PROXY, and that the proxy allows this host' }),
  lostBeforeBody: rule(11, { sameForm: WHILE_BUDGET, firstAtOnce: true }),
  lostMidBody: rule(12, { sameForm: 2, newForms: WHILE_BUDGET }),
  lostAfterBody: rule(13, { sameForm: WHILE_BUDGET }),
  answeredEarly: rule(13, { pace: 'half-minute', sameForm: 1, newForms: 1, hint: NOT_CONFIRMED }),
  unconfirmed: rule(16, { pace: 'half-minute', sameForm: 1, newForms: 1, hint: NOT_CONFIRMED }),
  stalled: rule(14, { sameForm: WHILE_BUDGET }),
  policyExpired: rule(17, {
    pace: 'at-once',
    newForms: 1,
    hint: 'check the clock of this machine (timedatectl); if it is right, tell the service operator that forms arrive expired',
  }),
  formTokenGone: rule(18, { pace: 'transient', newForms: 2 }),
  formRefused: rule(19, { class: 'broken', pace: 'transient', newForms: 1, hint: ASK_OPERATOR }),
  /** Row 19 once it is not about one feed: no repetition at once, the breaker probes. */
  refusesAll: rule(19, {
    hint: 'ask the service operator whether its forms are right; every feed waits, and is tried again by itself',
  }),
  ourBug: rule(20, { class: 'broken', hint: OUR_BUG }),
  fileRefused: rule(21, {
    class: 'file',
    hint: 'make the file fit the limit that storage names; a new version is sent by itself',
  }),
  bytesMissing: rule(22, { sameForm: 2, newForms: WHILE_BUDGET }),
  digestDiffers: rule(23, {
    class: 'broken',
    pace: 'at-once',
    sameForm: 1,
    newForms: 1,
    hint: 'something between this machine and storage changes the bytes: look for a proxy; then retry the feed',
  }),
  storageError: rule(24, { sameForm: WHILE_BUDGET }),
  throttled: rule(25, { pace: 'throttled', sameForm: WHILE_BUDGET }),
  movedForGood: rule(26, { class: 'broken', pace: 'transient', newForms: 1, hint: ASK_OPERATOR }),
  movedElsewhere: rule(27, { class: 'broken', pace: 'transient', newForms: 1, hint: ASK_OPERATOR }),
  notStorage: rule(28, {
    pace: 'half-minute',
    newForms: 1,
    hint: 'a proxy, firewall or login page may answer in place of storage: check HTTPS_PROXY and the network; it is tried again by itself',
  }),
  spoolChanged: rule(29, {
    class: 'broken',
    hint: 'check the disk of the state directory; then put the file into the folder again',
  }),
  spoolUnreadable: rule(29, { hint: 'check the disk and the permissions of the state directory' }),
  waiting: rule(1, {}),
} satisfies Record<string, Rule>
