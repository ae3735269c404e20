// This file defines a campaign as the service stores it (specification sections 2 and 3).

import type { CreateFields, PartialTargeting, SandboxTargeting } from './body.ts'

export type SandboxCampaign = ReturnType<typeof newCampaign>

/** newCampaign makes a campaign. Searches show it from `listedFrom` on; `listedFrom` and `now` are wall-clock ms. */
export function newCampaign(
  own: { id: string; accountId: string; name: string | null; listedFrom: number },
  fields: CreateFields,
  now: number,
) {
  return {
    ...own,
    startDate: fields.startDate ?? dateTime(now),
    endDate: fields.endDate ?? null,
    budget: fields.budget ?? null,
    autoBidLevel: bidLevel(fields.autoBidLevel, fields.cpc),
    cpc: fields.cpc ?? null,
    maxCpc: fields.maxCpc ?? null,
    /** period is null for a one-time budget and 1 for a monthly one. */
    period: fields.period ?? null,
    /** status is 1 (running), 2 (archived) or 3 (paused). */
    status: fields.status ?? 1,
    leads: 0,
    paidCpaGoal: fields.paidCpaGoal ?? null,
    /** targeting is null for all postings. */
    targeting: fields.targeting == null ? null : fullTargeting(fields.targeting),
    /** spend is that of `spendMonth`, or the total if the budget is one-time. */
    spend: 0,
    /** spendMonth is yyyy-MM in UTC. */
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
