// What was seen of the service in one look: a listing, and reads by id of what the listing does not settle.

import type { Campaign, CampaignFailure } from '../service/port.ts'
import { compare } from './compare.ts'
import type { Desired } from './desired.ts'
import type { CampaignRecord } from './port.ts'
import { pairsOf, whyForeign } from './record.ts'
import type { ReconcilerParts } from './send.ts'

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

  async get(id: string): Promise<Campaign | null> {
    const answer = await this.#parts.api.get(id, this.#stop)
    if (answer.kind === 'failure' && answer.class !== 'missing') {
      this.failed.set(id, answer.reason)
      return null
    }
    const campaign = answer.kind === 'failure' ? null : answer.value
    this.read.set(id, campaign)
    this.failed.delete(id)
    return campaign
  }

  /** Reads by id what the listing does not settle: a listing may lag, cut and round. */
  async readMore(desired: Desired): Promise<void> {
    const { store } = this.#parts
    const records = store.records()
    const open = Map.groupBy(store.open(), ({ campaignId }) => campaignId)
    const goals = new Map(pairsOf(desired, records).map(({ record, goal }) => [record, goal]))
    const isSettled = (record: CampaignRecord) => {
      const listed = this.listed.get(record.campaignId)
      const writes = open.get(record.campaignId) ?? []
      const goal = goals.get(record)
      if (listed === undefined || whyForeign(record, listed) !== null) return false
      if (writes.some(({ outcome }) => outcome === 'unknown')) return false
      if (goal === undefined) return true
      const { reduce, neutral, raise, differences } = compare(goal, record, listed, writes)
      return differences.length === 0 && [reduce, neutral, raise].every((part) => part === null)
    }
    const owned = new Set(records.map(({ campaignId }) => campaignId))
    const named = desired.campaigns.flatMap(({ campaignId }) => campaignId ?? [])
    const doubtful = records.filter((record) => !isSettled(record))
    const ids = new Set([
      ...doubtful.map(({ campaignId }) => campaignId),
      ...named.filter((id) => !owned.has(id)),
    ])
    let failures = 0
    const unread = [...ids].filter((id) => !this.read.has(id))
    await inParallel(unread, async (id) => {
      if (failures >= MOST_FAILURES) {
        const reason = this.failed.values().next().value ?? 'the service cannot be asked'
        if (!this.listed.has(id)) this.failed.set(id, reason)
      } else {
        await this.get(id)
        failures = this.failed.has(id) ? failures + 1 : 0
      }
    })
  }
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
