// Owns the proof that a campaign is not there already, without which none is made: which campaigns of the
// account might be the one of an entry, and whether a campaign is ours at all. Pure.

import type { Campaign } from '../service/port.ts'
import { readTargeting } from './compare.ts'
import { plain, rawOf } from './fields.ts'
import type { AccountFacts, CampaignRecord, Other } from './port.ts'
import { bareName, isMarked, tokenIn, tokensOf } from './token.ts'

/** In `Other.key`: a person said that the campaign belongs to no entry. */
export const NOBODYS = ''

export interface AbsenceInput {
  /** From which tokens follow. */
  identity: string
  facts: AccountFacts | null
  records: readonly CampaignRecord[]
  others: readonly Other[]
  words: ReadonlyMap<string, readonly string[]>
  /** Every campaign that was listed or read. */
  campaigns: ReadonlyMap<string, Campaign>
}

export class Absence {
  readonly #input: AbsenceInput
  readonly #owned: ReadonlySet<string>
  readonly #others: ReadonlyMap<string, string | null>
  /** Campaigns that no record has and no person put aside. */
  readonly loose: readonly Campaign[]
  readonly #tokens = new Map<string, string[]>()
  readonly #byToken: ReadonlyMap<string, readonly Campaign[]>

  constructor(input: AbsenceInput) {
    this.#input = input
    this.#owned = new Set(input.records.flatMap(({ campaignId, past }) => [campaignId, ...past]))
    this.#others = new Map(input.others.map(({ id, key }) => [id, key]))
    this.loose = [...input.campaigns.values()].filter(
      ({ id }) => !this.#owned.has(id) && this.#others.get(id) !== NOBODYS,
    )
    const tokened = this.loose.filter(({ name }) => tokenIn(name) !== null)
    this.#byToken = Map.groupBy(tokened, ({ name }) => tokenIn(name) ?? '')
  }

  /** Campaigns beside the recorded one that carry a token of the key. */
  marked(key: string): Campaign[] {
    if (this.#byToken.size === 0) return []
    const tokens = this.#tokens.get(key) ?? tokensOf(this.#input.identity, key)
    this.#tokens.set(key, tokens)
    return tokens.flatMap((token) => this.#byToken.get(token) ?? [])
  }

  /** What might be the campaign of an entry, the likeliest first; those that a person ruled out are not. */
  candidates(key: string, name: string): Campaign[] {
    const { facts, words } = this.#input
    const ruledOut = new Set(words.get(key))
    const marked = new Set(this.marked(key).map(({ id }) => id))
    const wanted = plain(name)
    const rank = ({ id, name: shown }: Campaign) =>
      marked.has(id) ? 0 : isLike(wanted, shown) ? 1 : isMarked(shown) ? 2 : 3
    return this.loose
      .filter((one) => {
        const other = this.#others.get(one.id)
        const mayBeAny =
          // It was there before this database, or no name proves anything.
          facts?.isCounted !== true ||
          other === null ||
          other === key ||
          isMarked(one.name) ||
          typeof one.name !== 'string'
        const isAlike = isLike(wanted, one.name) || carries(one, key)
        return !ruledOut.has(one.id) && (mayBeAny || isAlike || facts?.keepsTokens === false)
      })
      .sort((a, b) => rank(a) - rank(b))
  }
}

/** The same name, or what is left of it when it is cut. */
function isLike(wanted: string, name: unknown): boolean {
  if (typeof name !== 'string') return true
  const shown = plain(bareName(name))
  return shown !== '' && wanted.startsWith(shown)
}

/** The service shows that its targeting names this id. */
function carries(campaign: Campaign, key: string): boolean {
  const raw = rawOf(campaign, 'targeting')
  return raw !== undefined && readTargeting(raw)?.externalCampaignId === key
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
