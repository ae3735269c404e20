// This file defines a campaign as the service stores it (specification sections 2 and 3).

import type { CreateFields, PartialTargeting, SandboxTargeting } from './body.ts'

export interface SandboxCampaign {
  id: string
  accountId: string
  name: string | null
  startDate: string
  endDate: string | null
  budget: number | null
  autoBidLevel: string | null
  cpc: number | null
  maxCpc: number | null
  /** period is null for a one-time budget and 1 for a monthly one. */
  period: number | null
  /** status is 1 (running), 2 (archived) or 3 (paused). */
  status: number
  leads: number
  paidCpaGoal: number | null
  /** targeting is null for all postings. */
  targeting: SandboxTargeting | null
  /** spend is the spend of `spendMonth`, or the total if the budget is one-time. */
  spend: number
  /** spendMonth is yyyy-MM in UTC. */
  spendMonth: string
  /** listedFrom is the wall-clock ms from which searches show the campaign. */
  listedFrom: number
}

/** newCampaign makes a campaign. `now` is wall-clock ms. */
export function newCampaign(
  own: { id: string; accountId: string; name: string | null; listedFrom: number },
  fields: CreateFields,
  now: number,
): SandboxCampaign {
  return {
    ...own,
    startDate: fields.startDate ?? dateTime(now),
    endDate: fields.endDate ?? null,
    budget: fields.budget ?? null,
    autoBidLevel: bidLevel(fields.autoBidLevel, fields.cpc),
    cpc: fields.cpc ?? null,
    maxCpc: fields.maxCpc ?? null,
    period: fields.period ?? null,
    status: fields.status ?? 1,
    leads: 0,
    paidCpaGoal: fields.paidCpaGoal ?? null,
    targeting: fields.targeting == null ? null : fullTargeting(fields.targeting),
    spend: 0,
    spendMonth: monthOf(now),
  }
}

const NO_TARGETING: SandboxTargeting = {
  cities: [],
  externalCampaignId: null,
  requisitionIds: [],
  jobDescKeywords: [],
  jobTitles: [],
  postalCodes: [],
  stateProvCodes: [],
}

/** bidLevel returns `accelerated` if both the level and the cpc are blank. */
export const bidLevel = (level: string | null | undefined, cpc: number | null | undefined) =>
  level || (cpc == null ? 'accelerated' : null)
export const fullTargeting = (given: PartialTargeting) =>
  ({ ...NO_TARGETING, ...given }) as SandboxTargeting
const dateTime = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
export const monthOf = (ms: number) => new Date(ms).toISOString().slice(0, 7)
