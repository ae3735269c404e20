// Owns the main numbers of a campaign: the postings that it covers, what it spent, what is left, and what is left of
// its period. Pure.

import { isoTime } from '../lib/clock.ts'
import type { Coverage } from '../ops/campaigns/run.ts'
import { toWire } from './amount.ts'
import type { Effects } from './effects.ts'
import { currentTargeting } from './field-changes.ts'
import { shownValue } from './fields.ts'
import type { JudgedEntry } from './judged-entry.ts'
import type { Campaign } from './service/port.ts'

/** coverageOf returns the main numbers of an entry's campaign; null if it has no campaign that could be read. */
export function coverageOf(judged: JudgedEntry, effects: Effects, now: number): Coverage | null {
  const { campaign } = judged
  if (campaign === null) return null
  const budget = shownValue(campaign, 'budget')
  const limit = typeof budget === 'number' ? toWire(budget) : null
  const spent = campaign.spend ?? null
  const [begins, ends] = periodOf(campaign, now)
  return {
    covered: campaign.sponsoredPostings ?? null,
    counted: countedOf(judged, effects),
    isAtMost: effects.isAtMost,
    spent: spent?.toFixed(2) ?? null,
    budget: limit?.toFixed(2) ?? null,
    spentShare: spent === null || limit === null || limit <= 0 ? null : spent / limit,
    left: spent === null || limit === null ? null : (limit - spent).toFixed(2),
    isMonthly: shownValue(campaign, 'period') === 'monthly',
    begins,
    ends,
  }
}

/**
 * countedOf counts the postings of the last uploads that the campaign's current targeting selects; null if not known.
 */
function countedOf({ campaign, known }: JudgedEntry, effects: Effects): number | null {
  if (effects.latest.length === 0 || campaign === null) return null
  const current = currentTargeting(campaign, known)
  return current === null ? null : effects.count(current)
}

/**
 * periodOf returns the begin and the end of the campaign's period as ISO 8601 UTC, each null if it is not known. The
 * period of a monthly campaign is the current month, or the part of it in which the campaign runs.
 */
function periodOf(campaign: Campaign, now: number): [string | null, string | null] {
  const start = shownValue(campaign, 'startDate')
  const end = shownValue(campaign, 'endDate')
  const [starts, ends] = [start, end].map((at) => (typeof at === 'string' ? at : null))
  if (shownValue(campaign, 'period') !== 'monthly') return [starts ?? null, ends ?? null]
  const date = new Date(now)
  const monthAt = (n: number) =>
    `${isoTime(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + n))?.slice(0, 19)}Z`
  const [first, next] = [monthAt(0), monthAt(1)]
  return [
    starts != null && starts > first ? starts : first,
    ends != null && ends < next ? ends : next,
  ]
}
