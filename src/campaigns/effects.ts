// Counts the postings that targetings select in the last uploads. The history already holds the count for each external
// campaign id, so the files are read only if a targeting has other filters, too.

import { currentTargeting } from './field-changes.ts'
import type { JudgedEntry } from './judged-entry.ts'
import type { FeedSide, FeedUpload } from './port.ts'
import {
  type CanonicalTargeting,
  CRITERIA,
  type Criterion,
  filterCount,
  isEmpty,
  type Selector,
  selector,
  type TargetedPosting,
} from './targeting.ts'

/** Selection counts the postings that a campaign selects before and after a change; a count is null if not known. */
export interface Selection {
  before: number | null
  after: number | null
}

/** Effects says what targetings select in the last uploads of the feeds. */
export interface Effects extends Pick<FeedSide, 'latest' | 'isAtMost'> {
  /** The number of all postings in the last uploads. */
  postings: number
  /** The number of postings that a targeting selects; null if it is not known, or was not among those to measure. */
  count(targeting: CanonicalTargeting): number | null
  /** The number of postings that carry this id; null if no feed was uploaded. */
  carried(key: string): number | null
  /** Wall ms of the first upload without this id; null if the feeds carry it, never carried it, or it is not known. */
  missingSince(key: string): number | null
  /** By key: the requisition ids in the file that no posting has. */
  missingPins: ReadonlyMap<string, string[]>
  /** The number of postings that the same entries select. The key of the map is their keys: `A and B`. */
  overlaps: ReadonlyMap<string, number>
  /** One sentence for each feed that could not be read. */
  problems: readonly string[]
}

/** An upload with this many ids can have more, which the check did not count. */
const MOST_COUNTED_IDS = 10_000
const MOST_OVERLAPS = 100

export const NO_POSTING: TargetedPosting = {
  externalCampaignId: '',
  requisitionId: '',
  title: '',
  description: '',
  city: '',
  state: '',
  postalCode: '',
}

const TESTED_FIELDS: Record<Criterion, readonly (keyof TargetedPosting)[]> = {
  cities: ['city', 'state'],
  externalCampaignId: ['externalCampaignId'],
  requisitionIds: ['requisitionId'],
  jobDescKeywords: ['description'],
  jobTitles: ['title'],
  postalCodes: ['postalCode'],
  stateProvCodes: ['state'],
}

interface Measured {
  key: string
  targeting: CanonicalTargeting
  /** True if the file wants this targeting, false if the campaign might have it now. */
  wanted: boolean
}

/** isBlank returns whether a targeting selects every posting. */
const isBlank = (targeting: CanonicalTargeting) =>
  filterCount(targeting) === 0 && targeting.externalCampaignId === ''

/**
 * measure counts what these targetings select. In `all`, the wanted targetings must come before the others: of equal
 * targetings only the first is counted, and only wanted ones can overlap.
 */
export async function measure(
  side: FeedSide,
  all: readonly Measured[],
  signal: AbortSignal,
): Promise<Effects> {
  const { latest } = side
  const isCut = latest.some(({ ids }) => Object.keys(ids).length >= MOST_COUNTED_IDS)
  const postings = latest.reduce((sum, upload) => sum + upload.postings, 0)
  /** isPlain returns whether the counts in the history are enough for a targeting. */
  const isPlain = (targeting: CanonicalTargeting) =>
    isBlank(targeting) || (!isCut && filterCount(targeting) === 0)
  const mustRead = latest.length > 0 && !all.every((one) => isPlain(one.targeting))
  const { counted, ...found } = await countSelected(side, mustRead ? all : [], signal)
  return {
    latest,
    isAtMost: side.isAtMost,
    ...found,
    postings,
    count: (targeting) => {
      if (isBlank(targeting)) return postings
      if (isPlain(targeting)) return carriedBy(latest, targeting.externalCampaignId)
      const isComplete = found.problems.length === 0
      return isComplete ? (counted.get(JSON.stringify(targeting))?.postings ?? null) : null
    },
    carried: (key) => (latest.length === 0 ? null : carriedBy(latest, key)),
    missingSince: (key) =>
      latest.length === 0 || isCut || carriedBy(latest, key) > 0 ? null : side.missingSince(key),
  }
}

/** carriedBy counts the postings that carry an external campaign id. An id can be any text, even `constructor`. */
const carriedBy = (latest: readonly FeedUpload[], id: string): number =>
  latest.reduce((sum, { ids }) => sum + (Object.hasOwn(ids, id) ? (ids[id] ?? 0) : 0), 0)

/** countSelected reads each posting once, and tests it only against the targetings that its ids can match. */
async function countSelected(side: FeedSide, all: readonly Measured[], signal: AbortSignal) {
  const counted = new Map<string, Measured & { selects: Selector; postings: number }>()
  for (const one of all) {
    const text = JSON.stringify(one.targeting)
    if (!counted.has(text))
      counted.set(text, { ...one, selects: selector(one.targeting), postings: 0 })
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
    // A targeting without an id can select any posting.
    const candidates = ['', externalCampaignId].flatMap((id) => byId.get(id) ?? [])
    for (const one of new Set([...candidates, ...pinned])) {
      if (!one.selects(posting)) continue
      one.postings++
      if (one.wanted) owners.add(one.key)
    }
    if (owners.size < 2) return
    const pair = [...owners].sort().join(' and ')
    if (overlaps.has(pair) || overlaps.size < MOST_OVERLAPS)
      overlaps.set(pair, (overlaps.get(pair) ?? 0) + 1)
  }
  const criteria = CRITERIA.filter((name) => asked.some((one) => !isEmpty(one.targeting, name)))
  const needed = [...new Set(criteria.flatMap((name) => TESTED_FIELDS[name]))]
  const problems =
    asked.length === 0 ? [] : await side.read({ fields: needed, needed, take }, signal)
  const missingPins = new Map<string, string[]>()
  for (const { key, wanted, targeting } of problems.length > 0 ? [] : asked) {
    const gone = wanted ? targeting.requisitionIds.filter((id) => !seenRequisitions.has(id)) : []
    if (gone.length > 0) missingPins.set(key, gone)
  }
  return { counted, overlaps, missingPins, problems }
}

/**
 * selectionOf counts the postings that a campaign selects now, and with the entry's targeting. It returns null if no
 * feed was uploaded, or if the entry leaves the targeting as it is.
 */
export function selectionOf(
  { entry: { targeting }, campaign, known }: JudgedEntry,
  effects: Effects,
): Selection | null {
  if (effects.latest.length === 0 || targeting === null) return null
  const current = campaign === null ? null : currentTargeting(campaign, known)
  const before = campaign === null ? 0 : current === null ? null : effects.count(current)
  return { before, after: effects.count(targeting) }
}

/**
 * targetingsToMeasure returns the targetings that the file wants, then the current targetings of campaigns that change
 * or whose targeting the file does not manage.
 */
export function targetingsToMeasure(all: readonly JudgedEntry[]): Measured[] {
  const wanted = all.flatMap(({ entry: { key, targeting } }) =>
    targeting === null ? [] : { key, targeting, wanted: true },
  )
  const current = all.flatMap(({ entry: { key, targeting: managed }, campaign, known, action }) => {
    const isMeasured = action !== null || managed === null
    const targeting = campaign !== null && isMeasured ? currentTargeting(campaign, known) : null
    return targeting === null ? [] : { key, targeting, wanted: false }
  })
  return [...wanted, ...current]
}
