// What the last look at the campaigns found, as `status`, the page and alerts show it.

/** CampaignRun is the result of a look at the campaigns, kept for `status`. */
export interface CampaignRun {
  /** ISO 8601 UTC. */
  at: string
  /** The reason for the look: `start`, `file`, `upload`, `interval`, `once`, or a command. */
  cause: string
  mode: 'report' | 'targeting'
  /**
   * `done` means the look is complete, `unusable` the file cannot be used, `failed` the service could not be reached,
   * `refused` and `credentials` the service refused, and `busy` another process writes campaigns. In every state but
   * `done`, `entries`, `findings` and `failures` are from the look before.
   */
  state: 'done' | 'unusable' | 'failed' | 'refused' | 'credentials' | 'busy'
  /** ISO 8601 UTC of the first look in an unbroken series of looks with this state. */
  since: string
  /** Why the state is not `done`, and what to do; null for `done`. */
  problem: string | null
  hint: string | null
  /** The entries of the file, in its order. */
  entries: CampaignSeen[]
  /** Other facts that a person should know. */
  findings: CampaignFinding[]
  /** The writes that did not end with `done`. */
  failures: CampaignWriteFailure[]
}

/**
 * CampaignNumbers are the numbers of one campaign, or sums over several campaigns. Money is decimal text; null means
 * not known, or none.
 */
export interface CampaignNumbers {
  /** The postings that the service sponsors now. */
  covered: number | null
  /** The postings of the last uploads that the campaign's current targeting selects, by our own count. */
  counted: number | null
  /** Whether `counted` is an upper limit, because the service might keep only one of several feeds of the account. */
  isAtMost: boolean
  spent: string | null
  /** The budget of the whole period, or of a month if the campaign is monthly. */
  budget: string | null
  /** The budget that is left; negative if more than the budget is spent. */
  left: string | null
}

/** Coverage holds the main numbers of a campaign. */
export interface Coverage extends CampaignNumbers {
  /** The spent part of the budget: 1 is all of it. */
  spentShare: number | null
  isMonthly: boolean
  /** The period, from `begins` to `ends`, in ISO 8601 UTC. The period of a monthly campaign is the current month. */
  begins: string | null
  ends: string | null
}

/** CampaignSeen is an entry of the file as the last look found it. A null field is not known, or has no value. */
export interface CampaignSeen {
  /** External campaign id. */
  key: string
  campaignId: string | null
  state: 'new' | 'in line' | 'differs' | 'pending' | 'unknown' | 'blocked'
  /** ISO 8601 UTC of the first look that found the entry in this state. */
  since: string
  /** Why the entry is `unknown` or `blocked`. */
  reason: string | null
  /** The one next step: a command to paste, or an edit. */
  next: string | null
  /** One line for each difference: `budget: 100.00 -> 150.00  [can spend more]`. */
  changes: string[]
  /** The name and status that the service shows. */
  name: string | null
  status: string | null
  /** The main numbers; null if the entry has no campaign that could be read. */
  coverage: Coverage | null
}

export interface CampaignFinding {
  code: string
  /** External campaign id; null if the finding concerns no entry. */
  key: string | null
  campaignId: string | null
  text: string
  /** The edit or command that settles the finding; null means nothing has to be done. */
  next: string | null
  severity: FindingSeverity
}

/** FindingSeverity says how bad a finding is. Monitoring and alerts report a `warning`; `info` is only shown. */
export type FindingSeverity = 'warning' | 'info'

interface CampaignWriteFailure {
  /** External campaign id. */
  key: string
  campaignId: string | null
  outcome: string
  reason: string | null
}
