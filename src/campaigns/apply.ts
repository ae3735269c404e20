// Sends what a person confirmed, in waves: binds, then changes that spend less, then the other changes, then new
// campaigns. When a write of a wave fails, the later waves are not sent.

import { bindAll } from './bind.ts'
import { createCampaign } from './create.ts'
import type { Entry } from './desired.ts'
import type { FieldChange } from './field-changes.ts'
import { look, type Plan, type PlanItem, type PlanScope, type PlanSources } from './plan.ts'
import { inParallel } from './seen.ts'
import type { CampaignApi, CampaignFailure } from './service/port.ts'
import { updateEntry } from './update-entry.ts'
import { recordUsed } from './used-file.ts'
import type { UpdateTools, WriteResult } from './write.ts'

interface ApplyTools extends Pick<UpdateTools, 'store' | 'recorder' | 'isCurrent'> {
  sources: PlanSources
  api: CampaignApi
}

interface ApplyOrder extends PlanScope {
  /** The digest that a person confirmed; null to send only changes that spend less, which need no confirmation. */
  digest: string | null
}

export type Applied =
  /** `stale` means that the plan changed after the confirmation, so nothing was sent. */
  { kind: 'stale' | 'applied'; plan: Plan; results: WriteResult[] } | CampaignFailure

/** apply plans again and sends the plan, or its changes that spend less. The caller holds the writer lock. */
export async function apply(
  { file, keys, digest }: ApplyOrder,
  { sources, api, store, recorder, isCurrent }: ApplyTools,
  signal: AbortSignal,
): Promise<Applied> {
  recorder.prepare()
  const found = await look(sources, { file, keys }, signal)
  if ('class' in found) return found
  const { plan, judged, seen } = found
  if (digest !== null && digest !== plan.digest) return { kind: 'stale', plan, results: [] }
  // A person confirmed the whole file, so it is not cut.
  if (digest !== null && keys === null) recordUsed(store, file)
  const { clock, account } = sources
  const { identity } = account
  const entries = new Map(judged.map(({ entry }) => [entry.key, entry]))
  const entryOf = ({ key }: PlanItem): Entry => {
    const entry = entries.get(key)
    if (entry === undefined) throw new Error(`${key} is not an entry`)
    return entry
  }
  const steps: Steps = {
    isCurrent,
    bind: (items) => bindAll(items, seen, { store, recorder, identity }),
    update: (item, changes) => {
      const tools = { api, store, clock, recorder, identity, isCurrent }
      return updateEntry({ item, entry: entryOf(item), changes }, tools, signal)
    },
    create: (item) =>
      createCampaign(entryOf(item), { api, store, recorder, identity, seen }, signal),
  }
  const waves = new Waves(plan.items, steps, signal)
  await (digest === null ? waves.lower() : waves.all())
  return { kind: 'applied', plan, results: waves.results }
}

/** Steps has the writes that `Waves` calls in order. */
interface Steps {
  isCurrent: () => boolean
  bind: (items: readonly PlanItem[]) => void
  /** update returns null if there is nothing left to send. */
  update: (item: PlanItem, changes: readonly FieldChange[]) => Promise<WriteResult | null>
  create: (item: PlanItem) => Promise<WriteResult>
}

const isDown = ({ spend }: FieldChange) => spend === 'down'

/** Waves sends the items of a plan in waves. After a failure it sends no later wave. */
class Waves {
  readonly results: WriteResult[] = []
  readonly #items: readonly PlanItem[]
  readonly #steps: Steps
  readonly #signal: AbortSignal

  constructor(items: readonly PlanItem[], steps: Steps, signal: AbortSignal) {
    this.#items = items
    this.#steps = steps
    this.#signal = signal
  }

  /** lower sends what spends less to campaigns that are already bound. A new bind needs a confirmation. */
  async lower(): Promise<void> {
    await this.#update(
      this.#items.filter(({ action }) => action === 'update'),
      isDown,
    )
  }

  async all(): Promise<void> {
    const binds = this.#items.filter(({ action }) => action === 'bind')
    const updates = this.#items.filter(({ action }) => action !== 'create')
    if (binds.length > 0) this.#bind(binds)
    if (this.#mayContinue) await this.#update(updates, isDown)
    if (this.#mayContinue) await this.#update(updates, (change) => !isDown(change))
    if (this.#mayContinue)
      await this.#create(this.#items.filter(({ action }) => action === 'create'))
  }

  get #mayContinue(): boolean {
    return this.results.every(({ outcome }) => outcome === 'done') && !this.#signal.aborted
  }

  #record({ key, campaignId, action }: PlanItem, result: Partial<WriteResult> = {}): void {
    this.results.push({ key, campaignId, action, outcome: 'done', reason: null, ...result })
  }

  /** #recordIfStale returns whether the file has changed, and then adds a result to say so. */
  #recordIfStale(item: PlanItem): boolean {
    if (this.#steps.isCurrent()) return false
    this.#record(item, { outcome: 'stale', reason: 'the file changed meanwhile: plan again' })
    return true
  }

  #bind(items: readonly PlanItem[]): void {
    if (items.some((item) => this.#recordIfStale(item))) return
    this.#steps.bind(items)
    for (const item of items) this.#record(item)
  }

  async #update(
    items: readonly PlanItem[],
    isIncluded: (change: FieldChange) => boolean,
  ): Promise<void> {
    const due = items.filter(({ changes }) => changes.some(isIncluded))
    let isEnded = false
    await inParallel(due, async (item) => {
      if (isEnded || this.#signal.aborted) return
      const result = await this.#steps.update(item, item.changes.filter(isIncluded))
      isEnded ||= result?.isLimited === true
      if (result !== null) this.results.push(result)
    })
  }

  async #create(items: readonly PlanItem[]): Promise<void> {
    for (const item of items) {
      if (this.#signal.aborted || this.#recordIfStale(item)) return
      const result = await this.#steps.create(item)
      this.results.push(result)
      if (result.isLimited || result.outcome === 'not-as-sent') return
    }
  }
}
