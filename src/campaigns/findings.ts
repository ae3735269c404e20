// Finds what a person should know beside the lines of the plan: campaigns without an entry, fields that keep their
// value, and differences between feeds and campaigns. Pure. Each finding has at most one next step.

import { showAmount } from '../lib/amount.ts'
import { isoTime } from '../lib/clock.ts'
import { nearest } from '../lib/nearest.ts'
import type { Campaign } from '../service/port.ts'
import type { Entry } from './desired.ts'
import { currentValue, droppedFields } from './diff.ts'
import type { Effects } from './effects.ts'
import { idleReason, shownValue, valueText } from './fields.ts'
import {
  COMMAND,
  isOpen,
  type Judge,
  type Judged,
  LATE_MS,
  ofKey,
  openText,
  quoted,
} from './judge.ts'
import { hasMark, markIn, markOf } from './mark.ts'
import { idAndName, type Memory, type Seen } from './seen.ts'

/** LookFacts is what a look at the file and the service found. The plan and the findings are made from it. */
export interface LookFacts {
  judged: readonly Judged[]
  entries: readonly Entry[]
  memory: Memory
  seen: Seen
  unbound: Judge['unbound']
  fileDoubt: string | null
  effects: Effects
  /** The look covered all entries, and listed the campaigns. */
  isWhole: boolean
  identity: string
  now: number
}

export interface Finding {
  code:
    | /** A campaign runs without an entry. */ 'outside'
    /** The daemon does not use the file, because it may be cut. */
    | 'file'
    /** Nobody knows whether a campaign was created, and no entry of the file says so. */
    | 'open-create'
    /** An entry has a second campaign. */
    | 'twin'
    /** We sent a field that the file no longer names. */
    | 'left'
    /** The service sponsors far more postings than the targeting selects. */
    | 'more-postings'
    /** The feeds carry an id that has no entry. */
    | 'no-entry'
    /** The feeds no longer carry the id of an entry. */
    | 'missing'
    /** An entry names a requisition id that no posting has. */
    | 'pin'
    /** Two entries select the same postings. */
    | 'overlap'
    /** An entry selects most of the feeds. */
    | 'share'
    /** Postings carry the id of a campaign that cannot spend. */
    | 'idle'
  /** External campaign id; null: the finding concerns no entry. */
  key: string | null
  campaignId: string | null
  text: string
  /** The command or edit that settles the finding; null: nothing has to be done. */
  next: string | null
  /** Monitoring and alerts report this finding, because money may be spent that nobody approved. */
  isReported: boolean
}

const MOST_OF_A_KIND = 100
/** Only this many ids without an entry, those with the most postings, are compared with the known ids. */
const COMPARED = 20
/** An entry is reported from this share on, if the feeds have at least this many postings. */
const LARGE_SHARE = { share: 0.5, postings: 100 }
/** A smaller difference is normal, because the service may count later than we do. */
const FAR_ABOVE = { factor: 1.5, more: 10 }

/** spendLimitText returns how much a campaign may spend: `up to 1500.00 a month`. */
function spendLimitText(campaign: Campaign): string {
  const budget = shownValue(campaign, 'budget')
  if (typeof budget !== 'number') return 'without a known limit'
  const month = shownValue(campaign, 'period') === 'monthly' ? ' a month' : ''
  return `up to ${showAmount(budget)}${month}`
}

export function findingsOf(facts: LookFacts): Finding[] {
  const first = [...doubts(facts), ...openCreates(facts)]
  const ofEntries = facts.judged.flatMap((one) => [...left(one), ...postings(facts, one)])
  if (!facts.isWhole) return [...first, ...ofEntries]
  return [...first, ...outside(facts), ...ofEntries, ...overlaps(facts), ...withoutEntry(facts)]
}

function doubts({ fileDoubt }: LookFacts): Finding[] {
  if (fileDoubt === null) return []
  const text = `the daemon does not use this campaigns file yet, because it may be cut: ${fileDoubt}`
  const next = `if the file is complete: ${COMMAND} apply`
  return [{ code: 'file', key: null, campaignId: null, isReported: true, text, next }]
}

/** openCreates finds the creates without a known result whose entry left the file, or has another key now. */
function openCreates({ judged, memory, seen, identity, now }: LookFacts): Finding[] {
  const told = new Set(judged.flatMap(({ entry, state }) => (state === 'unknown' ? entry.key : [])))
  const isFound = (key: string) => {
    const mark = markOf(identity, key)
    return seen.all.some(({ name }) => hasMark(name, mark))
  }
  return [...memory.openCreates.values()]
    .flat()
    .filter((one) => isOpen(one, now) && !told.has(one.key) && !isFound(one.key))
    .map((one) => ({
      code: 'open-create',
      key: one.key || null,
      campaignId: one.campaignId,
      isReported: true,
      text: openText(one, `a campaign${ofKey(one)}`),
      next: `wait until ${isoTime(one.at + LATE_MS)}, then look for the campaign: ${COMMAND} plan`,
    }))
}

/** outside finds the running campaigns without an entry, also those whose entry left the file. */
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
    .slice(0, MOST_OF_A_KIND)
    .map(({ campaign, key }) => {
      const { id } = campaign
      const twinOf = marks.get(markIn(campaign.name) ?? '') ?? null
      const bind = `write campaignId: "${id}" into an entry`
      const pause = `pause the campaign: ${COMMAND} update ${id} --status paused`
      if (twinOf !== null)
        return {
          code: 'twin',
          key: twinOf,
          campaignId: id,
          isReported: true,
          text: `campaign ${idAndName(campaign)} carries the mark of the entry ${twinOf}, is a second campaign of it, and may spend ${spendLimitText(campaign)}`,
          next: pause,
        }
      const text =
        key === null
          ? `campaign ${idAndName(campaign)} runs without an entry, and may spend ${spendLimitText(campaign)}`
          : `the entry ${key} ${keys.has(key) ? 'names another campaign' : 'is no longer in the file'}, but campaign ${idAndName(campaign)} still runs, and may spend ${spendLimitText(campaign)}`
      return {
        code: 'outside',
        key,
        campaignId: id,
        isReported: true,
        text,
        next: `${key === null ? bind : keys.has(key) ? `correct campaignId in the entry ${key}` : 'write the entry again'}, or ${pause}`,
      }
    })
}

function left({ entry, campaign, campaignId, known }: Judged): Finding[] {
  if (campaign === null) return []
  return droppedFields(entry, known).flatMap((field) => {
    const current = currentValue(campaign, known, field)
    if (current == null) return []
    const value = valueText(field, current)
    const next =
      field === 'budget' || field === 'status'
        ? `write ${field}: into the entry ${entry.key} to change it`
        : `write ${field}: none into the entry ${entry.key} to remove it`
    const text = `${field} ${value} stays: the file no longer names it`
    return [{ code: 'left', key: entry.key, campaignId, text, next, isReported: false } as const]
  })
}

/** postings compares one entry with the feeds. */
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
      text: `the service sponsors ${shown} postings for campaign ${campaignId}, but its targeting selects ${count}`,
      next: `compare its targeting on the service with ours: ${COMMAND} preview ${quoted(key)}`,
    })
  const { share, postings } = LARGE_SHARE
  if (isCounted && effects.postings >= postings && count > effects.postings * share)
    found.push({
      ...at,
      code: 'share',
      text: `the entry selects ${count} of the ${effects.postings} postings in the feeds`,
      next: `${COMMAND} preview ${quoted(key)}`,
    })
  const since = effects.missingSince(key)
  if (since !== null)
    found.push({
      ...at,
      code: 'missing',
      text: `no uploaded posting has carried this id since ${isoTime(since)}`,
      next: 'put the id back into the feed, or end the campaign',
    })
  const pins = effects.missingPins.get(key) ?? []
  if (pins.length > 0)
    found.push({
      ...at,
      code: 'pin',
      text: `requisitionIds has ids that no posting has: ${pins.slice(0, 10).join(', ')}`,
      next: `correct requisitionIds in the entry ${key}`,
    })
  const why = campaign === null ? null : idleReason(campaign, now)
  const carried = effects.carried(key) ?? 0
  if (why !== null && carried > 0 && entry.values.status !== 'paused')
    found.push({
      ...at,
      code: 'idle',
      text: `${carried} postings carry this id, but campaign ${campaignId} is ${why}`,
      next: why === 'over' ? `write a later endDate into the entry ${key}` : null,
    })
  return found
}

function overlaps({ effects }: LookFacts): Finding[] {
  return [...effects.overlaps].slice(0, MOST_OF_A_KIND).map(([keys, count]) => ({
    code: 'overlap',
    key: null,
    campaignId: null,
    isReported: false,
    text: `${keys} select ${count === 1 ? 'the same posting' : `the same ${count} postings`} and bid against each other`,
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
    .slice(0, MOST_OF_A_KIND)
    .map(([id, count], n) => {
      const near = n < COMPARED ? nearest(id.replace(/\s/g, ''), known) : null
      const meant = near === null ? '' : `; did you mean ${near}?`
      return {
        code: 'no-entry',
        key: id,
        campaignId: null,
        isReported: false,
        text: `${count} ${count === 1 ? 'posting carries' : 'postings carry'} this id, but no entry has it${meant}`,
        next: near === null ? `write an entry for ${id} to sponsor them` : null,
      }
    })
}
