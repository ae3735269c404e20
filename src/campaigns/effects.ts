// What targetings select of the feeds that were uploaded last, and which entries the feeds carry. Bytes
// are read only where a targeting asks for more than the external campaign id, whose postings the history
// has counted.

import { DAY } from '../lib/clock.ts'
import type { FeedSide, FeedUpload, TargetedPosting } from './port.ts'
import {
  type CanonicalTargeting,
  CRITERIA,
  type Criterion,
  isEmpty,
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
const NONE = new Map<string, never>()
const NOTHING_COUNTED = { problems: [], postings: NONE, overlaps: NONE, stale: NONE }

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

export async function measure(
  side: FeedSide,
  all: readonly Measured[],
  now: number,
  signal: AbortSignal,
): Promise<Effects> {
  const { latest } = side
  const carried = (key: string) =>
    // Ids are any text, `constructor` too.
    latest.reduce((sum, { ids }) => sum + (Object.hasOwn(ids, key) ? (ids[key] ?? 0) : 0), 0)
  const isCut = latest.some(({ ids }) => Object.keys(ids).length >= CUT_AT)
  const isPlain = (targeting: CanonicalTargeting) =>
    !isCut && CRITERIA.every((one) => one === 'externalCampaignId' || isEmpty(targeting, one))
  const questions = () =>
    all.map(({ key, targeting, wanted }) => ({
      name: JSON.stringify(targeting),
      ...{ key, wanted, id: targeting.externalCampaignId, pinned: targeting.requisitionIds },
      isPlain: isPlain(targeting),
      fields: CRITERIA.flatMap((one) => (isEmpty(targeting, one) ? [] : FIELDS[one])),
      selects: selector(targeting),
    }))
  const isRead = latest.length > 0 && !all.every((one) => isPlain(one.targeting))
  const counted = isRead ? await side.count(questions(), signal) : NOTHING_COUNTED
  const { problems, overlaps, stale } = counted
  const count = (targeting: CanonicalTargeting) => {
    if (isPlain(targeting)) return carried(targeting.externalCampaignId)
    return problems.length > 0 ? null : (counted.postings.get(JSON.stringify(targeting)) ?? null)
  }
  return {
    ...{ latest, count, problems, overlaps, stale },
    postings: latest.reduce((sum, upload) => sum + upload.postings, 0),
    stateOf: (key) => {
      if (latest.length === 0) return { kind: 'unknown' }
      const postings = carried(key)
      if (postings > 0) return { kind: 'live', postings }
      if (isCut) return { kind: 'unknown' }
      const absence = side.absence(key)
      if (absence === null) return { kind: 'waiting' }
      const { uploads, since } = absence
      const isOld = uploads >= VANISHED_UPLOADS && since !== null && now - since >= DAY
      return { kind: isOld ? 'vanished' : 'missing', uploads, since }
    },
  }
}
