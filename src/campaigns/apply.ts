// Does what a plan says, one campaign after the other: reductions first, creates last. Everything that is
// sent was written down before, so that a crash at any point loses nothing and makes nothing twice
// (research/reconcile.md section 3.9).

import { fromWire } from '../lib/amount.ts'
import { DAY } from '../lib/clock.ts'
import type { Campaign, CampaignUpdate } from '../service/port.ts'
import { type Change, canRaise } from './changes.ts'
import { instant } from './diff.ts'
import { isWritten, type Plan, type PlanItem } from './plan.ts'
import type { Applied } from './port.ts'
import { lookAtCampaigns, type ReconcilerParts, type View, type Wanted } from './reconciler.ts'
import { tokenIn } from './token.ts'

export interface Result {
  key: string
  campaignId: string | null
  /** `stale`: it changed since the plan was approved; `skipped`: something before it failed. */
  outcome: 'created' | 'updated' | 'adopted' | 'stale' | 'failed' | 'unknown' | 'skipped'
  reason: string | null
}

export interface ApplyParts extends ReconcilerParts {
  /** Ends what is being sent. */
  signal: AbortSignal
  /** Nothing new is sent after it. */
  stop: AbortSignal
  /** For the audit: which plan, or whose command. */
  cause: string
}

/**
 * Carries out the items of a fresh plan; with an approved one, only those that it had in the same words
 * about a campaign that has not changed since. Answers the results, in the order in which they were done.
 */
export async function applyPlan(
  parts: ApplyParts,
  wanted: Wanted,
  view: View,
  approved: Plan | null,
): Promise<Result[]> {
  return new Application(parts, wanted, view).run(approved)
}

class Application {
  readonly #parts: ApplyParts
  readonly #wanted: Wanted
  readonly #view: View
  readonly #results: Result[] = []
  /** Why nothing more is sent. */
  #halt: string | null = null
  #reductionFailed = false

  constructor(parts: ApplyParts, wanted: Wanted, view: View) {
    this.#parts = parts
    this.#wanted = wanted
    this.#view = view
  }

  async run(approved: Plan | null): Promise<Result[]> {
    const first = this.#view.plan()
    if (first.stopped !== null) return []
    this.#parts.store.setAccount(this.#parts.account)
    for (const item of first.items) if (item.action === 'adopt') this.#adopt(item)
    const plan = this.#view.plan()
    for (const item of plan.items) if (item.action === 'agree') this.#remember(item)
    for (const item of plan.items.filter(isWritten)) {
      const reason = this.#hindrance(item, approved)
      if (reason !== null) this.#tell(item, reason.outcome, reason.text)
      else if (item.create !== null) await this.#create(item, item.create)
      else if (item.update !== null) await this.#update(item, item.update)
    }
    this.#protect()
    return this.#results
  }

  #hindrance(item: PlanItem, approved: Plan | null) {
    const { stop } = this.#parts
    if (this.#halt !== null) return { outcome: 'skipped', text: this.#halt } as const
    if (stop.aborted) return { outcome: 'skipped', text: 'interrupted' } as const
    // What it adds may rest on what the reduction was to free.
    if (this.#reductionFailed && canRaise(item))
      return { outcome: 'skipped', text: 'a reduction before it did not succeed' } as const
    const same = (other: PlanItem) => fingerprint(other) === fingerprint(item)
    if (approved !== null && !approved.items.some(same))
      return { outcome: 'stale', text: 'it is not what the plan said; plan again' } as const
    return null
  }

  #adopt({ key, campaignId, reason }: PlanItem): void {
    const { store } = this.#parts
    if (campaignId === null) return
    const intent = store.intents().find((one) => one.key === key && one.state !== 'rejected')
    const applied = intent?.remember ?? {}
    const there = this.#view.remote.get(campaignId)
    const frozen = intent === undefined ? null : moneyAmiss(intent.body, there)
    store.atomically(() => {
      store.save({
        ...{ key, campaignId, applied, frozen, preventEnd: this.#preventsEnd(key) },
        origin: intent === undefined ? 'adopted' : 'recovered',
        // The body that was sent may have arrived changed or late: it is sent again.
        pending: applied.targeting ?? null,
      })
      if (intent !== undefined) store.settle(intent.id, 'adopted', null)
      this.#tell({ key, campaignId }, 'adopted', reason)
    })
  }

  #remember({ key, remember }: PlanItem): void {
    const record = this.#parts.store.record(key)
    if (record !== null)
      this.#parts.store.save({ ...record, applied: { ...record.applied, ...remember } })
  }

  async #update(item: PlanItem, update: CampaignUpdate): Promise<void> {
    const { api, store, clock, signal } = this.#parts
    const record = store.record(item.key)
    if (record === null || item.campaignId === null) return
    const before = await api.get(item.campaignId, signal)
    if (before.kind === 'failure') return this.#failed(item, before.reason, before.class)
    const listed = this.#view.remote.get(item.campaignId)
    if (listed !== undefined && differences(listed, before.value).length > 0)
      return this.#tell(item, 'stale', 'it changed on the service since it was planned')
    const at = clock.now()
    const { pending = null, budgets = [] } = record
    const from = before.value.budget
    const raised = update.budget == null || from == null ? [] : [{ at, from: fromWire(from) }]
    store.save({
      ...{ ...record, unsettled: { at, body: update } },
      pending: item.remember.targeting ?? pending,
      budgets: [...budgets.filter((one) => at - one.at < DAY), ...raised],
    })
    const answer = await api.update(item.campaignId, update, signal)
    if (answer.kind === 'failure') {
      if (answer.effect !== 'unknown') store.save(record)
      const outcome = answer.effect === 'unknown' ? 'unknown' : 'failed'
      return this.#failed(item, answer.reason, answer.class, outcome)
    }
    const after = await api.get(item.campaignId, signal)
    if (after.kind === 'failure') return this.#failed(item, after.reason, after.class, 'unknown')
    this.#view.remote.set(after.value.id, after.value)
    this.#verify(item, update, before.value, after.value)
  }

  #verify(item: PlanItem, update: CampaignUpdate, before: Campaign, after: Campaign): void {
    const { store } = this.#parts
    const record = this.#parts.store.record(item.key)
    if (record === null) return
    const changed = differences(before, after).filter((field) => !(field in update))
    const { targeting, ...readable } = update
    const wrong = differences({ ...after, ...(readable as Partial<Campaign>) }, after)
    const kept = Object.entries(item.remember).filter(([field]) => !wrong.includes(field))
    const amiss = moneyAmiss(update, after, before) ?? record.frozen
    const frozen = changed.length === 0 ? amiss : `a write changed ${changed.join(', ')} as well`
    store.atomically(() => {
      const applied: Applied = { ...record.applied, ...Object.fromEntries(kept) }
      store.save({
        ...{ ...record, applied, frozen, unsettled: null },
        pending: item.remember.targeting === undefined ? record.pending : null,
      })
      if (wrong.length > 0)
        return this.#tell(item, 'failed', `the service shows another ${wrong.join(', ')} than sent`)
      this.#tell(item, 'updated', frozen)
    })
    if (wrong.length > 0 && item.spend === 'down') this.#reductionFailed = true
  }

  async #create(item: PlanItem, body: NonNullable<PlanItem['create']>): Promise<void> {
    const { api, store, clock, signal } = this.#parts
    const { key } = item
    const unsent = store.intents().find((one) => one.key === key && one.state === 'prepared')
    const id = store.atomically(() => {
      if (unsent !== undefined) store.settle(unsent.id, 'not-created', 'never sent')
      const { remember } = item
      return store.prepare({ key, body, remember, at: clock.now() })
    })
    // Durable before the first byte leaves: from here on a crash leaves "nobody knows".
    store.settle(id, 'sending', null)
    const answer = await api.create(body, signal)
    if (answer.kind === 'failure') {
      const state = { 'not-sent': 'not-created', refused: 'rejected', unknown: 'unknown' } as const
      // What only our credentials or the route did wrong says nothing of the entry.
      const denied = answer.class === 'credentials' || answer.class === 'missing'
      const settled = denied && answer.effect === 'refused' ? 'not-created' : state[answer.effect]
      store.settle(id, settled, answer.reason)
      if (answer.effect !== 'unknown') return this.#failed(item, answer.reason, answer.class)
      return this.#settleUnknown(item, answer.reason)
    }
    const campaign = answer.value
    this.#view.remote.set(campaign.id, campaign)
    const frozen = moneyAmiss(body, campaign)
    store.atomically(() => {
      store.save({
        ...{ key, campaignId: campaign.id, origin: 'created', applied: item.remember },
        ...{ pending: null, preventEnd: this.#preventsEnd(key), frozen },
      })
      store.settle(id, 'succeeded', null)
      const kept = tokenIn(campaign.name) === tokenIn(body.name)
      const lost = kept ? null : 'the service did not keep the token in its name'
      this.#tell({ ...item, campaignId: campaign.id }, 'created', frozen ?? lost)
    })
  }

  /** Found once by its token, it is ours; otherwise it stays unknown, and the others go on. */
  async #settleUnknown(item: PlanItem, reason: string): Promise<void> {
    const { signal } = this.#parts
    const view = await lookAtCampaigns(this.#parts, this.#wanted, signal)
    const found =
      view.kind === 'view'
        ? view.plan().items.find((one) => one.key === item.key && one.action === 'adopt')
        : undefined
    if (view.kind === 'failure' || found === undefined) return this.#tell(item, 'unknown', reason)
    for (const [id, campaign] of view.remote) this.#view.remote.set(id, campaign)
    this.#adopt(found)
  }

  #failed(
    item: PlanItem,
    reason: string,
    kind: string,
    outcome: 'failed' | 'unknown' = 'failed',
  ): void {
    if (kind === 'credentials') this.#halt = 'the service refused the credentials'
    if (item.spend === 'down') this.#reductionFailed = true
    this.#tell(item, outcome, reason)
  }

  #tell(
    { key, campaignId, changes = [] }: Pick<PlanItem, 'key' | 'campaignId'> & Partial<PlanItem>,
    outcome: Result['outcome'],
    reason: string | null,
  ): void {
    const { store, clock, cause } = this.#parts
    this.#results.push({ key, campaignId, outcome, reason })
    const from = ({ path, before }: Change) =>
      path === 'campaign' ? '' : `${path}: ${before ?? '?'} -> `
    const said = changes.map((one) => `${from(one)}${one.after ?? 'any'}`)
    const detail = [...said, ...(reason === null ? [] : [reason])].join('; ')
    store.audit({ at: clock.now(), key, campaignId, event: outcome, cause, detail })
  }

  /** Protection outlives its line in the file, until an apply sees the entry without it. */
  #protect(): void {
    const { store } = this.#parts
    for (const record of store.records()) {
      const listed = this.#wanted.desired.campaigns.some(({ key }) => key === record.key)
      const preventEnd = this.#preventsEnd(record.key)
      if (listed && preventEnd !== record.preventEnd) store.save({ ...record, preventEnd })
    }
  }

  #preventsEnd(key: string): boolean {
    return this.#wanted.desired.campaigns.some((one) => one.key === key && one.preventEnd)
  }
}

/** What must be the same for an approved item to be the item that is now due. */
function fingerprint({ key, campaignId, changes, create, seen, postings }: PlanItem): string {
  return JSON.stringify([key, campaignId, changes, create, seen, postings])
}

/** Budget and bids neither as sent nor as before: the service may count in another unit. */
function moneyAmiss(sent: CampaignUpdate, shown?: Campaign, before?: Campaign): string | null {
  const fields = ['budget', 'cpc', 'maxCpc', 'paidCpaGoal'] as const
  const both = fields.filter((name) => sent[name] != null && shown?.[name] != null)
  const wrong = both.filter((name) => ![sent[name], before?.[name]].includes(shown?.[name]))
  return wrong.length === 0 ? null : `the service shows another ${wrong.join(', ')} than sent`
}

const VOLATILE = ['id', 'other', 'spend', 'sponsoredPostings', 'leads']

/** Fields that both show, and differently; a read by id may leave out what a listing has. */
function differences(a: Campaign, b: Campaign): string[] {
  return Object.keys(a).filter((name) => {
    const field = name as keyof Campaign
    const [x, y] = [a[field], b[field]]
    if (VOLATILE.includes(field) || !(field in b) || x === y) return false
    const isDate = field === 'startDate' || field === 'endDate'
    return !isDate || x == null || y == null || instant(String(x)) !== instant(String(y))
  })
}
