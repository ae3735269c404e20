// The parts of a plan that follow from one entry alone: bodies, what to remember of them, and order.

import { createHash } from 'node:crypto'
import { toWire } from '../lib/amount.ts'
import type { DesiredCampaign } from './desired.ts'
import type { PlanItem } from './plan.ts'
import type { Applied, Campaign, CampaignCreate } from './port.ts'
import { onTheWire } from './targeting.ts'

/** Adoptions, reductions, neutral changes, raises, creates, and last what waits for a person. */
export function rank({ action, spend }: PlanItem): number {
  if (action === 'adopt' || action === 'agree') return 0
  if (action === 'blocked' || action === 'unknown') return 5
  if (action === 'create') return 4
  return { down: 1, neutral: 2, up: 3, unknown: 3 }[spend]
}

export function createBody(
  wanted: DesiredCampaign & Required<Pick<DesiredCampaign, 'targeting'>>,
): CampaignCreate {
  const { name, startDate, endDate, autoBidLevel, cpc, maxCpc, paidCpaGoal, budget } = wanted
  return {
    name,
    ...(startDate !== undefined && { startDate }),
    ...(endDate !== undefined && { endDate }),
    ...(autoBidLevel !== undefined && { autoBidLevel }),
    ...(cpc !== undefined && { cpc: toWire(cpc) }),
    ...(maxCpc !== undefined && { maxCpc: toWire(maxCpc) }),
    ...(paidCpaGoal !== undefined && { paidCpaGoal: toWire(paidCpaGoal) }),
    ...(budget !== undefined && { budget: toWire(budget) }),
    ...(wanted.period === 'monthly' && { period: 1 }),
    targeting: onTheWire(wanted.targeting, []),
  }
}

/** Of the wanted fields, those that were written; `once` is written by leaving `period` out. */
export function rememberOf(wanted: DesiredCampaign, written: readonly string[]): Applied {
  const { key, campaignId, adopt, preventEnd, ...fields } = wanted
  return Object.fromEntries(Object.entries(fields).filter(([field]) => written.includes(field)))
}

/** Digest of what a decision about a campaign rests on; what it spent and leads change all the time. */
export function seenDigest(campaign: Campaign): string {
  const { spend, sponsoredPostings, leads, other, ...steady } = campaign
  const sorted = Object.entries(steady).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex')
}
