// A row of the decision table (decision-table.ts).

/**
 * FailureClass says what follows from a failure. After `transient`, which is temporary, feedsyncd tries again after
 * growing waits and never gives up. After `credentials`, the feeds of the account wait. After `file`, the version fails
 * at once. `broken` is an answer that a correct request does not get: the version fails after `tries` attempts in a
 * row.
 */
export type FailureClass = 'transient' | 'credentials' | 'file' | 'broken'

/** Pace selects the curve of waits in pipeline/decide/wait.ts. */
type Pace = 'usual' | 'throttled' | 'slow'

export interface Rule {
  /** The key in `RULES`; the log shows it. */
  readonly name: string
  /** Who gives this answer: `either` is the service or storage, and `here` is feedsyncd itself. */
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

/** rule gives a row the usual values for the fields that it leaves out. `codes` has spaces between the codes. */
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
