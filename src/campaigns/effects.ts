// What targetings select of the feeds that were uploaded last, and which entries the feeds carry. Bytes
// are read only where a targeting asks for more than the external campaign id, whose postings the history
// has counted.

import { DAY } from '../lib/clock.ts'
import { type Desired, wantedTargeting } from './desired.ts'
import type { Selection } from './plan.ts'
import type { CampaignRecord, FeedSide, FeedUpload, TargetedPosting } from './port.ts'
import {
  type CanonicalTargeting,
  CRITERIA,
  type Criterion,
  filtersOf,
  isEmpty,
  type Selector,
  selector,
} from './targeting.ts'

/** Where a key stands in the feeds. */
export type FeedState =
  /** No feed was uploaded, so nothing is known. */
  | { kind: 'unknown' }
  | { kind: 'live'; postings: number }
  /** No feed ever carried it. */
  | { kind: 'waiting' }
  /** Gone from this many good uploads; `vanished` when they are enough, over enough time. */
  | { kind: 'missing' | 'vanished'; uploads: number; since: number | null }

export interface Effects {
  latest: readonly FeedUpload[]
  /** Of all feeds. */
  postings: number
  /** Postings that a targeting selects; null: not known. Only of those that were asked for. */
  count(targeting: CanonicalTargeting): number | null
  stateOf(key: string): FeedState
  /** Pinned requisition ids of the wanted targetings that no posting has, by key. */
  stale: ReadonlyMap<string, string[]>
  /** Postings that two wanted targetings select: `A and B` -> how many. */
  overlaps: ReadonlyMap<string, number>
  /** Why a feed could not be read, a sentence each. */
  problems: readonly string[]
}

const VANISHED_UPLOADS = 3
/** As many ids as the check tells apart, so that there may be more. */
const CUT_AT = 10_000
/** Pairs of keys that share postings and are told apart. */
const MOST_PAIRS = 100

export const NO_POSTING: TargetedPosting = {
  ...{ externalCampaignId: '', requisitionId: '', title: '', description: '' },
  ...{ city: '', state: '', postalCode: '' },
}

const FIELDS: Record<Criterion, readonly (keyof TargetedPosting)[]> = {
  cities: ['city', 'state'],
  externalCampaignId: ['externalCampaignId'],
  requisitionIds: ['requisitionId'],
  jobDescKeywords: ['description'],
  jobTitles: ['title'],
  postalCodes: ['postalCode'],
  stateProvCodes: ['state'],
}

export interface Measured {
  key: string
  targeting: CanonicalTargeting
  /** It is what the file wants; otherwise it is what may be on the service. */
  wanted: boolean
}

/** It selects every posting. */
const isBlank = (targeting: CanonicalTargeting) =>
  filtersOf(targeting) === 0 && targeting.externalCampaignId === ''

/** `all`: those that are wanted come first. `records`: what is remembered of keys that left the feeds. */
export async function measure(
  side: FeedSide,
  all: readonly Measured[],
  now: number,
  signal: AbortSignal,
  records: readonly CampaignRecord[] = [],
): Promise<Effects> {
  const { latest } = side
  const leftAt = new Map(records.map((record) => [record.key, record.leftFeedsAt]))
  const carried = (key: string) => carriedBy(latest, key)
  const isCut = latest.some(({ ids }) => Object.keys(ids).length >= CUT_AT)
  const postings = latest.reduce((sum, upload) => sum + upload.postings, 0)
  const isPlain = (targeting: CanonicalTargeting) =>
    isBlank(targeting) || (!isCut && filtersOf(targeting) === 0)
  const isRead = latest.length > 0 && !all.every((one) => isPlain(one.targeting))
  const { counted, ...found } = await countSelected(side, isRead ? all : [], signal)
  return {
    ...{ latest, ...found },
    count: (targeting) => {
      if (isBlank(targeting)) return postings
      if (isPlain(targeting)) return carried(targeting.externalCampaignId)
      const counts = found.problems.length === 0
      return counts ? (counted.get(JSON.stringify(targeting))?.postings ?? null) : null
    },
    postings,
    stateOf: (key) => {
      if (latest.length === 0) return { kind: 'unknown' }
      const postings = carried(key)
      if (postings > 0) return { kind: 'live', postings }
      if (isCut) return { kind: 'unknown' }
      const absence = side.absence(key, leftAt.get(key) ?? null)
      if (absence === null) return { kind: 'waiting' }
      const { uploads, since } = absence
      const isOld = uploads >= VANISHED_UPLOADS && since !== null && now - since >= DAY
      return { kind: isOld ? 'vanished' : 'missing', uploads, since }
    },
  }
}

/**
 * The records for which it is news since when the feeds do not carry their key: one day no upload that is looked
 * through did.
 */
export function newlyLeft(
  { stateOf }: Pick<Effects, 'stateOf'>,
  { campaigns }: Desired,
  records: readonly CampaignRecord[],
): CampaignRecord[] {
  const keys = new Set(campaigns.map(({ key }) => key))
  return records.flatMap((record) => {
    const state: FeedState = keys.has(record.key) ? stateOf(record.key) : { kind: 'unknown' }
    if (state.kind === 'unknown' || state.kind === 'waiting') return []
    const leftFeedsAt = state.kind === 'live' ? null : state.since
    return leftFeedsAt === record.leftFeedsAt ? [] : [{ ...record, leftFeedsAt }]
  })
}

/** Postings of these uploads with an external campaign id, which is any text, `constructor` too. */
export const carriedBy = (latest: readonly FeedUpload[], id: string): number =>
  latest.reduce((sum, { ids }) => sum + (Object.hasOwn(ids, id) ? (ids[id] ?? 0) : 0), 0)

/** Each posting is seen once, and only those targetings are asked that its ids can belong to. */
async function countSelected(side: FeedSide, all: readonly Measured[], signal: AbortSignal) {
  const counted = new Map<string, Measured & { selects: Selector; postings: number }>()
  for (const one of all) {
    const name = JSON.stringify(one.targeting)
    if (!counted.has(name))
      counted.set(name, { ...one, selects: selector(one.targeting), postings: 0 })
  }
  const asked = [...counted.values()]
  const byId = Map.groupBy(asked, ({ targeting }) => targeting.externalCampaignId)
  const pins = asked.flatMap((one) => one.targeting.requisitionIds.map((id) => ({ id, one })))
  const byRequisition = Map.groupBy(pins, ({ id }) => id)
  const overlaps = new Map<string, number>()
  const seen = new Set<string>()
  const take = (values: Partial<TargetedPosting>) => {
    const posting = { ...NO_POSTING, ...values }
    const { externalCampaignId, requisitionId } = posting
    const pinned = byRequisition.get(requisitionId)?.map(({ one }) => one) ?? []
    if (pinned.length > 0) seen.add(requisitionId)
    const owners = new Set<string>()
    // A targeting without an id may select any posting.
    const mayBe = ['', externalCampaignId].flatMap((id) => byId.get(id) ?? [])
    for (const one of new Set([...mayBe, ...pinned])) {
      if (!one.selects(posting)) continue
      one.postings++
      if (one.wanted) owners.add(one.key)
    }
    if (owners.size < 2) return
    const pair = [...owners].sort().join(' and ')
    if (overlaps.has(pair) || overlaps.size < MOST_PAIRS)
      overlaps.set(pair, (overlaps.get(pair) ?? 0) + 1)
  }
  const criteria = CRITERIA.filter((name) => asked.some((one) => !isEmpty(one.targeting, name)))
  const needed = [...new Set(criteria.flatMap((name) => FIELDS[name]))]
  const problems = asked.length === 0 ? [] : await side.read(needed, needed, take, signal)
  const stale = new Map<string, string[]>()
  for (const { key, wanted, targeting } of problems.length > 0 ? [] : asked) {
    const gone = wanted ? targeting.requisitionIds.filter((id) => !seen.has(id)) : []
    if (gone.length > 0) stale.set(key, gone)
  }
  return { counted, overlaps, stale, problems }
}

/** What a new targeting does to the postings of a campaign; `record` null: it is new. */
export function selectionOf(
  effects: Effects,
  record: CampaignRecord | null,
  after: CanonicalTargeting,
): Selection | null {
  if (effects.latest.length === 0) return null
  const there = record === null ? [] : [record.targeting, ...record.uncertain]
  const counts = there.map((one) => (one === null ? null : effects.count(one)))
  const before = counts.includes(null) ? null : Math.max(0, ...counts.map(Number))
  return { before, after: effects.count(after) }
}

/** What the file wants to select, and what the service may select now. */
export function measured(desired: Desired, records: readonly CampaignRecord[]): Measured[] {
  const wanted = desired.campaigns.map((entry) => {
    return { key: entry.key, targeting: wantedTargeting(entry), wanted: true }
  })
  const there = records.flatMap(({ key, targeting, uncertain }) =>
    [targeting, ...uncertain].flatMap((one: CanonicalTargeting | null) =>
      one === null ? [] : { key, targeting: one, wanted: false },
    ),
  )
  return [...wanted, ...there]
}
