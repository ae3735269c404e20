// A campaign as the service keeps it (specification sections 2 and 3).

import type { CreateFields, PartialTargeting, SandboxTargeting } from './campaign-body.ts'

export type SandboxCampaign = ReturnType<typeof newCampaign>

/** What the service keeps of a campaign. `listedFrom`: wall ms from which listings show it; `now`: wall ms. */
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
    /** null: one-time, 1: monthly. */
    period: fields.period ?? null,
    /** 1 running, 2 archived, 3 paused. */
    status: fields.status ?? 1,
    leads: 0,
    paidCpaGoal: fields.paidCpaGoal ?? null,
    /** null: all postings. */
    targeting: fields.targeting == null ? null : fullTargeting(fields.targeting),
    /** Spent in `spendMonth`, or ever where the budget is one-time. */
    spend: 0,
    /** yyyy-MM, UTC. */
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

/** Accelerated when blank and no cpc is given. */
export const bidLevel = (level: string | null | undefined, cpc: number | null | undefined) =>
  level || (cpc == null ? 'accelerated' : null)
export const fullTargeting = (given: PartialTargeting) =>
  ({ ...NO_TARGETING, ...given }) as SandboxTargeting
const dateTime = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
export const monthOf = (ms: number) => new Date(ms).toISOString().slice(0, 7)
