// Writes down what a look has seen, before anything is sent: what is agreed, how the service shows it, what
// became of writes without an answer, and what was there before this database.

import { DAY } from '../lib/clock.ts'
import type { Campaign } from '../service/port.ts'
import { compare, valueNow } from './compare.ts'
import type { Desired } from './desired.ts'
import { FIELDS, isFormOf, rawOf, readValue, valuesOf } from './fields.ts'
import type { AccountFacts, CampaignRecord, CampaignStore, CampaignWrite } from './port.ts'
import { pairsOf, whyForeign } from './record.ts'
import type { ReconcilerParts, Result, Sender } from './send.ts'
import type { Snapshot } from './snapshot.ts'
import { canonical } from './targeting.ts'
import { tokenIn } from './token.ts'
import { isSeen, withWritten } from './verify.ts'

interface Recording {
  parts: ReconcilerParts
  sender: Sender
  snapshot: Snapshot
  desired: Desired
}

export const noFacts = (account: string): AccountFacts => ({
  ...{ account, approvedAt: null, keepsTokens: null, isCounted: false },
})

/** `approves`: a person applies, and so approves the first plan. Answers what was found again. */
export function recordSnapshot(all: Recording, approves: boolean): Result[] {
  const { store, account, clock } = all.parts
  const { snapshot } = all
  return store.atomically(() => {
    const facts = store.account() ?? noFacts(account)
    const isCounted = facts.isCounted || snapshot.incomplete === null
    const isFirst = facts.approvedAt === null && approves
    if (isFirst) store.renewMark()
    const noted = { ...facts, isCounted, ...(isFirst && { approvedAt: clock.now() }) }
    if (JSON.stringify(noted) !== JSON.stringify(store.account())) store.saveAccount(noted)
    // Whatever was there before this database may be the campaign of any entry.
    if (isCounted && !facts.isCounted) {
      const owned = new Set(store.records().map(({ campaignId }) => campaignId))
      for (const id of snapshot.listed.keys()) if (!owned.has(id)) store.addOther({ id, key: null })
    }
    const found = settleCreates(all)
    settleUpdates(all.parts, snapshot)
    recordAgreed(all)
    return found
  })
}

/** A create without an answer is found by its token, once and only once. */
export function settleCreates({ parts, sender, snapshot }: Omit<Recording, 'desired'>): Result[] {
  const { store } = parts
  const sought = store.open().filter((write) => write.action === 'create' && isSought(store, write))
  const owned = new Set(store.records().flatMap(({ campaignId, past }) => [campaignId, ...past]))
  return sought.flatMap((write) => {
    const token = tokenIn(write.body?.name)
    const isIts = ({ id, name }: Campaign) => tokenIn(name) === token && !owned.has(id)
    const [only, another] = token === null ? [] : [...snapshot.listed.values()].filter(isIts)
    if (only === undefined || another !== undefined) return []
    sender.recordCreated(write, only, 'recovered')
    const found = { key: write.key, campaignId: only.id, reason: 'found by its token' }
    return { ...found, outcome: 'adopted', isReduction: false }
  })
}

/** Neither a person nor a later create decided about the key since. */
function isSought(store: CampaignStore, { key, id, outcome }: CampaignWrite): boolean {
  const record = store.record(key)
  const isKnown = record !== null && !record.succeeding
  return outcome === 'unknown' && !isKnown && store.newestCreate(key)?.id === id
}

function settleUpdates({ store, clock }: ReconcilerParts, snapshot: Snapshot): void {
  const now = clock.now()
  const byId = new Map(store.records().map((record) => [record.campaignId, record]))
  for (const write of store.open()) {
    const { id, at, action, outcome, campaignId, body, reason } = write
    if (action !== 'update' || outcome !== 'unknown' || body === null) continue
    const campaign = snapshot.read.get(campaignId ?? '')
    const record = byId.get(campaignId ?? '')
    if (campaign != null && record !== undefined && isSeen(write, campaign)) {
      const values = valuesOf(body)
      const targeting = body.targeting === undefined ? null : canonical(body.targeting)
      const shown = Object.keys(values).map((field) => [field, rawOf(campaign, field as 'name')])
      const forms = shown.map(([field, raw]) => [field, [JSON.stringify(raw)]])
      const settled = withWritten(record, { values, targeting }, Object.fromEntries(forms))
      byId.set(settled.campaignId, settled)
      store.save(settled)
      store.end(id, 'done', 'seen on the service afterwards', now)
    } else if (at < now - DAY) store.end(id, 'given-up', reason, now)
  }
}

/** What file and service agree on, how the service shows it, and what it does not show at all. */
export function recordAgreed({ parts, snapshot, desired }: Omit<Recording, 'sender'>): void {
  const { store, clock } = parts
  const open = Map.groupBy(store.open(), ({ campaignId }) => campaignId)
  const records = store.records()
  const goals = new Map(pairsOf(desired, records).map(({ record, goal }) => [record, goal]))
  for (const record of records) {
    const { campaignId, missingSince, accountId } = record
    const listed = snapshot.listed.get(campaignId)
    const read = snapshot.read.get(campaignId)
    const campaign = read ?? listed
    let noted = record
    if (campaign != null) {
      if (missingSince !== null) noted = { ...noted, missingSince: null }
    } else if (snapshot.incomplete === null && read === null)
      noted = { ...noted, missingSince: missingSince ?? clock.now() }
    if (campaign != null && whyForeign(record, campaign) === null) {
      if (accountId === null && campaign.accountId != null)
        noted = { ...noted, accountId: campaign.accountId }
      const goal = goals.get(record)
      if (goal !== undefined && !record.succeeding) {
        const { agreed } = compare(goal, record, campaign, open.get(campaignId) ?? [])
        if (Object.keys(agreed.values).length > 0 || agreed.targeting !== null)
          noted = withWritten(noted, agreed, {})
      }
      if (read != null && listed !== undefined) noted = withForms(noted, listed, read)
    }
    if (noted !== record) store.save(noted)
  }
}

/** How listings show what a read by id shows as agreed. */
function withForms(record: CampaignRecord, listed: Campaign, read: Campaign): CampaignRecord {
  const { written, forms } = record
  const added = FIELDS.flatMap((field) => {
    const [value, raw] = [written[field], rawOf(listed, field)]
    if (value === undefined || raw === undefined || readValue(field, raw) === value) return []
    const [known, text] = [forms[field] ?? [], JSON.stringify(raw)]
    const isForm = valueNow(record, read, field) === value && isFormOf(field, value, raw)
    return isForm && !known.includes(text) ? [[field, [...known, text].slice(-3)]] : []
  })
  return added.length === 0
    ? record
    : { ...record, forms: { ...forms, ...Object.fromEntries(added) } }
}
