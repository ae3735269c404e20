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
  /** spend is what was spent in `spendMonth` of a monthly budget, or so far of a one-time budget. */
  spend: number
  /** spendMonth is yyyy-MM in UTC. */
  spendMonth: string
  /** listedFrom is the time from which searches show the campaign, in wall-clock ms. */
  listedFrom: number
}

/** newCampaign makes a campaign from the fields of a call. `now` is wall-clock ms. */
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

/** bidLevel returns the level; for a blank level it returns `accelerated` if the cpc is blank, too, and else null. */
export const bidLevel = (level: string | null | undefined, cpc: number | null | undefined) =>
  level || (cpc == null ? 'accelerated' : null)
/** fullTargeting adds an empty value for each criterion that is not given. */
export const fullTargeting = (given: PartialTargeting) =>
  ({ ...NO_TARGETING, ...given }) as SandboxTargeting
const dateTime = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
/** monthOf returns the month of wall-clock ms as yyyy-MM in UTC. */
export const monthOf = (ms: number) => new Date(ms).toISOString().slice(0, 7)
