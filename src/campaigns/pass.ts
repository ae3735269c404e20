// The one loop that plan, apply and the daemon share. First the reductions: every entry whose campaign is
// known and whose file says less than was agreed is read by id and reduced, whatever else is wrong. Then
// the listing, what is remembered of it, the plan, and what the plan says.

import type { Campaign, CampaignFailure } from '../service/port.ts'
import { compare, shownAs } from './compare.ts'
import type { Desired } from './desired.ts'
import { type Effects, measure, measured, newlyLeft } from './effects.ts'
import { canRaise, type Field, rawOf, type Spend } from './fields.ts'
import type { CampaignState } from './findings.ts'
import { fingerprint, isReady, isReduction, type Plan, type PlanItem } from './plan.ts'
import { makePlan } from './planner.ts'
import { memoryOf } from './planning.ts'
import type { CampaignRecord } from './port.ts'
import {
  adoptedRecord,
  changesOf,
  type ManagedCampaign,
  managedCampaigns,
  mayDiffer,
  whyForeign,
} from './record.ts'
import { whyStopped } from './refused.ts'
import {
  type ReconcilerParts,
  type Result,
  resultOf,
  Sender,
  type SenderParts,
  type Update,
} from './send.ts'
import { inParallel, Snapshot } from './snapshot.ts'
import { assign, endWords } from './word.ts'

export interface Wanted {
  desired: Desired
  fileSha256: string
  allowWiden: ReadonlySet<string>
  /** The file is still as it was read; asked before each write that can raise spending. */
  isCurrent: () => boolean
}

export interface PassOptions {
  /** `plan` writes nothing; `report` writes down what is seen; `apply` writes to the service. */
  kind: 'plan' | 'report' | 'apply'
  /** The plan that a person approved: nothing else is sent. null: what is due. */
  approved: Plan | null
  /** A person approves what the daemon may not do alone. */
  isPerson: boolean
  /** For the history: which plan, or whose command. */
  by: string
  /** Ends what is being sent. */
  signal: AbortSignal
  /** Nothing new is sent after it. */
  stop: AbortSignal
}

export type PassResult = { results: Result[] } & (
  | { kind: 'looked'; plan: Plan; campaigns: CampaignState[] }
  | CampaignFailure
)

export class Pass {
  readonly #parts: SenderParts
  readonly #wanted: Wanted
  readonly #options: PassOptions
  readonly #sender: Sender
  readonly #results: Result[] = []
  readonly #snapshot: Snapshot
  /** By campaign id, before this look changes them. */
  #owners: ReadonlyMap<string, CampaignRecord> = new Map()
  /** Whose file says something else than was agreed: it may be less. */
  readonly #changed: CampaignRecord[] = []
  /** Keys whose reduction was tried. */
  readonly #reduced = new Set<string>()

  constructor(parts: ReconcilerParts, wanted: Wanted, options: PassOptions) {
    this.#parts = { ...parts, by: options.by, signal: options.signal }
    this.#wanted = wanted
    this.#options = options
    this.#sender = new Sender(this.#parts)
    this.#snapshot = new Snapshot(parts, options.stop)
  }

  async run(): Promise<PassResult> {
    const looked = await this.#look()
    return { ...looked, results: [...this.#results, ...this.#unread()] }
  }

  /** What could not be read may have been a reduction, and is tried again as soon as one. */
  #unread(): Result[] {
    const done = new Set(this.#results.map(({ campaignId }) => campaignId))
    return this.#changed.flatMap(({ key, campaignId }) => {
      const reason = this.#snapshot.failed.get(campaignId)
      if (reason === undefined || done.has(campaignId)) return []
      return resultOf({ key, campaignId, action: 'update', spend: 'down' }, 'failed', reason)
    })
  }

  async #look() {
    const { store, account, feeds, clock } = this.#parts
    const { kind, stop, isPerson, approved } = this.#options
    const isOurs = whyStopped(account, store.account()?.account) === null
    if (kind !== 'plan' && isOurs) {
      this.#sender.sweep()
      endWords(this.#parts, this.#wanted.desired)
    }
    if (kind === 'apply' && isOurs) await this.#reduceFirst()
    const failure = await this.#snapshot.list()
    if (failure !== null) return failure
    await this.#snapshot.readMore(this.#wanted.desired)
    // Who approved a plan of another file has seen nothing of this one.
    const isSeen = approved === null || approved.fileSha256 === this.#wanted.fileSha256
    const approves = isPerson && kind === 'apply' && isSeen
    if (kind !== 'plan' && isOurs)
      this.#results.push(...this.#snapshot.record(this.#sender, this.#wanted.desired, approves))
    const records = store.records()
    const targetings = measured(this.#wanted.desired, records)
    const effects = await measure(feeds(), targetings, clock.now(), stop, records)
    const left = kind !== 'plan' && isOurs ? newlyLeft(effects, this.#wanted.desired, records) : []
    if (left.length > 0) store.atomically(() => left.forEach(store.save))
    const made = this.#plan(effects, kind !== 'apply')
    const { plan } = made
    if (kind !== 'apply' || plan.stopped !== null) return { kind: 'looked', ...made } as const
    await this.#carryOut(plan)
    return { kind: 'looked', ...this.#plan(effects, false) } as const
  }

  /** Reductions of campaigns that are known: no listing, no guard and no other entry stands before them. */
  async #reduceFirst(): Promise<void> {
    const { store, clock } = this.#parts
    const { approved, stop } = this.#options
    const { desired, fileSha256 } = this.#wanted
    if (approved !== null && approved.fileSha256 !== fileSha256) return
    const all = managedCampaigns(desired, store, clock.now())
    const due = all.filter((one) => mayDiffer(one) || changesOf(one).length > 0)
    // Nearly all may be raises: what is likely to spend less does not wait for them.
    const isLess = (spend: Spend) => spend === 'down' || spend === 'unknown'
    const isUrgent = (one: ManagedCampaign) => mayDiffer(one) || changesOf(one).some(isLess)
    due.sort((a, b) => Number(isUrgent(b)) - Number(isUrgent(a)))
    const reductions = approved?.items.filter((item) => isReady(item) && isReduction(item))
    const bodies = reductions && new Map(reductions.map((item) => [item.campaignId, item.body]))
    await inParallel(due, async ({ record, goal, why, open }) => {
      if (stop.aborted || goal === null) return
      this.#changed.push(record)
      const campaign = await this.#snapshot.get(record)
      if (campaign === null || whyForeign(record, campaign) !== null) return
      const { reduce } = compare(goal, record, campaign, open)
      if (reduce === null) return
      if (bodies === undefined || same(bodies.get(record.campaignId), reduce.body))
        await this.#update(record, campaign, { ...reduce, why })
    })
  }

  async #update(record: CampaignRecord, campaign: Campaign, update: Update): Promise<Result> {
    this.#reduced.add(`${record.campaignId} ${update.spend}`)
    const { result, after } = await this.#sender.update(record, campaign, update)
    if (after !== null) this.#snapshot.read.set(record.campaignId, after)
    // What was listed before the write is the past.
    if (result.outcome === 'updated') this.#snapshot.listed.delete(record.campaignId)
    return this.#ended(result)
  }

  #plan(effects: Effects, countsReductions: boolean): ReturnType<typeof makePlan> {
    const { store, account, identity, clock } = this.#parts
    const now = clock.now()
    const { isCurrent, ...wanted } = this.#wanted
    const seen = this.#snapshot
    const more = { ...{ effects, seen, countsReductions }, now }
    return makePlan({ ...wanted, ...more, ...{ account, identity }, ...memoryOf(store, now) })
  }

  async #carryOut(plan: Plan): Promise<void> {
    const { approved, isPerson, stop } = this.#options
    this.#owners = new Map(this.#parts.store.records().map((one) => [one.campaignId, one]))
    const isExpired = approved !== null && approved.fileSha256 !== this.#wanted.fileSha256
    const ready = approved?.items.filter(isReady) ?? []
    const byPrint = new Map(ready.map((item) => [fingerprint(item), item]))
    const left = new Set(isExpired ? approved.items : ready)
    /** Why nothing but reductions is sent any more. */
    let halt: string | null = null
    for (const item of isExpired ? [] : plan.items.filter(isReady)) {
      const known = byPrint.get(fingerprint(item))
      if (approved !== null && known === undefined) continue
      if (known !== undefined) left.delete(known)
      const isHeldBack = (item.approval && !isPerson) || (halt !== null && !isReduction(item))
      const isDone = isReduction(item) && this.#reduced.has(`${item.campaignId} down`)
      if (stop.aborted || isHeldBack || isDone) continue
      const isOutdated = canRaise(item.spend) && !this.#wanted.isCurrent()
      const result = isOutdated
        ? this.#stale(item, 'the file changed meanwhile, so nothing more is raised')
        : await this.#carry(item)
      if (isOutdated || result?.isTemporary) halt = result?.reason ?? null
    }
    if (this.#results.some(({ outcome }) => outcome === 'adopted'))
      this.#parts.store.atomically(() => this.#snapshot.recordAgreed(this.#wanted.desired))
    const reduced = new Set(
      this.#results.filter((one) => one.isReduction).map((one) => one.campaignId),
    )
    for (const item of left) {
      if (isReduction(item) && reduced.has(item.campaignId)) continue
      const now = plan.items.find(({ key, held }) => key === item.key && held !== null)?.held
        ?.reason
      const why = now === undefined ? '' : ` (${now})`
      const reason = isExpired
        ? 'the file changed since the plan was made'
        : `it is not any more as the plan said${why}; plan again`
      this.#stale(item, reason)
    }
  }

  #stale(item: PlanItem, reason: string): Result {
    return this.#ended(resultOf(item, 'stale', reason))
  }

  #ended(result: Result): Result {
    this.#results.push(result)
    return result
  }

  async #carry(item: PlanItem): Promise<Result | null> {
    const { key, campaignId } = item
    if (item.action === 'adopt') return this.#adopt(item)
    if (item.action === 'create') return this.#create(item)
    const record = this.#parts.store.record(key)
    if (record === null || record.campaignId !== campaignId)
      return this.#stale(item, 'it does not belong to the entry')
    const campaign = await this.#snapshot.get(record)
    if (campaign === null)
      return this.#stale(
        item,
        this.#snapshot.failed.get(campaignId) ?? 'the service does not find it',
      )
    const foreign = whyForeign(record, campaign)
    if (foreign !== null) return this.#stale(item, foreign)
    const before = Object.entries(item.before) as [Field, unknown][]
    const now = (field: Field) =>
      Object.hasOwn(item.body ?? {}, field)
        ? rawOf(campaign, field)
        : shownAs(field, {}, record, campaign)
    const moved = before.filter(([field, was]) => !same(now(field), was))
    if (moved.length === 0 || isReduction(item))
      return this.#update(record, campaign, item as PlanItem & Update)
    const fields = moved.map(([field]) => field).join(', ')
    return this.#stale(item, `${fields} changed on the service since it was planned`)
  }

  async #create(item: PlanItem): Promise<Result> {
    const { listed, read } = this.#snapshot
    const known = { has: (id: string) => listed.has(id) || read.has(id) }
    const { result, after } = await this.#sender.create(item, known)
    if (after !== null) read.set(after.id, after)
    return result.outcome === 'unknown' ? this.#seek(result) : this.#ended(result)
  }

  #adopt(item: PlanItem): Result | null {
    const { key, campaignId, why } = item
    const { store } = this.#parts
    const { read, listed } = this.#snapshot
    const campaign = read.get(campaignId ?? '') ?? listed.get(campaignId ?? '')
    if (campaignId === null || campaign === undefined) return null
    const owner = this.#owners.get(campaignId)
    const record =
      owner === undefined
        ? adoptedRecord(key, campaign)
        : { ...owner, key, succeeding: false, leftFeedsAt: null }
    store.atomically(() => {
      if (owner !== undefined) store.remove(owner.key)
      assign(this.#parts, record, `adopted: ${why}`)
    })
    return this.#ended(resultOf(item, 'adopted', why))
  }

  /** Looks at once for a create whose answer was lost; otherwise it stays unknown, and the others go on. */
  async #seek(result: Result): Promise<Result> {
    const listing = await this.#parts.list(this.#options.stop)
    if (listing.kind !== 'failure')
      for (const [id, one] of listing.campaigns) this.#snapshot.listed.set(id, one)
    const found = this.#parts.store.atomically(() => this.#snapshot.settleCreates(this.#sender))
    const own = found.find(({ key }) => key === result.key) ?? result
    this.#results.push(...found.filter((one) => one !== own), own)
    return own
  }
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
