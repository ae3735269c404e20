// The word `create KEY --new` of an entry that has a campaign, and how the word is taken back.

import type { Desired, DesiredCampaign } from './desired.ts'
import { COMMAND, type Held, quoted } from './plan.ts'
import { heldBy, isUnsettled, LATEST_LISTING, later } from './planning.ts'
import type { CampaignRecord } from './port.ts'
import type { ReconcilerParts } from './send.ts'

/** Else nothing would be written to the successor. */
export const WITHOUT_ID = 'take campaignId out of the entry'

type Parts = Pick<ReconcilerParts, 'store' | 'clock'> & { by: string }

/** Answers what a person is told. */
export function askSuccessor({ store, clock, by }: Parts, record: CampaignRecord): string {
  const { key, campaignId } = record
  store.atomically(() => {
    store.save({ ...record, succeeding: true })
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

/** A person keeps the campaign: a successor that was sent without an answer is not waited for. Answers as above. */
export function keepCampaign({ store, clock, by }: Parts, record: CampaignRecord): string {
  const { key, campaignId } = record
  const at = clock.now()
  const sent = sentFor(store, key)
  store.atomically(() => {
    store.save({ ...record, succeeding: false })
    store.keepNewEntry(key, null)
    if (sent !== null) store.end(sent.id, 'given-up', sent.reason, at)
    store.decide({ at, key, campaignId, why: 'it stays, and no successor is made', by })
  })
  return `campaign ${campaignId} stays with ${key}, and no successor is made`
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

function sentFor(store: Parts['store'], key: string) {
  const create = store.newestCreate(key) ?? undefined
  return isUnsettled(create) ? create : null
}
