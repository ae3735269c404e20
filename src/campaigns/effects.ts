// What targetings select of the feeds that were uploaded last, and which entries the feeds carry. Bytes
// are read only where a targeting asks for more than the external campaign id, whose postings the history
// has counted.

import type { Campaign } from '../service/port.ts'
import type { Entry } from './desired.ts'
import { currentTargeting, type Known } from './diff.ts'
import type { Judged } from './judge.ts'
import type { FeedSide, FeedUpload } from './port.ts'
import {
  type CanonicalTargeting,
  CRITERIA,
  type Criterion,
  filtersOf,
  isEmpty,
  type Selector,
  selector,
  type TargetedPosting,
} from './targeting.ts'

/** Postings of the feeds that a targeting selects; null: not known. */
export interface Selection {
  before: number | null
  after: number | null
}

export interface Effects {
  latest: readonly FeedUpload[]
  /** Of all feeds. */
  postings: number
  /** Postings that a targeting selects; null: not known. Only of those that were asked for. */
  count(targeting: CanonicalTargeting): number | null
  /** Postings that carry this id; null: no feed was uploaded. */
  carried(key: string): number | null
  /** Wall ms of the first upload without this id; null when feeds carry it, never carried it, or nobody knows. */
  missingSince(key: string): number | null
  /** Pinned requisition ids of the wanted targetings that no posting has, by key. */
  missingPins: ReadonlyMap<string, string[]>
  /** Postings that two wanted targetings select: `A and B` -> how many. */
  overlaps: ReadonlyMap<string, number>
  /** Why a feed could not be read, a sentence each. */
  problems: readonly string[]
}

/** As many ids as the check tells apart, so that there may be more. */
const CUT_AT = 10_000
/** Pairs of keys that share postings and are told apart. */
const MOST_PAIRS = 100

export const NO_POSTING: TargetedPosting = {
  externalCampaignId: '',
  requisitionId: '',
  title: '',
  description: '',
  city: '',
  state: '',
  postalCode: '',
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

/** `all`: those that are wanted come first. */
export async function measure(
  side: FeedSide,
  all: readonly Measured[],
  signal: AbortSignal,
): Promise<Effects> {
  const { latest } = side
  const isCut = latest.some(({ ids }) => Object.keys(ids).length >= CUT_AT)
  const postings = latest.reduce((sum, upload) => sum + upload.postings, 0)
  const isPlain = (targeting: CanonicalTargeting) =>
    isBlank(targeting) || (!isCut && filtersOf(targeting) === 0)
  const isRead = latest.length > 0 && !all.every((one) => isPlain(one.targeting))
  const { counted, ...found } = await countSelected(side, isRead ? all : [], signal)
  return {
    latest,
    ...found,
    postings,
    count: (targeting) => {
      if (isBlank(targeting)) return postings
      if (isPlain(targeting)) return carriedBy(latest, targeting.externalCampaignId)
      const counts = found.problems.length === 0
      return counts ? (counted.get(JSON.stringify(targeting))?.postings ?? null) : null
    },
    carried: (key) => (latest.length === 0 ? null : carriedBy(latest, key)),
    missingSince: (key) =>
      latest.length === 0 || isCut || carriedBy(latest, key) > 0 ? null : side.missingSince(key),
  }
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
  const seenRequisitions = new Set<string>()
  const take = (values: Partial<TargetedPosting>) => {
    const posting = { ...NO_POSTING, ...values }
    const { externalCampaignId, requisitionId } = posting
    const pinned = byRequisition.get(requisitionId)?.map(({ one }) => one) ?? []
    if (pinned.length > 0) seenRequisitions.add(requisitionId)
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
  const missingPins = new Map<string, string[]>()
  for (const { key, wanted, targeting } of problems.length > 0 ? [] : asked) {
    const gone = wanted ? targeting.requisitionIds.filter((id) => !seenRequisitions.has(id)) : []
    if (gone.length > 0) missingPins.set(key, gone)
  }
  return { counted, overlaps, missingPins, problems }
}

/** What the entry's targeting does to the postings of its campaign; null: no feed was uploaded. */
export function selectionOf(
  effects: Effects,
  { targeting }: Entry,
  campaign: Campaign | null,
  known: Known,
): Selection | null {
  if (effects.latest.length === 0 || targeting === null) return null
  const there = campaign === null ? null : currentTargeting(campaign, known)
  const before = campaign === null ? 0 : there === null ? null : effects.count(there)
  return { before, after: effects.count(targeting) }
}

/** What the file wants to select, and what campaigns select now where it differs. */
export function targetingsToMeasure(all: readonly Judged[]): Measured[] {
  const wanted = all.flatMap(({ entry: { key, targeting } }) =>
    targeting === null ? [] : { key, targeting, wanted: true },
  )
  const there = all.flatMap(({ entry: { key }, campaign, known, action }) => {
    const targeting =
      campaign === null || action === null ? null : currentTargeting(campaign, known)
    return targeting === null ? [] : { key, targeting, wanted: false }
  })
  return [...wanted, ...there]
}
