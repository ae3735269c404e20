// The types of findings, and the facts that they are made from.

import type { FindingSeverity } from '../ops/campaigns/run.ts'
import type { Effects } from './effects.ts'
import type { JudgedEntry, Scene } from './judged-entry.ts'

/** LookFacts is what one look found in the file and on the service. The plan and the findings are made from it. */
export interface LookFacts extends Scene {
  judged: readonly JudgedEntry[]
  /** Why the file might be cut, so that the daemon does not use it; null if the daemon uses it. */
  fileDoubt: string | null
  effects: Effects
  /** The look covered all entries, and listed the campaigns. */
  isWhole: boolean
}

export interface LookFinding {
  code:
    | /** A campaign runs without an entry. */ 'outside'
    /** The daemon does not use the file, because it might be cut. */
    | 'file'
    /** Nobody knows whether a campaign was created, and no entry of the file says so. */
    | 'open-creation'
    /** An entry has a second campaign. */
    | 'twin'
    /** We sent a field that the file no longer names. */
    | 'left'
    /** A campaign that can spend covers no posting. */
    | 'covers-none'
    /** The service sponsors far more postings than the targeting selects, or far fewer. */
    | 'covers-more'
    | 'covers-fewer'
    /** At least 90 % of the budget is spent. */
    | 'spent'
    /** A campaign starts, ends or renews within 7 days. */
    | 'soon'
    /** The feeds carry an id that has no entry. */
    | 'no-entry'
    /** The feeds no longer carry the id of an entry. */
    | 'missing'
    /** An entry names a requisition id that no posting has. */
    | 'pin'
    /** Several entries select the same postings. */
    | 'overlap'
    /** An entry selects most of the feeds. */
    | 'share'
    /** Postings carry the id of a campaign that cannot spend. */
    | 'idle'
  /** External campaign id; null if the finding concerns no entry. */
  key: string | null
  campaignId: string | null
  text: string
  /** The command or edit that settles the finding; null if nothing has to be done. */
  next: string | null
  /** A `warning` means that money can be spent that nobody approved, or that no money is spent where it should be. */
  severity: FindingSeverity
}
