// What was seen of the service in one look: a listing, and reads by id of what the listing does not settle.

import type { Campaign, CampaignFailure } from '../service/port.ts'
import { whyForeign } from './absence.ts'
import { compare, type Goal } from './compare.ts'
import { goalOf } from './creating.ts'
import type { Desired, DesiredCampaign } from './desired.ts'
import type { Seen } from './planning.ts'
import type { CampaignRecord } from './port.ts'
import type { ReconcilerParts } from './send.ts'

/** Calls at a time: reads of many campaigns, and reductions. */
const AT_ONCE = 8
/** After so many failures in a row the rest is not asked for in this look. */
const MOST_FAILURES = 3

export class Sight implements Seen {
  listed = new Map<string, Campaign>()
  readonly read = new Map<string, Campaign | null>()
  readonly failed = new Map<string, string>()
  incomplete: string | null = null
  readonly #parts: ReconcilerParts
  readonly #stop: AbortSignal

  constructor(parts: ReconcilerParts, stop: AbortSignal) {
    this.#parts = parts
    this.#stop = stop
  }

  /** The newest sight of a campaign. */
  of(id: string): Campaign | null {
    return this.read.get(id) ?? this.listed.get(id) ?? null
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
    const goals = new Map<string, Goal & { entry: DesiredCampaign | null }>()
    for (const entry of desired.campaigns)
      goals.set(entry.key, { ...goalOf(entry, { token: null }), entry })
    for (const { key, endDate } of desired.removed)
      goals.set(key, { values: { endDate }, entry: null })
    const isSettled = (record: CampaignRecord) => {
      const listed = this.listed.get(record.campaignId)
      const goal = goals.get(record.key)
      if (listed === undefined || whyForeign(record, listed) !== null) return false
      const late =
        open.get(record.campaignId)?.some(({ outcome }) => outcome === 'unknown') ?? false
      if (goal === undefined || late) return !late
      const exact = goal.entry === null ? goal : goalOf(goal.entry, record)
      const found = compare(exact, record, listed, open.get(record.campaignId) ?? [])
      return (
        found.reduce === null &&
        found.neutral === null &&
        found.raise === null &&
        found.differences.length === 0
      )
    }
    const named = desired.campaigns.flatMap(({ campaignId }) => campaignId ?? [])
    const owned = new Set(records.map(({ campaignId }) => campaignId))
    const ids = new Set([
      ...records.filter((record) => !isSettled(record)).map(({ campaignId }) => campaignId),
      ...named.filter((id) => !owned.has(id)),
    ])
    let failures = 0
    await inParallel(
      [...ids].filter((id) => !this.read.has(id)),
      async (id) => {
        if (failures >= MOST_FAILURES)
          this.failed.set(id, this.failed.values().next().value ?? 'the service cannot be asked')
        else {
          await this.get(id)
          failures = this.failed.has(id) ? failures + 1 : 0
        }
      },
    )
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
