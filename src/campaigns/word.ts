// The word `create KEY --new` of an entry that has a campaign, and how the word is taken back.

import { isoTime } from '../lib/clock.ts'
import type { CampaignFailure, Listing } from '../service/port.ts'
import type { Decision, Refusal } from './decide.ts'
import type { Desired, DesiredCampaign } from './desired.ts'
import { COMMAND, type Held, quoted } from './plan.ts'
import { heldBy, isUnsettled, LATEST_LISTING, later } from './planning.ts'
import type { CampaignRecord } from './port.ts'
import { keysOf, named, sinceOf, whyStopped } from './record.ts'
import type { ReconcilerParts } from './send.ts'
import { hasSameMark } from './token.ts'

/** Else nothing would be written to the successor. */
export const WITHOUT_ID = 'take campaignId out of the entry'

type Parts = Pick<ReconcilerParts, 'store' | 'clock'> & { by: string }

/** `excluded`: campaigns that are there and are not the successor. Answers what a person is told. */
export function askSuccessor(
  { store, clock, by }: Parts,
  record: CampaignRecord,
  excluded: readonly string[],
): string {
  const { key, campaignId } = record
  store.atomically(() => {
    store.save({ ...record, succeeding: true })
    store.keepNewEntry(key, excluded)
    store.decide({ at: clock.now(), key, campaignId, why: 'a successor takes its place', by })
  })
  const next = `campaign ${campaignId} is paused by the next apply, and ${key} is made anew as the file says`
  return `${next}: ${COMMAND} apply --yes`
}

/** Ends the words of entries that are not in the file. A successor that was sent without an answer is still sought. */
export function endWords({ store, clock, by }: Parts, { campaigns }: Desired): void {
  const keys = new Set(campaigns.map(({ key }) => key))
  const isOut = (key: string) => !keys.has(key)
  const waiting = [...store.newEntries().keys()].filter(isOut)
  const asked = store
    .records()
    .filter(({ key, succeeding }) => succeeding && isOut(key) && !sentFor(store, key))
  const ended = new Set([...waiting, ...asked.map(({ key }) => key)])
  if (ended.size === 0) return
  store.atomically(() => {
    for (const record of asked) store.save({ ...record, succeeding: false })
    for (const key of ended) {
      store.keepNewEntry(key, null)
      const why = 'the entry is not in the file, so it is not made anew'
      store.decide({ at: clock.now(), key, campaignId: null, why, by })
    }
  })
}

/** `forget KEY` of an entry without a campaign takes back that it is new. null: it is no key. */
export function takeBack(
  { desired, store, clock, by }: Parts & { desired: Desired },
  key: string,
): Decision | null {
  const folded = (text: string) => text.normalize('NFC').toLowerCase()
  const meant = [...keysOf(desired, store.records())].find((one) => folded(one) === folded(key))
  if (meant === undefined) return null
  if (!store.newEntries().has(key)) {
    const id = store.record(meant)?.campaignId
    const way = `forget ${quoted(meant)} lets campaign ${id} of ${meant} go`
    const hint = `${COMMAND} ${id === undefined ? 'status lists what has one' : way}`
    return refused(`${key} has no campaign`, hint)
  }
  store.atomically(() => {
    store.keepNewEntry(key, null)
    store.decide({ at: clock.now(), key, campaignId: null, why: 'it is not made anew', by })
  })
  return done(`that ${key} is new counts no longer`, null)
}

/** A person keeps the campaign: a successor that was sent without an answer is not waited for. Answers as above. */
export function keepCampaign({ store, clock, by }: Parts, record: CampaignRecord): string {
  const { key, campaignId } = record
  const at = clock.now()
  store.atomically(() => {
    store.save({ ...record, succeeding: false })
    store.keepNewEntry(key, null)
    giveUp(store, key, at)
    store.decide({ at, key, campaignId, why: 'it stays, and no successor is made', by })
  })
  return `campaign ${campaignId} stays with ${key}, and no successor is made`
}

/** What was sent for the key without an answer is not waited for. */
export function giveUp(store: Parts['store'], key: string, at: number): void {
  for (let sent = sentFor(store, key); sent !== null; sent = sentFor(store, key))
    store.end(sent.id, 'given-up', sent.reason, at)
}

/** A campaign that is not found may spend all the same: one answer proves no absence. null: it is gone. */
export function whyNotGone({ campaignId, missingSince }: CampaignRecord, now: number): Held | null {
  if (missingSince !== null && missingSince + LATEST_LISTING <= now) return null
  const reason = `campaign ${campaignId} is not found by its id; its successor is made once nothing shows it for an hour`
  return later(reason)
}

/** The entry itself says which campaign it is. */
export function whyFixed({ key, campaignId }: DesiredCampaign): Held | null {
  if (campaignId === null) return null
  const reason = `a successor was asked for, and the entry names campaign ${campaignId}`
  const needs = `${WITHOUT_ID}, or to keep it: ${COMMAND} adopt ${quoted(key)} ${campaignId}`
  return heldBy('conflict', reason, needs, 'successor')
}

/** Creates of the key without an answer are not waited for any more; else why they still are. `owned`: ids. */
export function endWait(
  { store, clock }: Omit<Parts, 'by'>,
  key: string,
  listing: Exclude<Listing, CampaignFailure>,
  owned: ReadonlySet<string>,
): Refusal | null {
  const now = clock.now()
  const free = [...listing.campaigns.values()].filter(({ id }) => !owned.has(id))
  for (let sent = sentFor(store, key); sent !== null; sent = sentFor(store, key)) {
    const { id, at, endedAt, body, reason } = sent
    const found = free.find(({ name }) => hasSameMark(body?.name, name))
    const hint = `${COMMAND} adopt ${quoted(key)} ${found?.id}`
    if (found !== undefined) return refused(`it was created: campaign ${named(found)}`, hint)
    // Where a clock that ran ahead dated it, the time counts from the first word on.
    const since = sinceOf(at, now) === at ? at : sinceOf(endedAt, now)
    if (since === now) store.end(id, 'unknown', reason, now)
    const early = tooEarly(listing, since, 'whether it was created', now)
    if (early !== null) return early
    store.end(id, 'given-up', reason, now)
  }
  return null
}

/** A listing proves that something is not there once it had the time to show it. `since`, `now`: wall ms. */
export function tooEarly(
  listing: Listing,
  since: number,
  what: string,
  now: number,
): Refusal | null {
  if (listing.kind === 'incomplete')
    return refused(`${what} is not known: ${listing.reason}`, 'try again later', true)
  const at = since + LATEST_LISTING
  if (now >= at) return null
  const hint = `it can be said from ${isoTime(at)} on; run this again then`
  return refused(`${what} is not known yet: it may only be hard to find`, hint, true)
}

export const done = (text: string, campaignId: string | null): Decision => ({
  ...{ kind: 'done', text, campaignId },
})

export const refused = (reason: string, hint: string, isEarly = false): Refusal => ({
  ...{ kind: 'refused', reason, hint, isEarly },
})

function sentFor(store: Parts['store'], key: string) {
  const create = store.newestCreate(key)
  return isUnsettled(create) ? create : null
}

export function whyWrongAccount({ account, store }: ReconcilerParts): Refusal | null {
  const stopped = whyStopped(account, store.account()?.account)
  return stopped && refused(stopped.reason, stopped.needs)
}
