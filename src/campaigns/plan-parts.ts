// The parts of a plan that follow from one entry alone: bodies, what to remember of them, and order.

import { createHash } from 'node:crypto'
import { toWire } from '../lib/amount.ts'
import type { Campaign, CampaignCreate } from '../service/port.ts'
import type { DesiredCampaign } from './desired.ts'
import type { Effects } from './effects.ts'
import { COMMAND, quoted } from './locate.ts'
import type { PlanItem, Selection } from './plan.ts'
import type { Applied, CampaignRecord } from './port.ts'
import { type CanonicalTargeting, onTheWire } from './targeting.ts'

/** Adoptions, reductions, neutral changes, raises, creates, and last what waits for a person. */
export function rank({ action, spend }: PlanItem): number {
  if (action === 'adopt' || action === 'agree') return 0
  if (action === 'blocked' || action === 'unknown') return 5
  if (action === 'create') return 4
  return { down: 1, neutral: 2, up: 3, unknown: 3 }[spend]
}

/** A file that lost more entries than this, and more than 30 %, looks truncated. */
const FEW = 3
const LARGEST_LOSS = 0.3

/** Why nothing at all may be written, or null; `lost`: records that the file does not name any more. */
export function whyStopped(
  input: { account: string; knownAccount: string | null; records: readonly CampaignRecord[] },
  lost: number,
): string | null {
  const { account, knownAccount, records } = input
  if (knownAccount !== null && knownAccount !== account)
    return `the database belongs to the account ${knownAccount}, the configuration names ${account}; give each account a state.directory of its own`
  if (lost > FEW && lost > records.length * LARGEST_LOSS)
    return `the file lists ${records.length - lost} of the ${records.length} managed campaigns, so it may be truncated; list the others again, under removed if they are to end`
  return null
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

/** Postings before and after; null without a feed to count in. */
export function anyFeed(effects: Effects, postings: Selection): Selection | null {
  return effects.latest.length === 0 ? null : postings
}

/** What a new targeting does to the postings of a campaign; before: the most that may be selected now. */
export function selection(
  effects: Effects,
  { applied, pending }: Pick<CampaignRecord, 'applied' | 'pending'>,
  after: CanonicalTargeting,
): Selection | null {
  const there = [applied.targeting, pending].filter((one) => one != null)
  const counts = there.map((one) => effects.count(one))
  const known = applied.targeting !== undefined && !counts.includes(null)
  const before = known ? Math.max(...counts.map(Number)) : null
  return anyFeed(effects, { before, after: effects.count(after) })
}

export const checkFirst = (key: string) =>
  `look at it on the service, then ${COMMAND} resolve ${quoted(key)} --checked`
