// What was seen of the service in one look: a listing, reads by id of what the listing does not settle, and
// what of it is written down before anything is sent.

import { isDeepStrictEqual } from 'node:util'
import { DAY } from '../lib/clock.ts'
import { isDue, isRecent } from '../lib/due.ts'
import type { Campaign, CampaignFailure } from '../service/port.ts'
import { compare, type Goal, valueNow } from './compare.ts'
import type { Desired } from './desired.ts'
import { FIELDS, type Field, isFormOf, rawOf, readValue } from './fields.ts'
import { LATEST_LISTING } from './planning.ts'
import type { CampaignRecord, CampaignWrite } from './port.ts'
import {
  adoptedRecord,
  asRead,
  changesOf,
  goalOf,
  isUnwritten,
  type ManagedCampaign,
  managedCampaigns,
  mayDiffer,
  noFacts,
  ownedIn,
  shownOf,
  sinceOf,
  whyForeign,
} from './record.ts'
import { type ReconcilerParts, type Result, resultOf, type Sender } from './send.ts'
import { tokenIn } from './token.ts'
import { hides, seenWrite, withWritten } from './verify.ts'

/** Calls at a time: reads of many campaigns, and reductions. */
const AT_ONCE = 8
/** After so many failures in a row the rest is not asked for in this look. */
const MOST_FAILURES = 3

export class Snapshot {
  listed = new Map<string, Campaign>()
  /** By id, after the listing; null: there is none. */
  readonly read = new Map<string, Campaign | null>()
  /** Why it could not be read, by id. */
  readonly failed = new Map<string, string>()
  /** Why the listing cannot prove an absence; null when it is complete. */
  incomplete: string | null = null
  readonly #parts: ReconcilerParts
  readonly #stop: AbortSignal

  constructor(parts: ReconcilerParts, stop: AbortSignal) {
    this.#parts = parts
    this.#stop = stop
  }

  async list(): Promise<CampaignFailure | null> {
    const listing = await this.#parts.list(this.#stop)
    if (listing.kind === 'failure') return listing
    this.listed = new Map(listing.campaigns)
    this.incomplete = listing.kind === 'incomplete' ? listing.reason : null
    return null
  }

  async get(record: CampaignRecord): Promise<Campaign | null> {
    const id = record.campaignId
    const answer = await this.#parts.api.get(id, this.#stop)
    if (answer.kind === 'failure' && answer.class !== 'missing') {
      this.failed.set(id, answer.reason)
      return null
    }
    const campaign = answer.kind === 'failure' ? null : asRead(record, answer.value)
    this.read.set(id, campaign)
    this.failed.delete(id)
    return campaign
  }

  /** Reads by id what the listing does not settle: a listing may lag, cut and round. */
  async readMore(desired: Desired): Promise<void> {
    const { store, clock } = this.#parts
    const managed = managedCampaigns(desired, store, clock.now())
    const known = new Set(managed.map(({ record }) => record.campaignId))
    const named = desired.campaigns.flatMap((entry): ManagedCampaign[] => {
      const { key, campaignId: id } = entry
      if (id === null || known.has(id)) return []
      const record = adoptedRecord(key, this.listed.get(id) ?? { id, other: {} })
      return [{ record, goal: goalOf(entry, record), why: '', open: [] }]
    })
    const all = [...managed, ...named]
    const left = await this.#leftOut(all)
    // What is listed as the file wants it is taken over without a read, too: nothing is sent.
    const isSettled = ({ record, goal, open }: ManagedCampaign) => {
      const listed = this.listed.get(record.campaignId)
      if (listed === undefined || whyForeign(record, listed) !== null) return false
      if (mayDiffer({ record, open })) return false
      if (goal === null) return true
      // A late list may show what the file went back to, and not what was written in between.
      if (!isUnwritten(record) && changesOf({ record, goal }).length > 0) return false
      const { reduce, neutral, raise, differences } = compare(goal, record, listed, open)
      return differences.length === 0 && [reduce, neutral, raise].every((part) => part === null)
    }
    const leavesOut = ({ record, goal }: ManagedCampaign) => {
      const listed = this.listed.get(record.campaignId)
      const isGone = (field: Field | 'targeting') =>
        listed !== undefined &&
        rawOf(listed, field) === undefined &&
        (left.has(field) || record.shown.includes(field))
      return goal !== null && wantedOf(goal).some(isGone)
    }
    const settled = new Set(all.filter(isSettled).map(({ record }) => record.campaignId))
    const unread = all
      .filter((one) => !settled.has(one.record.campaignId) || leavesOut(one))
      .map(({ record }) => record)
      .filter(({ campaignId }) => !this.read.has(campaignId))
    let failures = 0
    // What may be written to does not wait for what is only looked at.
    const isSeen = ({ campaignId }: CampaignRecord) => Number(settled.has(campaignId))
    unread.sort((a, b) => isSeen(a) - isSeen(b))
    await inParallel(unread, async (record) => {
      const id = record.campaignId
      if (failures >= MOST_FAILURES) {
        const reason = this.failed.values().next().value ?? 'the service cannot be asked'
        if (!this.listed.has(id)) this.failed.set(id, reason)
      } else {
        await this.get(record)
        failures = this.failed.has(id) ? failures + 1 : 0
        // It is as it is listed: nothing waits for it, and no look is due soon.
        if (settled.has(id)) this.failed.delete(id)
      }
    })
  }

  /** Fields that reads by id show and the listing does not: its rows may be summaries. One read tells it of each. */
  async #leftOut(all: readonly ManagedCampaign[]): Promise<ReadonlySet<Field | 'targeting'>> {
    const asked = new Map<Field | 'targeting', boolean>()
    let failures = 0
    for (const { record, goal } of all) {
      const { campaignId } = record
      const listed = this.listed.get(campaignId)
      if (listed === undefined || goal === null || failures >= MOST_FAILURES) continue
      const isNew = (field: Field | 'targeting') =>
        !asked.has(field) && rawOf(listed, field) === undefined
      const fields = wantedOf(goal).filter(isNew)
      if (fields.length === 0) continue
      const campaign = this.read.get(campaignId) ?? (await this.get(record))
      // Only asked for the others: it is as it is listed.
      if (this.failed.delete(campaignId) || campaign === null) failures++
      else for (const field of fields) asked.set(field, rawOf(campaign, field) !== undefined)
    }
    return new Set([...asked].flatMap(([field, isShown]) => (isShown ? [field] : [])))
  }

  /** `approves`: a person applies, and so approves the first plan. Answers what was found again. */
  record(sender: Sender, desired: Desired, approves: boolean): Result[] {
    const { store, account, clock } = this.#parts
    return store.atomically(() => {
      const facts = store.account() ?? noFacts(account)
      const isCounted = facts.isCounted || this.incomplete === null
      const isFirst = facts.approvedAt === null && approves
      if (isFirst) store.renewMark()
      const noted = { ...facts, isCounted, ...(isFirst && { approvedAt: clock.now() }) }
      if (JSON.stringify(noted) !== JSON.stringify(store.account())) store.saveAccount(noted)
      // Whatever was there before this database may be the campaign of any entry.
      if (isCounted && !facts.isCounted) {
        const owned = new Set(store.records().map(({ campaignId }) => campaignId))
        for (const id of this.listed.keys()) if (!owned.has(id)) store.addOther({ id, key: null })
      }
      const found = this.settleCreates(sender)
      this.#settleOthers()
      this.recordAgreed(desired)
      return found
    })
  }

  /** A create without an answer is found by its token, once and only once. */
  settleCreates(sender: Sender): Result[] {
    const { store } = this.#parts
    const owned = ownedIn(store.records())
    return store.open().flatMap((write) => {
      const token = tokenIn(write.body?.name)
      if (write.action !== 'create' || token === null || !this.#isSought(write)) return []
      const isIts = ({ id, name }: Campaign) => tokenIn(name) === token && !owned.has(id)
      const [only, another] = [...this.listed.values()].filter(isIts)
      if (only === undefined || another !== undefined) return []
      sender.recordCreated(write, only, 'recovered')
      const found = { key: write.key, campaignId: only.id, action: 'adopt', spend: 'up' } as const
      return resultOf(found, 'adopted', 'found by its token')
    })
  }

  /** No person decided about the key since. */
  #isSought({ key, outcome }: CampaignWrite): boolean {
    const record = this.#parts.store.record(key)
    return outcome === 'unknown' && (record === null || record.succeeding)
  }

  /** Updates without an answer, and direct creates for no entry. */
  #settleOthers(): void {
    const { store, clock } = this.#parts
    const now = clock.now()
    const byId = new Map(store.records().map((record) => [record.campaignId, record]))
    for (const write of store.open()) {
      const { id, at, key, action, outcome, campaignId, body, reason, isDirect } = write
      if (outcome !== 'unknown' || body === null) continue
      if (action === 'create') {
        // By now lists show its campaign as one in no entry, or it was not made.
        const isListed = isDue(at + LATEST_LISTING, now, LATEST_LISTING) && this.incomplete === null
        if (key === '' && isListed) store.end(id, 'given-up', reason, now)
        continue
      }
      const campaign = this.read.get(campaignId ?? '')
      const record = byId.get(campaignId ?? '')
      const seen = campaign == null ? null : seenWrite({ ...write, body }, campaign)
      if (record !== undefined && seen !== null) {
        const settled = isDirect ? record : withWritten(record, seen, seen.forms)
        byId.set(settled.campaignId, settled)
        store.save(settled)
        store.end(id, 'done', 'seen on the service afterwards', now)
      } else if (!isRecent(at, now, DAY)) store.end(id, 'given-up', reason, now)
    }
  }

  /** What file and service agree on, how the service shows it, and what it does not show at all. */
  recordAgreed(desired: Desired): void {
    const { store, clock } = this.#parts
    for (const { record, goal, open } of managedCampaigns(desired, store, clock.now())) {
      const { campaignId, missingSince, shown, accountId, succeeding } = record
      const [listed, read] = [this.listed.get(campaignId), this.read.get(campaignId)]
      const campaign = read ?? listed
      const isGone = read === null && this.incomplete === null
      const since = isGone ? sinceOf(missingSince, clock.now()) : missingSince
      let noted = { ...record, missingSince: campaign == null ? since : null }
      if (campaign != null && whyForeign(record, campaign) === null) {
        const seen = new Set([...shown, ...(read == null ? [] : shownOf(read))])
        noted = { ...noted, shown: [...seen], accountId: accountId ?? campaign.accountId ?? null }
        const isProof = read != null || isUnwritten(record)
        if (goal !== null && !succeeding && isProof)
          noted = withWritten(noted, compare(goal, record, campaign, open).agreed, {})
        if (read != null && listed !== undefined) noted = withForms(noted, listed, read)
      }
      if (!isDeepStrictEqual(noted, record)) store.save(noted)
    }
  }
}

/** Without what is to be none: a service may leave that out wherever it shows a campaign. */
const wantedOf = ({ values, targeting }: Goal): (Field | 'targeting')[] => [
  ...FIELDS.filter((field) => values[field] != null),
  ...(targeting === undefined ? [] : (['targeting'] as const)),
]

/** How listings show what a read by id shows as agreed. */
function withForms(record: CampaignRecord, listed: Campaign, read: Campaign): CampaignRecord {
  const { written, forms } = record
  const added = FIELDS.flatMap((field) => {
    const [value, raw] = [written[field], rawOf(listed, field)]
    if (value === undefined || raw === undefined || readValue(field, raw) === value) return []
    const [known, text] = [forms[field] ?? [], JSON.stringify(raw)]
    // A late list may show the day before: another day is no form.
    const isLike = isFormOf(field, value, raw) && hides(field, value, raw)
    const isForm = isLike && valueNow(record, read, field) === value
    return isForm && !known.includes(text) ? [[field, [...known, text].slice(-3)]] : []
  })
  return { ...record, forms: { ...forms, ...Object.fromEntries(added) } }
}

export async function inParallel<T>(
  all: readonly T[],
  work: (one: T) => Promise<void>,
): Promise<void> {
  const left = all.values()
  const worker = async () => {
    for (const one of left) await work(one)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, all.length) }, worker))
}
