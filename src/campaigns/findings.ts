// Finds what a person should know beside the lines of the plan: campaigns without an entry, fields that keep their
// value, and differences between feeds and campaigns. Pure. Each finding has at most one next step.

import { commandFor, hintWith } from '../domain/command.ts'
import { isoTime } from '../lib/clock.ts'
import { nearest } from '../lib/nearest.ts'
import { showAmount } from './amount.ts'
import { coverageFindings } from './coverage-findings.ts'
import { currentValue, droppedFields } from './field-changes.ts'
import { idleReason, shownValue, valueText } from './fields.ts'
import type { JudgedEntry } from './judged-entry.ts'
import type { LookFacts, LookFinding } from './look-facts.ts'
import { hasMark, markIn, markOf } from './mark.ts'
import { isOpen, LATE_MS, ofKey, openText } from './open-creation.ts'
import { idAndName } from './seen.ts'
import type { Campaign } from './service/port.ts'

const MOST_OF_A_KIND = 100
/** Of the ids without an entry, only this many are compared with the known ids: the ids with the most postings. */
const COMPARED = 20
/** An entry is reported from this share on, if the feeds have at least this many postings. */
const LARGE_SHARE = { share: 0.5, postings: 100 }

/** spendLimitText returns how much a campaign can spend: `up to 1500.00 a month`. */
function spendLimitText(campaign: Campaign): string {
  const budget = shownValue(campaign, 'budget')
  if (typeof budget !== 'number') return 'without a known limit'
  const month = shownValue(campaign, 'period') === 'monthly' ? ' a month' : ''
  return `up to ${showAmount(budget)}${month}`
}

export function findingsOf(facts: LookFacts): LookFinding[] {
  const first = [...doubts(facts), ...openCreations(facts)]
  const ofEntries = facts.judged.flatMap((one) => [
    ...coverageFindings(facts, one),
    ...keptValues(one),
    ...feedFindings(facts, one),
  ])
  if (!facts.isWhole) return [...first, ...ofEntries]
  return [...first, ...outside(facts), ...ofEntries, ...overlaps(facts), ...withoutEntry(facts)]
}

function doubts({ fileDoubt }: LookFacts): LookFinding[] {
  if (fileDoubt === null) return []
  const text = `the daemon does not use this campaigns file yet, because it might be cut: ${fileDoubt}`
  const next = hintWith('if the file is complete', commandFor('campaigns apply'))
  return [{ code: 'file', key: null, campaignId: null, severity: 'warning', text, next }]
}

/** openCreations finds the open creations whose entry left the file, or has another key now. */
function openCreations({ judged, memory, seen, identity, now }: LookFacts): LookFinding[] {
  const told = new Set(judged.flatMap(({ entry, state }) => (state === 'unknown' ? entry.key : [])))
  const isFound = (key: string) => {
    const mark = markOf(identity, key)
    return seen.all.some(({ name }) => hasMark(name, mark))
  }
  return [...memory.openCreations.values()]
    .flat()
    .filter((one) => isOpen(one, now) && !told.has(one.key) && !isFound(one.key))
    .map((one) => ({
      code: 'open-creation',
      key: one.key || null,
      campaignId: one.campaignId,
      severity: 'warning',
      text: openText(one, `a campaign${ofKey(one)}`),
      next: hintWith(
        `wait until ${isoTime(one.at + LATE_MS)}, then look for the campaign`,
        commandFor('campaigns plan'),
      ),
    }))
}

/** outside finds the running campaigns without an entry, also campaigns whose entry left the file. */
function outside({
  entries,
  keys,
  judged,
  memory,
  unbound,
  seen,
  identity,
  now,
}: LookFacts): LookFinding[] {
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
      const pause = hintWith(
        'pause the campaign',
        commandFor('campaigns update <id> --status <status>', id, 'paused'),
      )
      if (twinOf !== null)
        return {
          code: 'twin',
          key: twinOf,
          campaignId: id,
          severity: 'warning',
          text: `the entry ${twinOf} has a second campaign, ${idAndName(campaign)}, which can spend ${spendLimitText(campaign)}`,
          next: pause,
        }
      const text =
        key === null
          ? `campaign ${idAndName(campaign)} runs without an entry, and can spend ${spendLimitText(campaign)}`
          : `the entry ${key} ${keys.has(key) ? 'names another campaign' : 'is no longer in the file'}, but campaign ${idAndName(campaign)} still runs, and can spend ${spendLimitText(campaign)}`
      return {
        code: 'outside',
        key,
        campaignId: id,
        severity: 'warning',
        text,
        next: `${key === null ? bind : keys.has(key) ? `correct campaignId in the entry ${key}` : 'write the entry again'}, or ${pause}`,
      }
    })
}

/** keptValues finds the fields that we sent and that the file no longer names, because their values stay. */
function keptValues({ entry, campaign, campaignId, known }: JudgedEntry): LookFinding[] {
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
    return [{ code: 'left', key: entry.key, campaignId, text, next, severity: 'info' } as const]
  })
}

/** feedFindings compares one entry with the last uploads of the feeds. */
function feedFindings(
  { effects, now }: LookFacts,
  { entry, campaign, campaignId }: JudgedEntry,
): LookFinding[] {
  const { key, targeting } = entry
  const at = { key, campaignId, severity: 'info' as const }
  const found: LookFinding[] = []
  const count = targeting === null ? null : effects.count(targeting)
  const isCounted = effects.latest.length > 0 && count !== null
  const { share, postings } = LARGE_SHARE
  if (isCounted && effects.postings >= postings && count > effects.postings * share)
    found.push({
      ...at,
      code: 'share',
      text: `the entry selects ${count} of the ${effects.postings} postings in the feeds`,
      next: hintWith(null, commandFor('campaigns preview <key>', key)),
    })
  const since = effects.missingSince(key)
  const why = campaign === null ? null : idleReason(campaign, now)
  const isRunning = campaign !== null && why === null
  if (since !== null)
    found.push({
      ...at,
      code: 'missing',
      severity: isRunning ? 'warning' : 'info',
      text: `no uploaded posting has carried this id since ${isoTime(since)}${isRunning ? `, and campaign ${campaignId} still runs` : ''}`,
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

function overlaps({ effects }: LookFacts): LookFinding[] {
  return [...effects.overlaps].slice(0, MOST_OF_A_KIND).map(([keys, count]) => ({
    code: 'overlap',
    key: null,
    campaignId: null,
    severity: 'info',
    text: `${keys} select ${count === 1 ? 'the same posting' : `the same ${count} postings`} and bid against each other`,
    next: 'narrow the targeting of one of them',
  }))
}

/** withoutEntry finds ids of the feeds without an entry: misspelled ones, or ids that nobody manages yet. */
function withoutEntry(facts: LookFacts): LookFinding[] {
  const { effects, keys: known } = facts
  const carried = new Map<string, number>()
  for (const { ids } of effects.latest)
    for (const [id, count] of Object.entries(ids))
      if (!known.has(id)) carried.set(id, (carried.get(id) ?? 0) + count)
  return [...carried]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MOST_OF_A_KIND)
    .map(([id, count], n) => {
      const near = n < COMPARED ? nearest(id.replace(/\s/g, ''), known) : null
      const carry = `${count} ${count === 1 ? 'posting carries' : 'postings carry'} this id, but no entry has it`
      const of = { code: 'no-entry', key: id, campaignId: null, severity: 'info' } as const
      if (near !== null) {
        const text = `${carry}; did you mean ${near}?`
        return { ...of, text, next: correctionOf(facts, id, near) }
      }
      const sponsor = sponsorOf(facts, id)
      if (sponsor === null)
        return { ...of, text: carry, next: `write an entry for ${id} to sponsor them` }
      return {
        ...of,
        campaignId: sponsor.id,
        text: `${carry}; campaign ${idAndName(sponsor)} already sponsors it`,
        next: `write an entry for ${id} with campaignId: "${sponsor.id}"`,
      }
    })
}

/** correctionOf says which of two similar ids is probably wrong: the entry's id, if no posting carries it. */
function correctionOf({ effects }: LookFacts, id: string, near: string): string {
  const isEntryWrong = (effects.carried(near) ?? 0) === 0
  return isEntryWrong
    ? `no posting carries ${near}: if the file is wrong, write externalCampaignId: ${id} into the entry ${near}`
    : `other postings carry ${near}: if the feed is wrong, write ${near} instead of ${id} there`
}

/** sponsorOf finds the live campaign without an entry that covers an id, by its shown targeting or its mark. */
function sponsorOf({ unbound, identity }: LookFacts, id: string): Campaign | null {
  return unbound.byCarriedId(id)[0] ?? unbound.byMark(markOf(identity, id))[0] ?? null
}
