// What a person should know of feeds and campaigns side by side, as data: entries that no feed carries, ids
// without an entry, postings that look sponsored and are not.

import { DAY, isoTime } from '../lib/clock.ts'
import { nearest } from '../lib/nearest.ts'
import type { Campaign } from '../service/port.ts'
import { endsBy } from './fields.ts'
import type { Planning } from './planning.ts'
import { STATUS } from './port.ts'
import { keysOf } from './record.ts'

/** For the largest orphans it is looked whether a known id is meant. */
const COMPARED = 20
/** A campaign that starts this soon should be carried by a feed. */
const SOON = 2 * DAY

export type FeedFindings = ReturnType<typeof feedFindings>

/** Times are ISO 8601 UTC. */
export function feedFindings({ input, campaigns }: Planning) {
  const { desired, records, effects, now } = input
  const states = desired.campaigns.map((one) => ({ ...one, state: effects.stateOf(one.key) }))
  const known = keysOf(desired, records)
  const orphans = new Map<string, number>()
  for (const { ids } of effects.latest)
    for (const [id, postings] of Object.entries(ids))
      if (!known.has(id)) orphans.set(id, (orphans.get(id) ?? 0) + postings)
  return {
    /** Of the last uploads together. */
    postings: effects.postings,
    uploads: effects.latest.map(({ feed, version, uploadedAt, postings }) => ({
      ...{ feed, version, uploadedAt: isoTime(uploadedAt), postings },
    })),
    /** Why postings could not be counted. */
    problems: effects.problems,
    /** Entries that no feed ever carried. */
    waiting: states.flatMap(({ key, state, values }) => {
      const { startDate } = values
      const soon = typeof startDate === 'string' && Date.parse(startDate) - now < SOON
      return state.kind === 'waiting' ? [{ key, startsSoon: soon }] : []
    }),
    /** Entries that the last `uploads` feeds do not carry any more; pinned requisitions may still spend. */
    gone: states.flatMap(({ key, state, targeting }) => {
      if (state.kind !== 'missing' && state.kind !== 'vanished') return []
      const pinned = targeting?.requisitionIds.length ?? 0
      return [{ key, ...state, since: isoTime(state.since), pinned }]
    }),
    /** Pinned requisitions that no posting has. */
    stale: [...effects.stale].map(([key, requisitionIds]) => ({ key, requisitionIds })),
    /** Postings that two entries select. */
    overlaps: [...effects.overlaps].map(([keys, postings]) => ({ keys, postings })),
    /** Postings carry the id, and its campaign cannot sponsor them. */
    dead: records.flatMap(({ key, campaignId }) => {
      const campaign = campaigns.get(campaignId)
      const state = effects.stateOf(key)
      const why = campaign === undefined ? null : deadBy(campaign, now)
      if (state.kind !== 'live' || why === null) return []
      return [{ key, campaignId, why, postings: state.postings }]
    }),
    /** Ids that feeds carry and nothing manages: no budget is known for them, so none is ever created. */
    orphans: [...orphans]
      .sort(([, a], [, b]) => b - a)
      .map(([id, postings], n) => {
        const near = n < COMPARED ? nearest(id.replace(/\s/g, ''), known) : null
        return { externalCampaignId: id, postings, nearest: near }
      }),
  }
}

function deadBy({ status, endDate }: Campaign, now: number): string | null {
  if (status === STATUS.archived) return 'archived'
  if (status === STATUS.paused) return 'paused'
  return endDate != null && endsBy(endDate) < now ? 'over' : null
}
