// Whose a campaign is: the record of one that belongs to an entry, whether what answers is that campaign, and
// what the file wants of it. Pure.

import type { Amount } from '../lib/amount.ts'
import { DAY } from '../lib/clock.ts'
import { isRecent, latestLegal } from '../lib/due.ts'
import type { Campaign } from '../service/port.ts'
import type { Goal } from './compare.ts'
import type { Desired, DesiredCampaign } from './desired.ts'
import { direction, FIELDS, rawOf, readValue, type Spend } from './fields.ts'
import { COMMAND, quoted } from './plan.ts'
import type { AccountFacts, CampaignRecord, CampaignStore, CampaignWrite } from './port.ts'
import { isSame } from './targeting.ts'
import { tokenIn, tokensOf, withToken } from './token.ts'

export const noFacts = (account: string): AccountFacts => ({
  ...{ account, approvedAt: null, keepsTokens: null, isCounted: false },
})

/**
 * The record of a campaign that a person or the file names: nothing of it was written by us. `read`: as it was read by
 * id, where it was.
 */
export function adoptedRecord(key: string, campaign: Campaign, read?: Campaign): CampaignRecord {
  const { id: campaignId, accountId = null, name } = campaign
  const budget = readValue('budget', rawOf(campaign, 'budget'))
  return {
    ...{ key, campaignId, accountId, token: tokenIn(name), origin: 'adopted' },
    // Of nothing no percentage is a raise.
    firstBudget: typeof budget === 'number' && budget > 0 ? budget : null,
    ...{ written: {}, targeting: null, uncertain: [], forms: {}, said: {}, past: [] },
    ...{ doubt: null, succeeding: false, missingSince: null, leftFeedsAt: null },
    shown: read === undefined ? [] : shownOf(read),
  }
}

export const shownOf = (campaign: Campaign) =>
  [...FIELDS, 'targeting' as const].filter((field) => rawOf(campaign, field) != null)

/**
 * As it was read by id. Many services leave out what is null: where an answer holds no null at all, a field that
 * reads showed before and this one does not may be null.
 */
export function asRead(record: CampaignRecord, campaign: Campaign): Campaign {
  const { other, ...known } = campaign
  if ([...Object.values(known), ...Object.values(other)].includes(null)) return campaign
  return { ...campaign, gone: record.shown.filter((field) => rawOf(campaign, field) === undefined) }
}

/** Why a campaign that answered under a recorded id is not the one of the record; null: it is. */
export function whyForeign(record: CampaignRecord, campaign: Campaign): string | null {
  const { campaignId, token, accountId } = record
  if (campaign.id !== campaignId)
    return `the service answers with campaign ${campaign.id} when it is asked for ${campaignId}`
  if (accountId !== null && campaign.accountId != null && campaign.accountId !== accountId)
    return `campaign ${campaignId} belongs to the account ${campaign.accountId}, and ours to ${accountId}`
  const shown = tokenIn(campaign.name)
  if (shown !== null && shown !== token)
    return `the name of campaign ${campaignId} carries the mark of another entry: ${campaign.name}`
  return null
}

/** How a campaign gets from its entry to another one: what carries the mark of its own is adopted for no other. */
export function wayFrom({ key, token }: CampaignRecord, to: string, isFree: boolean): string {
  if (token === null) return `, or: ${COMMAND} forget ${quoted(key)}`
  return isFree ? `, or take the entry ${key} out of the file if ${to} takes its place` : ''
}

/** `48001 "Nurses Q1 [#k7m2q9x4c1]"`. */
export const named = ({ id, name }: Campaign) =>
  `${id}${typeof name === 'string' ? ` ${JSON.stringify(name)}` : ''}`

/** Of many campaigns so many are named. */
export const NAMED = 5

/** The first of `count` campaigns. */
export function someOf(campaigns: readonly Campaign[], count = campaigns.length): string {
  const more = count > NAMED ? ` and ${count - NAMED} more` : ''
  return campaigns.slice(0, NAMED).map(named).join(', ') + more
}

/** Every key of the file, and of `records`. */
export const keysOf = (
  { campaigns, removed }: Pick<Desired, 'campaigns' | 'removed'>,
  records: readonly CampaignRecord[] = [],
) => new Set([...campaigns, ...removed, ...records].map(({ key }) => key))

/** Ids of the campaigns of entries, earlier ones of their keys too. */
export const ownedIn = (records: readonly CampaignRecord[]) =>
  new Set(records.flatMap(({ campaignId, past }) => [campaignId, ...past]))

/** The key that each mark belongs to, whichever database made the campaign. */
export const ownersOf = (identity: string, keys: ReadonlySet<string>): Map<string, string> =>
  new Map([...keys].flatMap((key) => tokensOf(identity, key).map((token) => [token, key] as const)))

export function goalOf(
  { name, values, targeting }: DesiredCampaign,
  { token }: Pick<CampaignRecord, 'token'>,
): Goal {
  return { values: { ...values, name: withToken(name, token) }, ...(targeting && { targeting }) }
}

/** A campaign that belongs to an entry, and what the file wants of it; null: nothing, or another campaign. */
export interface ManagedCampaign {
  record: CampaignRecord
  goal: Goal | null
  why: string
  /** Writes to it that may have arrived, or may still arrive. */
  open: readonly CampaignWrite[]
}

/** Writes that may have arrived or may still arrive, by campaign; one that was given up does so for a day. */
export const openByCampaign = (open: readonly CampaignWrite[], now: number) =>
  Map.groupBy(
    open.filter(({ outcome, at }) => outcome !== 'given-up' || isRecent(at, now, DAY)),
    ({ campaignId }) => campaignId,
  )

/** `now`: wall ms. */
export function managedCampaigns(
  desired: Desired,
  store: Pick<CampaignStore, 'records' | 'open'>,
  now: number,
): ManagedCampaign[] {
  const records = store.records()
  const open = openByCampaign(store.open(), now)
  const known = new Set(records.map(({ key }) => key))
  const byKey = new Map(desired.campaigns.map((entry) => [entry.key, entry]))
  const ends = new Map(desired.removed.map(({ key, endDate }) => [key, endDate]))
  // A key may be renamed in the file by naming the campaign's id under the new key.
  const renamed = new Map(
    desired.campaigns.flatMap((entry) =>
      known.has(entry.key) || entry.campaignId === null ? [] : [[entry.campaignId, entry] as const],
    ),
  )
  return records.map((record) => {
    const { key, campaignId, succeeding } = record
    const one = { record, open: open.get(campaignId) ?? [] }
    const endDate = ends.get(key)
    if (endDate !== undefined)
      return { ...one, goal: { values: { endDate }, isEnd: true }, why: 'listed under removed' }
    const own = byKey.get(key)
    const entry = own && !namesAnother(own, record) ? own : renamed.get(campaignId)
    if (entry === undefined) return { ...one, goal: null, why: '' }
    return succeeding
      ? { ...one, goal: { values: { status: 'paused' } }, why: 'its successor takes its place' }
      : { ...one, goal: goalOf(entry, record), why: 'the file changed' }
  })
}

/** Since when something is so: from now on where it was not, or where a clock that ran ahead dated it. */
export const sinceOf = (at: number | null, now: number) =>
  at === null || at > latestLegal(now, 0) ? now : at

/** What raises count from, whatever the service shows since; null: not known. */
export const agreedBudget = ({ written, firstBudget }: CampaignRecord): Amount | null =>
  typeof written.budget === 'number' ? written.budget : firstBudget

/** The entry of its key says that another campaign is its own. */
export const namesAnother = (entry: DesiredCampaign, record: CampaignRecord) =>
  (entry.campaignId ?? record.campaignId) !== record.campaignId

/** Nothing of it was agreed so far. */
export const isUnwritten = ({ written, targeting }: CampaignRecord) =>
  Object.keys(written).length === 0 && targeting === null

/** Directions of what the file says otherwise than was agreed last; empty: it says the same. */
export function changesOf({ goal, record }: Pick<ManagedCampaign, 'goal' | 'record'>): Spend[] {
  if (goal === null) return []
  const { written, targeting, uncertain } = record
  const fields = FIELDS.flatMap((field) => {
    const [last, want] = [written[field], goal.values[field]]
    return want === undefined || want === last ? [] : [direction(field, last, want)]
  })
  const isAgreed = targeting !== null && goal.targeting && isSame(targeting, goal.targeting)
  const isOther = uncertain.length > 0 || (goal.targeting !== undefined && !isAgreed)
  return isOther ? [...fields, 'unknown'] : fields
}

/** Something else than was agreed may be there, or a person said what becomes of it. */
export const mayDiffer = ({ open, record }: Pick<ManagedCampaign, 'open' | 'record'>) =>
  open.length > 0 || record.succeeding || Object.keys(record.said).length > 0
