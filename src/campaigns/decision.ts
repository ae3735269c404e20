// The outcome of what a person decided about a campaign.

import type { CampaignFailure } from '../service/port.ts'

export interface Refusal {
  kind: 'refused'
  reason: string
  hint: string
  /** It may be said later. */
  isEarly?: boolean
  /** The command line is not enough. */
  isUsage?: boolean
}

export type Decision =
  | { kind: 'done'; text: string; campaignId: string | null }
  | Refusal
  | CampaignFailure

export const refused = (reason: string, hint: string, isEarly = false): Refusal => ({
  kind: 'refused',
  reason,
  hint,
  isEarly,
})

export const done = (text: string, campaignId: string | null): Decision => ({
  kind: 'done',
  text,
  campaignId,
})
