// Whose a campaign is: the record of one that belongs to an entry, whether what answers is that campaign, and
// what the file wants of it. Pure.

import type { Campaign } from '../service/port.ts'
import type { Goal } from './compare.ts'
import { goalOf } from './creating.ts'
import type { Desired } from './desired.ts'
import type { Plan } from './plan.ts'
import type { CampaignRecord } from './port.ts'
import { tokenIn, tokensOf } from './token.ts'

export function whyStopped(account: string, known: string | undefined): Plan['stopped'] {
  if (known === undefined || account === known) return null
  return {
    reason: `the database belongs to the account ${known}, the configuration names ${account}`,
    needs: 'give each account a state.directory of its own',
  }
}

/** The record of a campaign that a person or the file names: nothing of it was written by us. */
export function adoptedRecord(key: string, campaign: Campaign): CampaignRecord {
  const { id: campaignId, accountId = null, name } = campaign
  const known = { key, campaignId, accountId, token: tokenIn(name), origin: 'adopted' } as const
  const nothing = { targeting: null, doubt: null, missingSince: null, succeeding: false }
  return { ...known, ...nothing, written: {}, uncertain: [], forms: {}, past: [], said: {} }
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

/** `48001 "Nurses Q1 [#k7m2q9x4c1]"`. */
export const named = ({ id, name }: Campaign) =>
  `${id}${typeof name === 'string' ? ` ${JSON.stringify(name)}` : ''}`

/** Every key of the file, and of `records`. */
export const keysOf = (
  { campaigns, removed }: Pick<Desired, 'campaigns' | 'removed'>,
  records: readonly CampaignRecord[] = [],
) => new Set([...campaigns, ...removed, ...records].map(({ key }) => key))

/** The key that each mark belongs to, whichever database made the campaign. */
export const ownersOf = (identity: string, keys: ReadonlySet<string>): Map<string, string> =>
  new Map([...keys].flatMap((key) => tokensOf(identity, key).map((token) => [token, key] as const)))

/** A campaign with a record, and what the file wants of it. */
export interface Pair {
  record: CampaignRecord
  goal: Goal
  why: string
}

/** A key may be renamed in the file by naming the campaign's id under the new key. */
export function pairsOf(desired: Desired, records: readonly CampaignRecord[]): Pair[] {
  const byKey = new Map(records.map((record) => [record.key, record]))
  const byId = new Map(records.map((record) => [record.campaignId, record]))
  const keys = keysOf(desired)
  const kept = desired.campaigns.flatMap((entry): Pair[] => {
    const { key, campaignId } = entry
    const named = campaignId === null ? undefined : byId.get(campaignId)
    const renamed = named !== undefined && !keys.has(named.key) ? named : undefined
    const record = byKey.get(key) ?? renamed
    if (record === undefined || (campaignId ?? record.campaignId) !== record.campaignId) return []
    return record.succeeding
      ? [{ record, goal: { values: { status: 'paused' } }, why: 'its successor takes its place' }]
      : [{ record, goal: goalOf(entry, record), why: 'the file changed' }]
  })
  const ended = desired.removed.flatMap(({ key, endDate }) => {
    const record = byKey.get(key)
    const goal = { values: { endDate } }
    return record === undefined ? [] : [{ record, goal, why: 'listed under removed' }]
  })
  return [...kept, ...ended]
}
