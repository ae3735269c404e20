// A person's word that an entry is new: none of the campaigns that are there is its campaign, or the one that
// is gives way to a successor. Nothing here writes to the service.

import { isoTime } from '../lib/clock.ts'
import type { CampaignFailure, Listing } from '../service/port.ts'
import { named } from './absence.ts'
import { type Decision, done, type Refusal, refused } from './decision.ts'
import type { Desired } from './desired.ts'
import { COMMAND, quoted } from './plan.ts'
import { isUnsettled, LATEST_LISTING } from './planning.ts'
import type { CampaignRecord } from './port.ts'
import type { ReconcilerParts } from './send.ts'
import { tokenIn } from './token.ts'

/** The entry is made anew by the next apply; a campaign that it has is stopped first. */
export async function renew(
  parts: ReconcilerParts,
  desired: Desired,
  key: string,
  by: string,
  signal: AbortSignal,
): Promise<Decision> {
  const note = (campaignId: string | null, why: string) =>
    parts.store.decide({ at: parts.clock.now(), key, campaignId, why, by })
  const { store, list, api, clock } = parts
  if (!desired.campaigns.some((entry) => entry.key === key))
    return refused(`${key} is no entry of the campaigns file`, 'write the entry first')
  const listing = await list(signal)
  if (listing.kind === 'failure') return listing
  const record = store.record(key)
  if (record !== null) {
    const answer = await api.get(record.campaignId, signal)
    if (answer.kind === 'ok') return succeed(parts, record, note)
    if (answer.class !== 'missing') return answer
    return lost(parts, record, listing, note)
  }
  const create = store.creates().find((one) => one.key === key)
  if (isUnsettled(create) && create.body !== null) {
    const token = tokenIn(create.body.name)
    const found = [...listing.campaigns.values()].find(({ name }) => tokenIn(name) === token)
    if (found !== undefined)
      return refused(
        `it was created: campaign ${named(found)}`,
        `${COMMAND} adopt ${quoted(key)} ${found.id}`,
      )
    const early = tooEarly(parts, listing, create.at, 'whether it was created')
    if (early !== null) return early
    store.end(create.id, 'given-up', create.reason, clock.now())
  }
  const owned = new Set(store.records().map(({ campaignId }) => campaignId))
  const notIts = [...listing.campaigns.keys()].filter((id) => !owned.has(id))
  store.atomically(() => {
    store.keepWord(key, notIts)
    note(null, 'none of the campaigns that are there is this one: it is new')
  })
  return done(`${key} is new; the next apply creates it: ${COMMAND} apply --yes`, null)
}

type Note = (campaignId: string | null, why: string) => void

function succeed({ store }: ReconcilerParts, record: CampaignRecord, note: Note): Decision {
  const { key, campaignId } = record
  store.atomically(() => {
    store.save({ ...record, succeeding: true })
    note(campaignId, 'a successor takes its place')
  })
  return done(
    `campaign ${campaignId} is paused by the next apply, and ${key} is made anew as the file says: ${COMMAND} apply --yes`,
    campaignId,
  )
}

function lost(
  parts: ReconcilerParts,
  record: CampaignRecord,
  listing: Exclude<Listing, CampaignFailure>,
  note: Note,
): Decision {
  const { store, clock } = parts
  const { campaignId } = record
  if (listing.campaigns.has(campaignId))
    return refused(
      `campaign ${campaignId} is listed, and is not found by its id`,
      'try again later',
      true,
    )
  const since = record.missingSince ?? clock.now()
  if (record.missingSince === null) store.save({ ...record, missingSince: since })
  return (
    tooEarly(parts, listing, since, `whether campaign ${campaignId} is gone`) ??
    succeed(parts, record, note)
  )
}

function tooEarly(
  parts: ReconcilerParts,
  listing: Listing,
  since: number,
  what: string,
): Refusal | null {
  if (listing.kind === 'incomplete')
    return refused(`${what} cannot be told: ${listing.reason}`, 'try again later', true)
  const at = since + LATEST_LISTING
  if (parts.clock.now() >= at) return null
  return refused(
    `${what} cannot be told yet: it may only be hard to find`,
    `it can be said from ${isoTime(at)} on; run this again then`,
    true,
  )
}
