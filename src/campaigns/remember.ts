// Writes down what a look has seen, before anything is sent: what is agreed, how the service shows it, what
// became of writes without an answer, and what was there before this database.

import { DAY } from '../lib/clock.ts'
import type { Campaign, CampaignCreate } from '../service/port.ts'
import { whyForeign } from './absence.ts'
import { compare, valueNow, valuesOf } from './compare.ts'
import { createdValues, goalOf } from './creating.ts'
import type { Desired } from './desired.ts'
import { FIELDS, isFormOf, rawOf, readValue } from './fields.ts'
import type { AccountFacts, CampaignRecord, CampaignStore, CampaignWrite } from './port.ts'
import type { ReconcilerParts, Result, Sender } from './send.ts'
import type { Sight } from './sight.ts'
import { canonical } from './targeting.ts'
import { tokenIn } from './token.ts'
import { isSeen, withWritten } from './verify.ts'

interface Remembering {
  parts: ReconcilerParts
  sender: Sender
  sight: Sight
  desired: Desired
}

export const noFacts = (account: string): AccountFacts => ({
  ...{ account, approvedAt: null, keepsTokens: null, isCounted: false },
})

/** `approves`: a person applies, and so approves the first plan. Answers what was found again. */
export function remember(all: Remembering, approves: boolean): Result[] {
  const { store, account, clock } = all.parts
  const { sight } = all
  const now = clock.now()
  return store.atomically(() => {
    const facts = store.account() ?? noFacts(account)
    const isCounted = facts.isCounted || sight.incomplete === null
    const approvedAt = facts.approvedAt ?? (approves ? now : null)
    if (
      isCounted !== facts.isCounted ||
      approvedAt !== facts.approvedAt ||
      store.account() === null
    )
      store.saveAccount({ ...facts, isCounted, approvedAt })
    if (facts.approvedAt === null && approves) store.renewMark()
    // Whatever was there before this database may be the campaign of any entry.
    if (isCounted && !facts.isCounted) {
      const owned = new Set(store.records().map(({ campaignId }) => campaignId))
      for (const id of sight.listed.keys()) if (!owned.has(id)) store.addOther({ id, key: null })
    }
    const found = settleCreates(all)
    settleUpdates(all.parts, sight)
    noteSights(all)
    return found
  })
}

/** A create without an answer is found by its token, once and only once. */
export function settleCreates({ parts, sender, sight }: Omit<Remembering, 'desired'>): Result[] {
  const { store } = parts
  const results: Result[] = []
  const owned = new Set(store.records().flatMap(({ campaignId, past }) => [campaignId, ...past]))
  for (const write of store.open()) {
    if (write.action !== 'create' || write.outcome !== 'unknown' || write.body === null) continue
    const token = tokenIn(write.body.name)
    const found = [...sight.listed.values()].filter(
      ({ id, name }) => tokenIn(name) === token && !owned.has(id),
    )
    const [only] = found
    if (only === undefined || found.length > 1 || token === null || isDecided(store, write))
      continue
    const body = write.body as CampaignCreate
    const targeting = body.targeting === undefined ? null : canonical(body.targeting)
    sender.remember(write.key, only, body, { values: createdValues(body), targeting }, write.id)
    const record = store.record(write.key)
    if (record !== null) store.save({ ...record, origin: 'recovered' })
    results.push({
      key: write.key,
      campaignId: only.id,
      outcome: 'adopted',
      reason: 'found by its token',
      isReduction: false,
    })
  }
  return results
}

/** A person, or a later create, decided about the key since. */
function isDecided(store: CampaignStore, { key, id }: CampaignWrite): boolean {
  const record = store.record(key)
  return (
    (record !== null && !record.succeeding) ||
    store.creates().some((one) => one.key === key && one.id > id)
  )
}

function settleUpdates({ store, clock }: ReconcilerParts, sight: Sight): void {
  const now = clock.now()
  const byId = new Map(store.records().map((record) => [record.campaignId, record]))
  for (const write of store.open()) {
    if (
      write.action !== 'update' ||
      write.outcome !== 'unknown' ||
      write.campaignId === null ||
      write.body === null
    )
      continue
    const campaign = sight.read.get(write.campaignId)
    const record = byId.get(write.campaignId)
    if (campaign != null && record !== undefined && isSeen(write, campaign)) {
      const targeting = write.body.targeting === undefined ? null : canonical(write.body.targeting)
      const forms = Object.fromEntries(
        Object.keys(write.body).flatMap((field) => {
          const raw = field === 'targeting' ? undefined : rawOf(campaign, field as 'name')
          return raw === undefined ? [] : [[field, [JSON.stringify(raw)]]]
        }),
      )
      const settled = withWritten(record, { values: valuesOf(write.body), targeting }, forms)
      byId.set(write.campaignId, settled)
      store.save(settled)
      store.end(write.id, 'done', 'seen on the service afterwards', now)
    } else if (write.at < now - DAY) store.end(write.id, 'given-up', write.reason, now)
  }
}

/** What file and service agree on, how the service shows it, and what it does not show at all. */
export function noteSights({ parts, sight, desired }: Omit<Remembering, 'sender'>): void {
  const { store, clock } = parts
  const now = clock.now()
  const entries = new Map(desired.campaigns.map((entry) => [entry.key, entry]))
  const open = Map.groupBy(store.open(), ({ campaignId }) => campaignId)
  for (const record of store.records()) {
    const listed = sight.listed.get(record.campaignId)
    const read = sight.read.get(record.campaignId)
    const campaign = read ?? listed
    let noted = record
    const isGone = campaign === undefined || campaign === null
    if (isGone && sight.incomplete === null && read === null)
      noted = { ...noted, missingSince: record.missingSince ?? now }
    else if (!isGone && record.missingSince !== null) noted = { ...noted, missingSince: null }
    if (campaign != null && whyForeign(record, campaign) === null) {
      if (record.accountId === null && campaign.accountId != null)
        noted = { ...noted, accountId: campaign.accountId }
      const entry = entries.get(record.key)
      if (entry !== undefined) {
        const { values, targeting } = compare(
          goalOf(entry, record),
          record,
          campaign,
          open.get(record.campaignId) ?? [],
        ).agreed
        if (Object.keys(values).length > 0 || targeting !== null)
          noted = withWritten(noted, { values, targeting }, {})
      }
      if (read != null && listed !== undefined)
        noted = { ...noted, forms: formsOf(noted, listed, read) }
    }
    if (noted !== record) store.save(noted)
  }
}

/** How listings show what a read by id shows as agreed. */
function formsOf(
  record: CampaignRecord,
  listed: Campaign,
  read: Campaign,
): CampaignRecord['forms'] {
  const forms = { ...record.forms }
  for (const field of FIELDS) {
    const [value, raw] = [record.written[field], rawOf(listed, field)]
    if (value === undefined || raw === undefined || readValue(field, raw) === value) continue
    const text = JSON.stringify(raw)
    if (
      valueNow(record, read, field) === value &&
      isFormOf(field, value, raw) &&
      !forms[field]?.includes(text)
    )
      forms[field] = [...(forms[field] ?? []), text].slice(-3)
  }
  return JSON.stringify(forms) === JSON.stringify(record.forms) ? record.forms : forms
}
