// A row of the decision table (decision-table.ts).

/**
 * FailureClass names one behaviour each. `transient`: temporary; try again after growing waits and never give up.
 * `credentials`: pause the feeds of the account. `file`: fail this version at once. `broken`: a correct request does
 * not get this answer; try `tries` times, then fail the version.
 */
export type FailureClass = 'transient' | 'credentials' | 'file' | 'broken'

/** Pace selects the curve of waits in pipeline/decide/wait.ts. */
type Pace = 'usual' | 'throttled' | 'slow'

export interface Rule {
  /** The key in `RULES`; the log shows it. */
  readonly name: string
  /** Who gives this answer; `either`: the service or storage; `here`: feedsyncd found it on this host. */
  readonly from: 'service' | 'storage' | 'either' | 'here'
  /** What happened. */
  readonly when: string
  /** HTTP statuses that mean this if nothing more is known. */
  readonly statuses: readonly number[]
  /** Codes of storage's error documents that mean this with any status. */
  readonly codes: readonly string[]
  readonly class: FailureClass
  readonly pace: Pace
  /** The current form cannot succeed, so the next attempt asks for another form. */
  readonly freshForm: boolean
  /** For `broken` only: the version fails after this many attempts in a row with the same code. */
  readonly tries: number
  readonly hint: string
}

const AUTOMATIC = 'no action needed'

type RuleRow = Pick<Rule, 'from' | 'when'> & Partial<Omit<Rule, 'codes'>> & { codes?: string }

/** rule returns a row with the usual values for what it does not name. */
export const rule = ({ codes = '', ...row }: RuleRow): Omit<Rule, 'name'> => ({
  statuses: [],
  class: 'transient',
  pace: 'usual',
  freshForm: false,
  tries: 1,
  hint: AUTOMATIC,
  ...row,
  codes: codes.split(' ').filter((code) => code !== ''),
})
