// The word `create KEY --new`, that the entry is made anew by the next apply, and how such a word ends.

import { isoTime } from '../lib/clock.ts'
import { EXIT } from '../lib/errors.ts'
import type { Campaign, CampaignFailure, Listing } from '../service/port.ts'
import { heldCreation } from './creation.ts'
import { type Desired, type DesiredCampaign, wantedTargeting } from './desired.ts'
import { planningOf } from './direct.ts'
import { COMMAND, quoted } from './plan.ts'
import { isUnsettled, LATEST_LISTING, WITHOUT_ID } from './planning.ts'
import type { CampaignRecord, CampaignWrite } from './port.ts'
import { named, ownedIn, sinceOf, whyForeign } from './record.ts'
import { answered, refused } from './refused.ts'
import type { PersonParts } from './send.ts'
import { hasSameMark } from './token.ts'

export interface Decision {
  text: string
  campaignId: string | null
}

type Parts = Pick<PersonParts, 'store' | 'clock' | 'by'>

/** Writes a decision down, together with what follows from it. */
export function decided(
  { store, clock, by }: Parts,
  decision: { key: string; campaignId: string | null; why: string },
  change: () => void,
): void {
  store.atomically(() => {
    change()
    store.decide({ ...decision, at: clock.now(), by })
  })
}

/**
 * The entry is made anew by the next apply. A campaign that it has is stopped first; with `isGone`, said of one
 * that is not there, nothing is stopped.
 */
export async function sayNew(parts: PersonParts, key: string, isGone: boolean): Promise<Decision> {
  const { api, desired, list, signal, store } = parts
  const entry = desired.campaigns.find((one) => one.key === key)
  const isSent = sentFor(store, key).length > 0
  if (entry === undefined && !isSent)
    throw refused(`${key} is no entry of the campaigns file`, 'write the entry first')
  if (entry !== undefined && entry.campaignId !== null)
    throw refused(
      `the entry names campaign ${entry.campaignId}`,
      `${WITHOUT_ID}, then say it again`,
    )
  const listing = answered(await list(signal))
  const record = store.record(key)
  const owned = ownedIn(store.records())
  const unowned = [...listing.campaigns.values()].filter(({ id }) => !owned.has(id))
  const free = unowned.map(({ id }) => id)
  // A successor that was sent without an answer is settled before the word counts again.
  if (entry !== undefined && record !== null && !(record.succeeding && isSent)) {
    const { campaignId } = record
    const answer = await api.get(campaignId, signal)
    if (answer.kind === 'failure' && answer.class === 'missing') checkLost(parts, record, listing)
    else {
      const campaign = answered(answer).value
      const hint = `${COMMAND} create ${quoted(key)} --new stops it and makes a successor`
      if (isGone) throw refused(`campaign ${named(campaign)} is there`, hint)
      await checkSuccessor(parts, entry, record, campaign, free)
    }
    decided(parts, { key, campaignId, why: 'a successor takes its place' }, () => {
      store.save({ ...record, succeeding: true })
      store.keepNewEntry(key, free)
    })
    const next = `campaign ${campaignId} is paused by the next apply, and ${key} is made anew as the file says`
    return { text: `${next}: ${COMMAND} apply --yes`, campaignId }
  }
  endWait(parts, key, listing, unowned)
  if (entry === undefined)
    return { text: `no campaign of ${key} is waited for any more`, campaignId: null }
  const why = 'none of the campaigns that are there is this one: it is new'
  decided(parts, { key, campaignId: null, why }, () => store.keepNewEntry(key, free))
  const text = `${key} is new; the next apply creates it: ${COMMAND} apply --yes`
  return { text, campaignId: null }
}

/** Throws why no successor could be made of a campaign that runs. `excluded`: campaigns that are not the successor. */
async function checkSuccessor(
  parts: PersonParts,
  entry: DesiredCampaign,
  record: CampaignRecord,
  campaign: Campaign,
  excluded: readonly string[],
): Promise<void> {
  const { key, campaignId, succeeding } = record
  const foreign = whyForeign(record, campaign)
  if (foreign !== null)
    throw refused(foreign, `${COMMAND} forget ${quoted(key)}, then say it again`)
  if (succeeding) return
  const planning = await planningOf(parts, wantedTargeting(entry), [[key, excluded]])
  const held = planning.runs(campaign) ? heldCreation(planning, entry) : null
  if (held === null) return
  const { cause, code, passes, reason, needs } = held
  const ways =
    code === 'unknown'
      ? `${COMMAND} adopt ${quoted(key)} ${campaignId} ends the wait for it`
      : cause === 'maxExposure'
        ? `${needs}, or have campaign ${campaignId} archived on the service first`
        : needs
  const isEarly = passes && code !== 'unknown'
  throw refused(
    `no successor could be made: ${reason}`,
    ways,
    isEarly ? EXIT.temporary : EXIT.failed,
  )
}

/** Throws why a campaign that was not found by its id does not count as lost. */
function checkLost({ store, clock }: Parts, record: CampaignRecord, listing: Listed): void {
  const { campaignId } = record
  if (listing.campaigns.has(campaignId)) {
    const reason = `campaign ${campaignId} is listed, and is not found by its id`
    throw refused(reason, 'try again later', EXIT.temporary)
  }
  const since = sinceOf(record.missingSince, clock.now())
  if (record.missingSince !== since) store.save({ ...record, missingSince: since })
  checkAge(listing, since, `whether campaign ${campaignId} is gone`, clock.now())
}

/** Creates of the key without an answer are not waited for any more; else throws why they still are. */
function endWait(
  { store, clock }: Parts,
  key: string,
  listing: Listed,
  unowned: readonly Campaign[],
): void {
  const now = clock.now()
  for (const { id, at, endedAt, body, reason } of sentFor(store, key)) {
    const found = unowned.find(({ name }) => hasSameMark(body?.name, name))
    const hint = `${COMMAND} adopt ${quoted(key)} ${found?.id}`
    if (found !== undefined) throw refused(`it was created: campaign ${named(found)}`, hint)
    // Where a clock that ran ahead dated it, the time counts from the first word on.
    const since = sinceOf(at, now) === at ? at : sinceOf(endedAt, now)
    if (since === now) store.end(id, 'unknown', reason, now)
    checkAge(listing, since, 'whether it was created', now)
    store.end(id, 'given-up', reason, now)
  }
}

type Listed = Exclude<Listing, CampaignFailure>

/** A listing proves that something is not there once it had the time to show it. `since`, `now`: wall ms. */
function checkAge(listing: Listed, since: number, what: string, now: number): void {
  if (listing.kind === 'incomplete')
    throw refused(`${what} is not known: ${listing.reason}`, 'try again later', EXIT.temporary)
  const at = since + LATEST_LISTING
  if (now >= at) return
  const hint = `it can be said from ${isoTime(at)} on; run this again then`
  throw refused(`${what} is not known yet: it may only be hard to find`, hint, EXIT.temporary)
}

/** Ends the words of entries that are not in the file. A successor that was sent without an answer is still sought. */
export function endWords(parts: Parts, { campaigns }: Desired): void {
  const { store } = parts
  const listed = new Set(campaigns.map(({ key }) => key))
  const words = new Set(store.newEntries().keys())
  const asked = store.records().filter(({ key, succeeding }) => succeeding && !listed.has(key))
  const ended = asked.filter(({ key }) => sentFor(store, key).length === 0)
  const why = 'the entry is not in the file, so it is not made anew'
  for (const key of words.union(new Set(ended.map((record) => record.key))).difference(listed))
    decided(parts, { key, campaignId: null, why }, () => {
      const record = ended.find((one) => one.key === key)
      if (record !== undefined) store.save({ ...record, succeeding: false })
      store.keepNewEntry(key, null)
    })
}

/** The campaign of the record is the one of its entry from now on: nothing else is waited for or made. */
export function assign(parts: Parts, record: CampaignRecord, why: string): void {
  const { key, campaignId } = record
  const { store } = parts
  decided(parts, { key, campaignId, why }, () => {
    store.save(record)
    store.removeOther(campaignId)
    store.keepNewEntry(key, null)
    giveUp(parts, key)
  })
}

/** What was sent for the key without an answer is not waited for. */
function giveUp({ store, clock }: Parts, key: string): void {
  for (const { id, reason } of sentFor(store, key)) store.end(id, 'given-up', reason, clock.now())
}

/** Creates of a key without an answer, newest first. */
export const sentFor = (store: Parts['store'], key: string): CampaignWrite[] =>
  store
    .open()
    .filter((one) => one.action === 'create' && one.key === key && isUnsettled(one))
    .reverse()
