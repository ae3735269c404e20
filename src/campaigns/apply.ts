// Sends what a person confirmed, in waves: binds, then changes that spend less, then the other changes, then creates.
// When a write of a wave fails, the later waves are not sent.

import type { Clock } from '../lib/clock.ts'
import { changeLines } from './change-text.ts'
import { type Change, changesOf } from './changes.ts'
import type { Entry } from './desired.ts'
import { isEchoOf } from './echo.ts'
import { FIELDS, shownValue, wireOf } from './fields.ts'
import { reasonNotToWrite } from './judge.ts'
import { hasMark, markOf, markOn, withMark } from './mark.ts'
import { type Look, look, type Plan, type PlanItem, type PlanParts } from './plan.ts'
import type { Binding, CampaignStore, CampaignWrite, Outcome } from './port.ts'
import { inParallel, type Seen } from './seen.ts'
import { bodyOf, sentOf } from './sent.ts'
import type { Campaign, CampaignApi, CampaignCreate, CampaignFailure } from './service/port.ts'
import { doubtAbout, type ManagedFile, take } from './taken.ts'
import { briefTargeting } from './targeting.ts'
import { beginCreate, beginWriting, isLimited, type Result, update } from './write.ts'

export interface ApplyParts extends Omit<PlanParts, 'fileDoubt'> {
  store: CampaignStore
  api: Pick<CampaignApi, 'get' | 'create' | 'update'>
  clock: Pick<Clock, 'now' | 'sleep'>
  /** The person who applies the plan, for the history. */
  by: string
  /** isCurrent returns whether the file is still as it was read. It is called before each write. */
  isCurrent: () => boolean
}

export interface ApplyOptions {
  /** The entries to apply; null: all. */
  keys: ReadonlySet<string> | null
  /** The digest that a person confirmed; null: send only changes that spend less, which need no confirmation. */
  digest: string | null
  signal: AbortSignal
}

export type Applied =
  /** `stale`: the plan changed after the confirmation, so nothing was sent. */
  { kind: 'stale' | 'applied'; plan: Plan; results: Result[] } | CampaignFailure

/** apply plans again and sends the plan, or its changes that spend less. The caller holds the writer lock. */
export async function apply(
  parts: ApplyParts,
  file: ManagedFile,
  { keys, digest, signal }: ApplyOptions,
): Promise<Applied> {
  beginWriting(parts)
  const fileDoubt = doubtAbout(file, parts.store)
  const found = await look({ ...parts, fileDoubt }, file.entries, keys, signal)
  if ('class' in found) return found
  const { plan } = found
  if (digest !== null && digest !== plan.digest) return { kind: 'stale', plan, results: [] }
  // A person confirmed the whole file, so it is not cut.
  if (digest !== null && keys === null) take(parts.store, file)
  const run = new Run(parts, found, signal)
  await (digest === null ? run.lower() : run.all())
  return { kind: 'applied', plan, results: run.results }
}

const isDown = ({ spend }: Change) => spend === 'down'

class Run {
  readonly results: Result[] = []
  readonly #parts: ApplyParts
  readonly #signal: AbortSignal
  readonly #items: readonly PlanItem[]
  readonly #entries: ReadonlyMap<string, Entry>
  readonly #seen: Seen

  constructor(parts: ApplyParts, { plan, judged, seen }: Look, signal: AbortSignal) {
    this.#parts = parts
    this.#signal = signal
    this.#items = plan.items
    this.#entries = new Map(judged.map(({ entry }) => [entry.key, entry]))
    this.#seen = seen
  }

  /** lower sends what spends less to campaigns that are already bound. A new bind needs a confirmation. */
  async lower(): Promise<void> {
    await this.#updates(
      this.#items.filter(({ action }) => action === 'update'),
      isDown,
    )
  }

  async all(): Promise<void> {
    const binds = this.#items.filter(({ action }) => action === 'bind')
    const updates = this.#items.filter(({ action }) => action !== 'create')
    if (binds.length > 0) this.#bindAll(binds)
    if (this.#mayContinue) await this.#updates(updates, isDown)
    if (this.#mayContinue) await this.#updates(updates, (change) => !isDown(change))
    if (this.#mayContinue)
      await this.#creates(this.#items.filter(({ action }) => action === 'create'))
  }

  get #mayContinue(): boolean {
    return this.results.every(({ outcome }) => outcome === 'done') && !this.#signal.aborted
  }

  #record(item: Pick<PlanItem, 'key' | 'campaignId' | 'action'>, result: Partial<Result>): void {
    const { key, campaignId, action } = item
    this.results.push({ key, campaignId, action, outcome: 'done', reason: null, ...result })
  }

  #isStale(item: PlanItem): boolean {
    if (this.#parts.isCurrent()) return false
    this.#record(item, { outcome: 'stale', reason: 'the file changed meanwhile: plan again' })
    return true
  }

  /** #bindAll binds all campaigns in one transaction: all are bound, or none. */
  #bindAll(items: readonly PlanItem[]): void {
    const { store, by, clock } = this.#parts
    if (items.some((item) => this.#isStale(item))) return
    store.atomically(() => {
      const known = new Map(store.bindings().map((one) => [one.campaignId, one]))
      const creates = store.openCreates()
      for (const item of items) {
        const { key, campaignId } = item
        const campaign = this.#seen.campaign(campaignId ?? '')
        if (campaign == null) throw new Error(`campaign ${campaignId} was not seen`)
        const at = clock.now()
        const row = {
          at,
          key,
          campaignId,
          action: 'bind',
          body: null,
          before: {},
          actor: 'person',
          by,
        } as const
        store.end(store.begin(row), 'done', null, at)
        const { identity } = this.#parts
        const isOf = (one: CampaignWrite) =>
          one.key === key || hasMark(campaign.name, markOf(identity, one.key))
        this.#bind(key, campaign, known.get(campaign.id), creates.filter(isOf))
        this.#record(item, {})
      }
    })
  }

  /** #bind binds a campaign to a key, even if it had another key, and releases the key's earlier campaign. */
  #bind(
    key: string,
    campaign: Campaign,
    known: Binding | undefined,
    creates: readonly CampaignWrite[],
  ): void {
    const { store, identity, clock } = this.#parts
    const earlier = store.binding(key)
    if (earlier !== null && earlier.campaignId !== campaign.id)
      store.release(earlier.campaignId, key)
    const ours = markOf(identity, key)
    const last = hasMark(campaign.name, ours) ? creates.at(-1) : undefined
    const sent = known?.sent ?? sentOf(last?.body ?? {})
    for (const { id } of creates)
      store.end(id, id === last?.id ? 'done' : 'unknown', 'bound by a person', clock.now())
    const mark = known?.mark ?? markOn(campaign.name, ours)
    store.save(bindingOf(key, campaign, { sent, shown: known?.shown ?? null, mark }))
  }

  async #updates(
    items: readonly PlanItem[],
    isIncluded: (change: Change) => boolean,
  ): Promise<void> {
    const due = items.filter(({ changes }) => changes.some(isIncluded))
    let isEnded = false
    await inParallel(due, async (item) => {
      if (isEnded || this.#signal.aborted) return
      const result = await this.#update(item, item.changes.filter(isIncluded))
      isEnded ||= result?.isLimited === true
      if (result !== null) this.results.push(result)
    })
  }

  async #update(item: PlanItem, changes: readonly Change[]): Promise<Result | null> {
    const { store, api, identity } = this.#parts
    const entry = this.#entries.get(item.key)
    const stale = (reason: string): Result => ({
      key: item.key,
      campaignId: item.campaignId,
      action: 'update',
      outcome: 'stale',
      reason,
    })
    if (!this.#parts.isCurrent()) return stale('the file changed meanwhile: plan again')
    const bound = store.binding(item.key)
    if (entry === undefined || bound === null || bound.campaignId !== item.campaignId)
      return stale('the campaign no longer belongs to the entry: plan again')
    const read = await api.get(bound.campaignId, this.#signal)
    if (read.kind === 'failure')
      return { ...stale(read.reason), outcome: 'not-sent', isLimited: isLimited(read) }
    const campaign = read.value
    const untouchable = reasonNotToWrite(identity, item.key, bound, campaign)
    if (untouchable !== null) return stale(untouchable)
    const now = new Map(changesOf(entry, campaign, bound).map((one) => [one.field, one]))
    const open = changes.filter(({ field }) => now.has(field))
    const isChanged = (change: Change) => textOf(now.get(change.field)) !== textOf(change)
    const changed = open.filter(isChanged).map(({ field }) => field)
    if (changed.length > 0)
      return stale(`${changed.join(', ')} changed on the service since it was planned: plan again`)
    if (open.length === 0) return null
    const mark = markOn(campaign.name, bound.mark ?? markOf(identity, item.key))
    const started = bindingOf(item.key, campaign, { ...bound, mark: bound.mark ?? mark })
    const fields = open.map(({ field }) => field)
    const body = bodyOf(entry, fields, (name) => withMark(name, mark))
    const put = (signal: AbortSignal) => api.update(bound.campaignId, body, signal)
    const mayRepeat = (now: Campaign) =>
      this.#parts.isCurrent() && reasonNotToWrite(identity, item.key, bound, now) === null
    const parts = { ...this.#parts, actor: 'person', signal: this.#signal, mayRepeat } as const
    return update(parts, put, started, body, campaign)
  }

  async #creates(items: readonly PlanItem[]): Promise<void> {
    for (const item of items) {
      if (this.#signal.aborted || this.#isStale(item)) return
      const result = await this.#create(item)
      this.results.push(result)
      if (result.isLimited || result.outcome === 'not-as-sent') return
    }
  }

  /**
   * #create sends one POST and never repeats it. If the result is not known, a later plan finds the campaign by its
   * mark, or plans a new create after an hour.
   */
  async #create({ key }: PlanItem): Promise<Result> {
    const { store, api, identity, clock } = this.#parts
    const entry = this.#entries.get(key)
    if (entry === undefined) throw new Error(`${key} is not an entry`)
    const body = createOf(entry, markOf(identity, key))
    const id = beginCreate(this.#parts, key, body)
    const answer = await api.create(body, this.#signal)
    const ended = (outcome: Exclude<Outcome, 'sending'>, reason: string | null) => {
      const limited = isLimited(answer)
      const campaignId = answer.kind === 'ok' ? answer.value.id : null
      return { key, campaignId, action: 'create', outcome, reason, isLimited: limited } as const
    }
    if (answer.kind === 'failure') {
      store.end(id, answer.effect, answer.reason, clock.now())
      return ended(answer.effect, answer.reason)
    }
    const created = answer.value
    const isOld = this.#seen.campaign(created.id) != null || store.released().has(created.id)
    const read = await api.get(created.id, this.#signal)
    const shown = read.kind === 'ok' ? read.value : created
    const mark = markOf(identity, key)
    const isOurs = !isOld && shown.id === created.id && hasMark(shown.name, mark)
    if (!isOurs) {
      const reason = `the service answered with campaign ${created.id}, which ${isOld ? 'existed before' : 'does not carry our mark'}`
      store.atomically(() => {
        store.end(id, 'unknown', reason, clock.now(), created.id)
        // The campaign may still be ours: a released campaign prevents a second create.
        if (!isOld) store.release(created.id, key)
      })
      return ended('unknown', reason)
    }
    const of = entry.targeting
    const { targeting } = shown.other
    const isEcho = of !== null && isEchoOf(targeting, of)
    const echo = isEcho ? { of, is: JSON.stringify(targeting) } : null
    const bound = bindingOf(key, shown, { sent: sentOf(body), shown: echo, mark })
    // Without a period in the file, the campaign was ordered for one time.
    const ordered = { ...entry, values: { period: 'once', ...entry.values } }
    const other = changeLines(changesOf(ordered, shown, bound))
    const outcome = other.length === 0 ? 'done' : 'not-as-sent'
    const reason = other.length === 0 ? null : otherwise(other)
    store.atomically(() => {
      store.end(id, outcome, reason, clock.now(), created.id)
      store.save(bound)
    })
    return ended(outcome, reason)
  }
}

const otherwise = (lines: readonly string[]) =>
  `the service created it otherwise, shown here with what was sent: ${lines.join('; ')}`

/** createOf returns the body of a create. The service decides the fields that the entry leaves out. */
function createOf({ values, targeting }: Entry, mark: string): CampaignCreate {
  const wire = FIELDS.map((field) => [field, wireOf(field, values[field] ?? null)] as const)
  const name = withMark(String(values.name), mark)
  return {
    ...Object.fromEntries(wire.filter(([, value]) => value !== null)),
    name,
    ...(targeting && { targeting: briefTargeting(targeting) }),
  }
}

/** bindingOf returns a binding. It keeps the first known account, start and mark, which never change. */
export function bindingOf(
  key: string,
  campaign: Campaign,
  known: Pick<Binding, 'sent' | 'shown' | 'mark'> & Partial<Binding>,
): Binding {
  const startDate = shownValue(campaign, 'startDate')
  return {
    key,
    campaignId: campaign.id,
    sent: known.sent,
    shown: known.shown,
    accountId: known.accountId ?? campaign.accountId ?? null,
    startDate: known.startDate ?? (typeof startDate === 'string' ? startDate : null),
    mark: known.mark ?? null,
    repeatAt: known.repeatAt ?? null,
  }
}

const textOf = (change: Change | undefined) =>
  JSON.stringify([change?.field, change?.from, change?.to])
