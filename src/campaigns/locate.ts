// Finds the campaign of an entry on the service: our own map first, then the id in the file, then the
// token in a name (research/reconcile.md section 3.3). A name without the token never adopts. Pure.

import type { Campaign } from '../service/port.ts'
import type { DesiredCampaign } from './desired.ts'
import type { CampaignRecord, CreateIntent } from './port.ts'
import { tokenIn } from './token.ts'

export interface LocateInput {
  account: string
  /** The token of a key, in the generation that it has reached. */
  token: (key: string) => string
  /** By the service's id. */
  remote: ReadonlyMap<string, Campaign>
  /** Why the listing cannot prove an absence; null when it is complete. */
  incomplete: string | null
  records: readonly CampaignRecord[]
  intents: readonly CreateIntent[]
}

export type Located =
  | { kind: 'ours'; token: string; record: CampaignRecord; campaign: Campaign }
  | { kind: 'adoptable'; token: string; campaign: Campaign; reason: string }
  | { kind: 'nowhere'; token: string; rejected: CreateIntent | null }
  | {
      kind: 'held'
      action: 'blocked' | 'unknown'
      campaignId: string | null
      reason: string
      needs: string
    }

export const COMMAND = 'feedsyncd campaigns'
export const quoted = (key: string) => (/^[\w.:-]+$/.test(key) ? key : JSON.stringify(key))

export class Locator {
  readonly #input: LocateInput
  readonly #records: ReadonlyMap<string, CampaignRecord>
  readonly #intents: ReadonlyMap<string, CreateIntent>
  readonly #byToken = new Map<string, Campaign[]>()
  readonly #byName = new Map<string, Campaign>()

  constructor(input: LocateInput) {
    this.#input = input
    this.#records = new Map(input.records.map((record) => [record.key, record]))
    this.#intents = new Map(input.intents.map((intent) => [intent.key, intent]))
    for (const campaign of input.remote.values()) {
      if (campaign.name != null) this.#byName.set(campaign.name, campaign)
      const token = tokenIn(campaign.name)
      if (token !== null) this.#byToken.set(token, [...(this.#byToken.get(token) ?? []), campaign])
    }
  }

  /** Campaigns there carry tokens, and this database knows none of ours: it is new, or was lost. */
  get memoryLost(): boolean {
    return this.#records.size === 0 && this.#byToken.size > 0
  }

  /** A campaign of exactly this name, which need not be ours. */
  named(name: string): Campaign | null {
    return this.#byName.get(name) ?? null
  }

  find({ key, campaignId }: Pick<DesiredCampaign, 'key' | 'campaignId'>): Located {
    const { remote, incomplete } = this.#input
    const token = this.#input.token(key)
    const marked = this.#byToken.get(token) ?? []
    const record = this.#records.get(key)
    if (marked.length > 1) {
      const ids = marked.map(({ id }) => id).join(', ')
      return held(
        record?.campaignId ?? null,
        `the campaigns ${ids} all carry the token of this entry`,
        'have all but one of them archived on the service, or take the token out of their names',
      )
    }
    if (record !== undefined) {
      const campaign = remote.get(record.campaignId)
      if (campaign !== undefined) return { kind: 'ours', token, record, campaign }
      return held(
        record.campaignId,
        `campaign ${record.campaignId} is not found on the service; it is not made again`,
        `ask the service operator what became of it, or ${COMMAND} resolve ${quoted(key)} --recreate`,
      )
    }
    const intent = this.#intents.get(key)
    const [found] = marked
    if (intent?.state === 'sending' || intent?.state === 'unknown') {
      if (found !== undefined)
        return { kind: 'adoptable', token, campaign: found, reason: 'found by its token' }
      const looked = incomplete === null ? 'it is in no complete listing so far' : incomplete
      return {
        ...held(
          null,
          `whether it was created is not known: ${looked}`,
          `${COMMAND} resolve ${quoted(key)} --adopt ID, or --not-created`,
        ),
        action: 'unknown',
      }
    }
    if (found !== undefined)
      return held(
        found.id,
        `campaign ${found.id} carries our token, and this database does not know it`,
        `${COMMAND} adopt ${quoted(key)} ${found.id}`,
      )
    if (campaignId === null) return { kind: 'nowhere', token, rejected: intent ?? null }
    const named = remote.get(campaignId)
    if (named !== undefined)
      return { kind: 'adoptable', token, campaign: named, reason: 'named in the file' }
    return held(null, `campaign ${campaignId} is not on the service`, 'correct its campaignId')
  }
}

function held(campaignId: string | null, reason: string, needs: string) {
  return { kind: 'held', action: 'blocked', campaignId, reason, needs } as const
}
