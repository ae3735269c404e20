// What the parts of a plan share while it is made: what is known of the account, the ledger, and the items
// so far. Pure.

import { DAY, HOUR } from '../lib/clock.ts'
import { isRecent } from '../lib/due.ts'
import { groupByEach } from '../lib/group-by-each.ts'
import type { Campaign } from '../service/port.ts'
import { Absence } from './absence.ts'
import { valueNow } from './compare.ts'
import type { Desired, DesiredCampaign } from './desired.ts'
import type { Effects } from './effects.ts'
import { createdValues, endsBy, plain, whyIdle } from './fields.ts'
import { Ledger, type MaySpend, maySpend, maySpendWith, pending, sumOf } from './ledger.ts'
import { type Finding, type Held, heldBy, later, type PlanItem } from './plan.ts'
import type { CampaignRecord, CampaignStore, CampaignWrite } from './port.ts'
import { keysOf, openByCampaign } from './record.ts'
import type { Snapshot } from './snapshot.ts'
import { bareName, tokenIn } from './token.ts'

export interface PlanInput extends ReturnType<typeof memoryOf> {
  desired: Desired
  fileSha256: string
  /** Keys whose filters may go, by a person's word. */
  allowWiden: ReadonlySet<string>
  /** Address and identity of the configuration. */
  account: string
  /** The identity alone, from which tokens follow. */
  identity: string
  seen: Pick<Snapshot, 'listed' | 'read' | 'failed' | 'incomplete'>
  effects: Effects
  /** A plan shows what reductions would free; what is applied rests on what was verified. */
  countsReductions: boolean
  /** Wall ms. */
  now: number
}

/** A new campaign may be missing in lists, and be hard to find by its id, for this long. */
export const LATEST_LISTING = HOUR

/** A file that lost more entries than this, and more than 30 %, looks truncated. */
const FEW = 3
const LARGEST_LOSS = 0.3

/** Else nothing would be written to the successor. */
export const WITHOUT_ID = 'take campaignId out of the entry'

/** A campaign that is not found may spend all the same: one answer proves no absence. null: it is gone. */
export function whyNotGone({ campaignId, missingSince }: CampaignRecord, now: number): Held | null {
  if (missingSince !== null && missingSince + LATEST_LISTING <= now) return null
  const reason = `campaign ${campaignId} is not found by its id; its successor is made once nothing shows it for an hour`
  return later(reason)
}

export const isUnsettled = (write: CampaignWrite | null | undefined): write is CampaignWrite =>
  write?.outcome === 'unknown' || write?.outcome === 'sending'

const NO_ITEM: Omit<PlanItem, 'key'> = {
  ...{ campaignId: null, action: 'none', method: null, body: null, before: {}, values: {} },
  ...{ targeting: null, spend: 'neutral', changes: [], money: null, postings: null },
  ...{ why: '', approval: false, held: null },
}

/** No plain name is one. */
export const markOf = (token: string) => `#${token}`

export class Planning {
  readonly input: PlanInput
  readonly items: PlanItem[] = []
  readonly findings: Finding[] = []
  /** Judged when every reduction is counted, so that moving money needs no larger limit. */
  readonly raises: (() => void)[] = []
  readonly absence: Absence
  readonly ledger: Ledger
  /** The keys of the file. */
  readonly keys: ReadonlySet<string>
  /** By key, and by the service's id. */
  readonly records: ReadonlyMap<string, CampaignRecord>
  readonly byId: ReadonlyMap<string, CampaignRecord>
  readonly creates: ReadonlyMap<string, CampaignWrite>
  /** Each campaign as it was seen last: read by id before listed. */
  readonly campaigns: ReadonlyMap<string, Campaign>
  /** Marks in the names of all campaigns. */
  readonly tokens: ReadonlySet<string | null>
  /** The entry that names a campaign, by its id. */
  readonly naming: ReadonlyMap<string | null, DesiredCampaign>
  readonly unlisted: readonly CampaignRecord[]
  /** Those of `unlisted` by their mark and plain names: they are looked through once, and not for each new entry. */
  readonly unlistedBy: ReadonlyMap<string, readonly CampaignRecord[]>
  /** Why nothing at all is raised. */
  readonly truncated: Held | null
  unchanged = 0
  readonly #open: ReadonlyMap<string | null, readonly CampaignWrite[]>

  constructor(input: PlanInput) {
    this.input = input
    const { records, open, seen, desired, day, creates, now } = input
    this.keys = keysOf(desired)
    this.records = new Map(records.map((record) => [record.key, record]))
    this.byId = new Map(records.map((record) => [record.campaignId, record]))
    this.creates = new Map(creates.map((create) => [create.key, create]))
    this.#open = openByCampaign(open, now)
    const read = [...seen.read].flatMap(([id, one]) => (one === null ? [] : [[id, one] as const]))
    this.campaigns = new Map([...seen.listed, ...read])
    this.tokens = new Set([...this.campaigns.values()].map(({ name }) => tokenIn(name)))
    this.absence = new Absence({ ...input, campaigns: this.campaigns })
    this.ledger = new Ledger(desired.guards, day, now)
    this.naming = new Map(desired.campaigns.map((entry) => [entry.campaignId, entry]))
    this.unlisted = records.filter(
      ({ key, campaignId }) => !this.keys.has(key) && !this.naming.has(campaignId),
    )
    this.unlistedBy = groupByEach(this.unlisted, (record) => this.#textsOf(record))
    this.#count()
    this.truncated = this.#whyTruncated()
  }

  openOf(campaignId: string): readonly CampaignWrite[] {
    return this.#open.get(campaignId) ?? []
  }

  #textsOf({ campaignId, token, written }: CampaignRecord): string[] {
    // Its name may be cut there, or somebody's own.
    const names = [written.name, this.campaigns.get(campaignId)?.name]
    const plainNames = names.flatMap((one) => (typeof one === 'string' ? plain(bareName(one)) : []))
    return token === null ? plainNames : [markOf(token), ...plainNames]
  }

  /** Whether its campaign goes to an entry that has none, or whose own goes on in the same way. */
  movesOn(record: CampaignRecord): boolean {
    const seen = new Set<string>()
    for (let at: CampaignRecord | undefined = record; at !== undefined && !seen.has(at.key); ) {
      seen.add(at.key)
      const to = this.naming.get(at.campaignId)
      if (to === undefined) return false
      at = this.records.get(to.key)
      if (at === undefined) return true
    }
    return false
  }

  add(item: Partial<PlanItem> & Pick<PlanItem, 'key'>): void {
    this.items.push({ ...NO_ITEM, ...item })
  }

  hold(key: string, campaignId: string | null, held: Held): void {
    this.add({ key, campaignId, held })
  }

  isOver(record: CampaignRecord): boolean {
    const campaign = this.campaigns.get(record.campaignId)
    const end =
      campaign === undefined ? record.written.endDate : valueNow(record, campaign, 'endDate')
    return typeof end === 'string' && endsBy(end) < this.input.now
  }

  runs(campaign: Campaign): boolean {
    return whyIdle(campaign, this.input.now) === null
  }

  /** What a campaign may spend that has no record. */
  unmanagedSpend(id: string): MaySpend {
    const campaign = this.campaigns.get(id)
    if (campaign === undefined) return 0
    return maySpend({ record: null, open: [], shown: [campaign] }, this.input.now)
  }

  #count(): void {
    const { records, seen, creates, desired, now } = this.input
    for (const record of records) {
      const { campaignId } = record
      const both = [seen.listed.get(campaignId), seen.read.get(campaignId)]
      const shown = both.filter((one) => one != null)
      const open = this.openOf(campaignId)
      this.ledger.set(campaignId, maySpend({ record, open, shown }, now))
    }
    const known = records.flatMap(({ key }) => this.absence.marked(key))
    const ended = desired.removed.flatMap(({ key }) => this.absence.marked(key))
    // What may be the campaign of an entry spends for it, whoever decides about it later.
    const waiting = desired.campaigns.filter(({ key }) => !this.records.has(key))
    const alike = waiting.flatMap((entry) => this.absence.resembling(entry))
    const ids = [...known, ...ended, ...alike].map(({ id }) => id)
    // What is to be taken over spends already.
    const named = waiting.flatMap(({ campaignId }) => campaignId ?? [])
    const taken = named.filter((id) => !this.byId.has(id))
    for (const id of [...records.flatMap(({ past }) => past), ...ids, ...taken])
      this.ledger.set(id, this.unmanagedSpend(id))
    for (const [key, sent] of Map.groupBy(creates.filter(isUnsettled), (create) => create.key))
      this.ledger.set(
        pending(key),
        sumOf(sent.map(({ body }) => maySpendWith(createdValues(body ?? {}), now))),
      )
  }

  #whyTruncated(): Held | null {
    const running = this.input.records.filter((record) => !this.isOver(record)).length
    const lost = this.unlisted.filter((record) => !this.isOver(record)).length
    if (lost <= FEW || lost <= running * LARGEST_LOSS) return null
    const reason = `the file lists ${running - lost} of the ${running} managed campaigns, so it may be truncated; nothing is raised`
    return heldBy(
      'entry',
      reason,
      'list the others again, under removed: if they are to end',
      'truncated',
    )
  }
}

/** What a plan takes from the database; `day`: writes of the last day. */
export const memoryOf = (store: CampaignStore, now: number) => ({
  ...{ facts: store.account(), records: store.records(), others: store.others() },
  ...{ newEntries: store.newEntries(), open: store.open(), creates: store.creates() },
  made: store.made(),
  day: store.since(now - DAY).filter(({ at }) => isRecent(at, now, DAY)),
  generation: (key: string) => store.generation(key),
  unknownCreatesUntil: store.unknownCreatesUntil(),
})
