// Finds what a manager should know about the main numbers: campaigns that cover nothing, or far more or fewer postings
// than we count; budgets that are spent; and periods that begin, end or renew soon. Pure.

import { commandFor, hintWith } from '../domain/command.ts'
import { DAY } from '../lib/clock.ts'
import { countOf, groupedMoney } from '../lib/units.ts'
import type { Coverage } from '../ops/campaigns/run.ts'
import { coverageOf } from './coverage.ts'
import { idleReason, shownValue } from './fields.ts'
import type { JudgedEntry } from './judged-entry.ts'
import type { LookFacts, LookFinding } from './look-facts.ts'

/**
 * Two counts are far apart if one is more than `factor` times the other, and more than `more` above it. A smaller
 * difference is normal, because the service might count later than we do.
 */
const FAR = { factor: 1.5, more: 10 }
/** A budget counts as spent from this share on. */
const SPENT_SHARE = 0.9
const SOON_MS = 7 * DAY

/** NumberFinding becomes a finding with the key and the id of the campaign. */
type NumberFinding = Omit<LookFinding, 'key' | 'campaignId'>

/** coverageFindings returns the findings about the main numbers of one campaign that can spend. */
export function coverageFindings(facts: LookFacts, judged: JudgedEntry): LookFinding[] {
  const { effects, now } = facts
  const { campaign, campaignId, entry } = judged
  const coverage = coverageOf(judged, effects, now)
  if (campaign === null || coverage === null || idleReason(campaign, now) !== null) return []
  const start = shownValue(campaign, 'startDate')
  const isStarted = typeof start !== 'string' || Date.parse(start) <= now
  const isSpent = (coverage.spentShare ?? 0) >= 1
  const found: NumberFinding[] = [
    ...(isStarted && !isSpent ? covering(facts, judged, coverage) : []),
    ...spent(judged, coverage, now),
    ...(isStarted ? [] : soon(`starts on ${dayOf(start)}`, Date.parse(start), now)),
    ...ending(coverage, now),
  ]
  return found.map((one) => ({ ...one, key: entry.key, campaignId }))
}

/** covering warns if the campaign covers no posting, or far more or far fewer postings than we count. */
function covering(
  { effects }: LookFacts,
  { entry: { key }, campaignId }: JudgedEntry,
  { covered, counted: ours, isAtMost }: Coverage,
): NumberFinding[] {
  const carried = effects.carried(key)
  const shown = covered ?? ours
  const warning = (code: NumberFinding['code'], text: string, next: string): NumberFinding[] => [
    { code, severity: 'warning', text, next },
  ]
  const list = commandFor('campaigns covers <key>', key)
  if (shown === 0 && carried === 0)
    // An id that left the feeds is a finding of its own.
    return effects.missingSince(key) !== null
      ? []
      : warning(
          'covers-none',
          `campaign ${campaignId} covers no posting: no uploaded posting carries the id ${key}`,
          'put the id into the feed, or correct externalCampaignId in the file',
        )
  if (shown === 0 && (ours ?? 0) === 0)
    return warning(
      'covers-none',
      `campaign ${campaignId} covers no posting${carried === null ? '' : `: its targeting leaves out ${carried === 1 ? 'the only posting that carries' : `all ${countOf(carried, 'posting')} that carry`} its id`}`,
      hintWith('to see which criterion leaves them out', list),
    )
  if (covered === null || ours === null) return []
  const text = `the service sponsors ${countOf(covered, 'posting')} for campaign ${campaignId}, but its targeting selects ${isAtMost ? 'at most ' : ''}${countOf(ours)}`
  const compare = hintWith('compare its targeting on the service with ours', list)
  if (isFarAbove(covered, ours)) return warning('covers-more', text, compare)
  if (isAtMost || !(covered === 0 || isFarAbove(ours, covered))) return []
  return warning(covered === 0 ? 'covers-none' : 'covers-fewer', text, compare)
}

const isFarAbove = (more: number, less: number) =>
  more > less * FAR.factor && more > less + FAR.more

function spent(
  { entry: { key }, campaignId }: JudgedEntry,
  coverage: Coverage,
  now: number,
): NumberFinding[] {
  const { spentShare: share } = coverage
  if (share === null || share < SPENT_SHARE) return []
  const { spent, budget, isMonthly, ends } = coverage
  const of = `${groupedMoney(spent)} of ${groupedMoney(budget)}${isMonthly ? ' a month' : ''}`
  const days = ends === null ? 0 : Math.ceil((Date.parse(ends) - now) / DAY)
  const left =
    days > 0 ? `, and ${countOf(days, 'day')} of its period ${days === 1 ? 'is' : 'are'} left` : ''
  return [
    {
      code: 'spent',
      severity: 'warning',
      text: `campaign ${campaignId} spent ${of} (${Math.floor(share * 100)} %)${left}`,
      next: hintWith(
        `write a larger budget into the entry ${key}, then`,
        commandFor('campaigns apply <key...>', [key]),
      ),
    },
  ]
}

function ending({ ends, isMonthly, budget }: Coverage, now: number): NumberFinding[] {
  if (ends === null) return []
  const day = dayOf(ends)
  const isRenewal = isMonthly && ends.endsWith('-01T00:00:00Z')
  const text = isRenewal
    ? `renews on ${day}, with ${groupedMoney(budget)} for the month`
    : `ends on ${day}`
  return soon(text, Date.parse(ends), now)
}

const soon = (what: string, at: number, now: number): NumberFinding[] =>
  at < now || at - now > SOON_MS
    ? []
    : [{ code: 'soon', severity: 'info', text: `its campaign ${what}`, next: null }]

const dayOf = (iso: string) => iso.slice(0, 10)
