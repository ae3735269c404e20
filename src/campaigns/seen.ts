// Collects what one look reads: the listing, campaigns read by id, and the state in the database.

import { isLive, normalized } from './fields.ts'
import { nameWithoutAnyMark, possibleMarks } from './mark.ts'
import type { Binding, CampaignReader, CampaignWrite } from './port.ts'
import type { Campaign, CampaignAnswer, CampaignFailure, CampaignListing } from './service/port.ts'
import { carriedId } from './targeting.ts'

const MOST_PARALLEL_CALLS = 8
/** After this many failures in a row, a look reads no further campaigns. */
const MOST_FAILURES = 3

/** CampaignSource reads campaigns of the service. */
export interface CampaignSource {
  get: (id: string, signal: AbortSignal) => Promise<CampaignAnswer<Campaign>>
  /** list returns every campaign of the account, including archived ones. */
  list: (signal: AbortSignal) => Promise<CampaignListing>
}

export class Seen {
  /** null if there was no listing. */
  #listed: ReadonlyMap<string, Campaign> | null = null
  #incomplete: string | null = 'there was no listing'
  /** The campaigns read by id, which are newer than the listing; null if the campaign does not exist. */
  readonly #read = new Map<string, Campaign | null>()
  /** By id: why a campaign could not be read. */
  readonly #failed = new Map<string, string>()
  readonly #service: CampaignSource
  readonly #signal: AbortSignal

  constructor(service: CampaignSource, signal: AbortSignal) {
    this.#service = service
    this.#signal = signal
  }

  /** Why the listing is not complete, and so cannot prove that a campaign does not exist; null if it is complete. */
  get incomplete(): string | null {
    return this.#incomplete
  }

  /** All campaigns that this look has read. */
  get all(): Campaign[] {
    const ids = new Set([...(this.#listed?.keys() ?? []), ...this.#read.keys()])
    return [...ids].flatMap((id) => this.campaign(id) ?? [])
  }

  /** campaign returns a campaign; null if it does not exist; undefined if it was not read or could not be read. */
  campaign(id: string): Campaign | null | undefined {
    const read = this.#read.get(id)
    return read === undefined ? this.#listed?.get(id) : read
  }

  /** readFailure returns why a campaign could not be read by id; null if it was read, or not asked for. */
  readFailure(id: string): string | null {
    return this.#failed.get(id) ?? null
  }

  /** list reads the listing. It returns the failure if there is no listing; else null, even if it is incomplete. */
  async list(): Promise<CampaignFailure | null> {
    const listing = await this.#service.list(this.#signal)
    if (listing.kind === 'failure') return listing
    this.#listed = listing.campaigns
    this.#incomplete = listing.kind === 'incomplete' ? listing.reason : null
    return null
  }

  /**
   * readNameless reads by id the campaigns that the listing shows without a name, because the name might have our mark.
   * If one cannot be read, the listing counts as incomplete.
   */
  async readNameless(): Promise<void> {
    const nameless = [...(this.#listed?.values() ?? [])].filter(({ name }) => !name)
    await this.readAll(nameless.map(({ id }) => id))
    const unread = nameless.find(({ id }) => this.#failed.has(id))
    if (unread !== undefined)
      this.#incomplete ??= `campaign ${unread.id} is listed without a name, and cannot be read: ${this.readFailure(unread.id)}`
  }

  /** readAll reads these campaigns by id. After three failures in a row, it counts the others as failed. */
  async readAll(ids: Iterable<string>): Promise<void> {
    let failures = 0
    await inParallel([...ids], async (id) => {
      if (failures >= MOST_FAILURES) return void this.#failed.set(id, this.#lastFailure)
      await this.#readOne(id)
      failures = this.#failed.has(id) ? failures + 1 : 0
    })
  }

  async #readOne(id: string): Promise<void> {
    const answer = await this.#service.get(id, this.#signal)
    if (answer.kind === 'ok') this.#read.set(id, answer.value)
    else if (answer.class === 'missing') this.#read.set(id, null)
    else this.#failed.set(id, answer.reason)
  }

  get #lastFailure(): string {
    return this.#failed.values().next().value ?? 'the service cannot be reached'
  }
}

/** UnboundCampaigns finds live campaigns that belong to no entry, by mark, external campaign id or name. */
export class UnboundCampaigns {
  readonly live: readonly Campaign[]
  readonly #byMark = new Map<string, Campaign[]>()
  readonly #byCarriedId: ReadonlyMap<string, Campaign[]>
  readonly #byName: ReadonlyMap<string, Campaign[]>

  /** `bound` has the ids of the campaigns that belong to an entry; `now` is wall ms. */
  constructor(seen: Seen, bound: ReadonlySet<string>, now: number) {
    this.live = seen.all.filter((one) => !bound.has(one.id) && isLive(one, now))
    for (const one of this.live)
      for (const mark of possibleMarks(one.name))
        this.#byMark.set(mark, [...(this.#byMark.get(mark) ?? []), one])
    this.#byCarriedId = Map.groupBy(this.live, (one) => carriedIdOf(one))
    this.#byName = Map.groupBy(this.live, (one) => nameOf(one))
  }

  byMark(mark: string): readonly Campaign[] {
    return this.#byMark.get(mark) ?? []
  }

  byCarriedId(key: string): readonly Campaign[] {
    return this.#byCarriedId.get(key) ?? []
  }

  byName(name: string): readonly Campaign[] {
    return this.#byName.get(name.toLowerCase()) ?? []
  }

  /** cutFrom returns the campaigns whose name is the beginning of a sent name, because a service might cut names. */
  cutFrom(sent: string): readonly Campaign[] {
    const whole = sent.toLowerCase()
    return this.live.filter((one) => {
      const name = typeof one.name === 'string' ? one.name.trim().toLowerCase() : ''
      return name !== '' && whole.startsWith(name)
    })
  }
}

const carriedIdOf = (campaign: Campaign) => carriedId(campaign.other.targeting)
const nameOf = ({ name }: Campaign) =>
  typeof name === 'string' ? normalized(nameWithoutAnyMark(name)).toLowerCase() : ''

/** Memory is what the database says when the look begins. */
export interface Memory {
  byKey: ReadonlyMap<string, Binding>
  byId: ReadonlyMap<string, Binding>
  /** `CampaignReader` explains `released`, `lastPersonWrite`, `restoredAt` and `madeAt`. */
  released: ReadonlyMap<string, string>
  /** The open creations of each key, oldest first. */
  openCreations: ReadonlyMap<string, CampaignWrite[]>
  lastPersonWrite: number
  restoredAt: number | null
  madeAt: number | null
}

export function memoryOf(store: CampaignReader): Memory {
  const bindings = store.bindings()
  return {
    byKey: new Map(bindings.map((binding) => [binding.key, binding])),
    byId: new Map(bindings.map((binding) => [binding.campaignId, binding])),
    released: store.released(),
    openCreations: Map.groupBy(store.openCreations(), ({ key }) => key),
    lastPersonWrite: store.lastPersonWrite(),
    restoredAt: store.restoredAt(),
    madeAt: store.madeAt(),
  }
}

export const NO_MEMORY: Memory = {
  byKey: new Map(),
  byId: new Map(),
  released: new Map(),
  openCreations: new Map(),
  lastPersonWrite: 0,
  restoredAt: null,
  madeAt: null,
}

/** inParallel runs `work` for each item, for at most eight items at a time. */
export async function inParallel<T>(
  all: readonly T[],
  work: (one: T) => Promise<void>,
): Promise<void> {
  const left = all.values()
  const worker = async () => {
    for (const one of left) await work(one)
  }
  await Promise.all(Array.from({ length: Math.min(MOST_PARALLEL_CALLS, all.length) }, worker))
}

/** idAndName returns how messages name a campaign: `48001 "Nurses Q1 [#k7m2q9x4c1]"`. */
export const idAndName = ({ id, name }: Campaign) =>
  `${id}${typeof name === 'string' ? ` ${JSON.stringify(name)}` : ''}`
