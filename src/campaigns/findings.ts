// What a person should know and no line of the plan says: campaigns that run in no entry, fields that stay, and feeds
// and campaigns side by side. Pure. Each finding ends with one next step.

import { showAmount } from '../lib/amount.ts'
import { isoTime } from '../lib/clock.ts'
import { nearest } from '../lib/nearest.ts'
import type { Campaign } from '../service/port.ts'
import type { Entry } from './desired.ts'
import { currentValue, droppedFields } from './diff.ts'
import type { Effects } from './effects.ts'
import { idleReason, shownValue, valueText } from './fields.ts'
import { COMMAND, type Judge, type Judged, quoted } from './judge.ts'
import { markIn, markOf } from './mark.ts'
import { idAndName, type Memory, type Seen } from './seen.ts'

/** What a look at the file and the service found out; findings and plan are made of it. */
export interface LookFacts {
  judged: readonly Judged[]
  entries: readonly Entry[]
  memory: Memory
  seen: Seen
  unbound: Judge['unbound']
  effects: Effects
  /** All entries were looked at, with a listing. */
  isWhole: boolean
  identity: string
  now: number
}

export interface Finding {
  code:
    | /** A running campaign in no entry. */ 'outside'
    /** A second campaign of an entry. */
    | 'twin'
    /** A field that we sent and that the file names no more. */
    | 'left'
    /** The service sponsors far more postings than the targeting selects. */
    | 'more-postings'
    /** The feed carries an id that has no entry. */
    | 'no-entry'
    /** The feeds carry the id of an entry no more. */
    | 'missing'
    /** A pinned requisition id that no posting has. */
    | 'pin'
    /** Two entries select the same postings. */
    | 'overlap'
    /** An entry selects most of the feeds. */
    | 'share'
    /** Postings carry the id of a campaign that cannot spend. */
    | 'idle'
  /** External campaign id; null: it concerns no entry. */
  key: string | null
  campaignId: string | null
  text: string
  /** The command or edit that settles it; null: nothing has to be done. */
  next: string | null
  /** Monitoring and alerts report it: money may be spent that nobody decided on. */
  isReported: boolean
}

/** The most findings of one kind. */
const MOST = 100
/** For the largest ids without an entry it is looked whether a known one is meant. */
const COMPARED = 20
/** From this share of at least so many postings on. */
const LARGE_SHARE = { share: 0.5, postings: 100 }
/** The service may count a little later than we do. */
const FAR_ABOVE = { factor: 1.5, more: 10 }

/** `1500.00 a month`. */
export function spendLimitText(campaign: Campaign): string {
  const budget = shownValue(campaign, 'budget')
  if (typeof budget !== 'number') return 'without a limit that is known'
  const month = shownValue(campaign, 'period') === 'monthly' ? ' a month' : ''
  return `up to ${showAmount(budget)}${month}`
}

export function findingsOf(facts: LookFacts): Finding[] {
  const ofEntries = facts.judged.flatMap((one) => [...left(one), ...postings(facts, one)])
  if (!facts.isWhole) return ofEntries
  return [...outside(facts), ...ofEntries, ...overlaps(facts), ...withoutEntry(facts)]
}

/** Running campaigns in no entry, those of entries that left the file among them. */
function outside({ entries, judged, memory, unbound, seen, identity, now }: LookFacts): Finding[] {
  const keys = new Set(entries.map(({ key }) => key))
  const marks = new Map(entries.map(({ key }) => [markOf(identity, key), key]))
  const wanted = new Set(judged.flatMap(({ campaignId }) => campaignId ?? []))
  const former = [...memory.byId.values()].flatMap(({ campaignId, key }) => {
    const campaign = seen.campaign(campaignId)
    return campaign == null ? [] : [{ campaign, key }]
  })
  const others = unbound.live.map((campaign) => ({ campaign, key: null }))
  return [...former, ...others]
    .filter(({ campaign }) => !wanted.has(campaign.id) && idleReason(campaign, now) === null)
    .slice(0, MOST)
    .map(({ campaign, key }) => {
      const { id } = campaign
      const twinOf = marks.get(markIn(campaign.name) ?? '') ?? null
      const bind = `write campaignId: "${id}" into an entry`
      const end = `end it on the service: ${COMMAND} update ${id} --status paused`
      if (twinOf !== null)
        return {
          code: 'twin',
          key: twinOf,
          campaignId: id,
          isReported: true,
          text: `campaign ${idAndName(campaign)} carries the mark of the entry ${twinOf} and runs beside it, ${spendLimitText(campaign)}`,
          next: end,
        }
      const text =
        key === null
          ? `campaign ${idAndName(campaign)} runs in no entry, ${spendLimitText(campaign)}`
          : `the entry ${key} ${keys.has(key) ? 'names another campaign' : 'is not in the file any more'}, and campaign ${idAndName(campaign)} runs on, ${spendLimitText(campaign)}`
      return {
        code: 'outside',
        key,
        campaignId: id,
        isReported: true,
        text,
        next: `${key === null ? bind : keys.has(key) ? `correct campaignId in the entry ${key}` : 'write the entry again'}, or ${end}`,
      }
    })
}

function left({ entry, campaign, campaignId, known }: Judged): Finding[] {
  if (campaign === null) return []
  return droppedFields(entry, known).flatMap((field) => {
    const there = currentValue(campaign, known, field)
    if (there == null) return []
    const value = valueText(field, there)
    const next =
      field === 'budget' || field === 'status'
        ? `write ${field}: into the entry ${entry.key} to change it`
        : `write ${field}: none into the entry ${entry.key} to take it away`
    const text = `${field} ${value} stays: the file does not name it any more`
    return [{ code: 'left', key: entry.key, campaignId, text, next, isReported: false } as const]
  })
}

/** One entry and the feeds. */
function postings({ effects, now }: LookFacts, { entry, campaign, campaignId }: Judged): Finding[] {
  const { key, targeting } = entry
  const at = { key, campaignId, isReported: false }
  const found: Finding[] = []
  const count = targeting === null ? null : effects.count(targeting)
  const isCounted = effects.latest.length > 0 && count !== null
  const shown = campaign?.sponsoredPostings ?? 0
  if (isCounted && shown > count * FAR_ABOVE.factor && shown > count + FAR_ABOVE.more)
    found.push({
      ...at,
      code: 'more-postings',
      isReported: true,
      text: `the service sponsors ${shown} postings for campaign ${campaignId}, and its targeting selects ${count}`,
      next: `look at its targeting on the service, and at ours: ${COMMAND} preview ${quoted(key)}`,
    })
  const { share, postings } = LARGE_SHARE
  if (isCounted && effects.postings >= postings && count > effects.postings * share)
    found.push({
      ...at,
      code: 'share',
      text: `it selects ${count} of the ${effects.postings} postings of the feeds`,
      next: `${COMMAND} preview ${quoted(key)}`,
    })
  const since = effects.missingSince(key)
  if (since !== null)
    found.push({
      ...at,
      code: 'missing',
      text: `no posting of the last uploads carries it since ${isoTime(since)}`,
      next: 'have the feed carry it again, or end the campaign',
    })
  const pins = effects.missingPins.get(key) ?? []
  if (pins.length > 0)
    found.push({
      ...at,
      code: 'pin',
      text: `no posting has the requisition ${pins.slice(0, 10).join(', ')}`,
      next: `take it out of requisitionIds of the entry ${key}`,
    })
  const why = campaign === null ? null : idleReason(campaign, now)
  const carried = effects.carried(key) ?? 0
  if (why !== null && carried > 0 && entry.values.status !== 'paused')
    found.push({
      ...at,
      code: 'idle',
      text: `${carried} postings carry it, and campaign ${campaignId} is ${why}`,
      next: why === 'over' ? `write a later endDate into the entry ${key}` : null,
    })
  return found
}

function overlaps({ effects }: LookFacts): Finding[] {
  return [...effects.overlaps].slice(0, MOST).map(([keys, count]) => ({
    code: 'overlap',
    key: null,
    campaignId: null,
    isReported: false,
    text: `${count} ${count === 1 ? 'posting is' : 'postings are'} selected by ${keys}, which bid against each other`,
    next: 'narrow the targeting of one of them',
  }))
}

function withoutEntry({ effects, entries }: LookFacts): Finding[] {
  const known = new Set(entries.map(({ key }) => key))
  const carried = new Map<string, number>()
  for (const { ids } of effects.latest)
    for (const [id, count] of Object.entries(ids))
      if (!known.has(id)) carried.set(id, (carried.get(id) ?? 0) + count)
  return [...carried]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MOST)
    .map(([id, count], n) => {
      const near = n < COMPARED ? nearest(id.replace(/\s/g, ''), known) : null
      const meant = near === null ? '' : `; did you mean ${near}?`
      return {
        code: 'no-entry',
        key: id,
        campaignId: null,
        isReported: false,
        text: `${count} ${count === 1 ? 'posting carries' : 'postings carry'} it, and no entry has it${meant}`,
        next: near === null ? `write an entry for ${id} to sponsor them` : null,
      }
    })
}
