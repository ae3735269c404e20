// Makes the plan: finds each wanted campaign on the service, compares, and lets the guards hold what can
// raise spending. Reductions are never held. Pure.

import { showAmount } from '../lib/amount.ts'
import { DAY } from '../lib/clock.ts'
import type { Campaign, CampaignUpdate } from '../service/port.ts'
import { canRaise, endDateChange, overall, show } from './changes.ts'
import type { Desired, DesiredCampaign, Removal } from './desired.ts'
import { diff } from './diff.ts'
import type { Effects } from './effects.ts'
import { ExposureGuard, tooEarly } from './exposure.ts'
import { feedFindings } from './feed-states.ts'
import { COMMAND, type Located, type LocateInput, Locator, quoted } from './locate.ts'
import { LATER, type Plan, type PlanItem } from './plan.ts'
import {
  anyFeed,
  checkFirst,
  createBody,
  rank,
  rememberOf,
  seenDigest,
  selection,
  whyStopped,
} from './plan-parts.ts'
import { type CampaignRecord, type CreateIntent, STATUS } from './port.ts'
import { canonical } from './targeting.ts'
import { withToken } from './token.ts'

export interface PlanInput extends LocateInput {
  desired: Desired
  fileSha256: string
  /** Account that the database belongs to; null: it is empty. */
  knownAccount: string | null
  /** Creates that were sent within the last 24 h. */
  createdToday: number
  /** Keys whose widening a person allowed. */
  allowWiden: ReadonlySet<string>
  /** What the targetings of file and memory select of the feeds. */
  effects: Effects
  /** Wall ms. */
  now: number
}

export function makePlan(input: PlanInput): Plan {
  return new Planner(input).plan()
}

class Planner {
  readonly #input: PlanInput
  readonly #items: PlanItem[] = []
  readonly #drift: string[] = []
  readonly #notices: string[] = []
  readonly #records: ReadonlyMap<string, CampaignRecord>
  readonly #locator: Locator
  readonly #exposure: ExposureGuard
  /** Judged when every reduction is counted, so that moving money needs no larger limit. */
  readonly #raises: (() => void)[] = []
  #unchanged = 0
  #creates = 0

  constructor(input: PlanInput) {
    this.#input = input
    this.#records = new Map(input.records.map((record) => [record.key, record]))
    this.#locator = new Locator(input)
    const managed = input.records.flatMap(({ campaignId }) => input.remote.get(campaignId) ?? [])
    this.#exposure = new ExposureGuard(input.desired.guards, managed, input.now)
  }

  plan(): Plan {
    const { desired, now, fileSha256, remote, incomplete } = this.#input
    const stopped = whyStopped(this.#input, this.#unlisted().length)
    for (const wanted of desired.campaigns) this.#consider(wanted)
    for (const removal of desired.removed) this.#end(removal)
    for (const judge of this.#raises) judge()
    for (const { key, campaignId } of this.#unlisted())
      this.#notices.push(`${key}: not in the file any more; campaign ${campaignId} is left alone`)
    const items = this.#items.sort((a, b) => rank(a) - rank(b))
    const count = (wanted: (item: PlanItem) => boolean) => items.filter(wanted).length
    const updates = (raise: boolean) =>
      count((item) => item.action === 'update' && (item.spend !== 'down') === raise)
    return {
      planVersion: 1,
      createdAt: new Date(now).toISOString(),
      fileSha256,
      listing: { complete: incomplete === null, campaigns: remote.size, reason: incomplete },
      stopped,
      items,
      drift: this.#drift,
      notices: this.#notices,
      feed: feedFindings(this.#input),
      summary: {
        reduce: updates(false),
        update: updates(true) + count(({ action }) => action === 'adopt'),
        create: count(({ action }) => action === 'create'),
        blocked: count(({ action }) => action === 'blocked'),
        unknown: count(({ action }) => action === 'unknown'),
        unchanged: this.#unchanged,
      },
      exposure: {
        before: showAmount(this.#exposure.before),
        after: showAmount(this.#exposure.after),
        limit: showAmount(desired.guards.maxExposure),
      },
    }
  }

  #consider(wanted: DesiredCampaign): void {
    const { key } = wanted
    const found = this.#locator.find(wanted)
    switch (found.kind) {
      case 'ours':
        this.#compare(wanted, found.record, found.campaign, found.token)
        break
      case 'adoptable':
        this.#adopt(wanted, found)
        break
      case 'nowhere':
        this.#create(wanted, found.token, found.rejected)
        break
      case 'held': {
        const { kind, ...item } = found
        this.#add({ key, ...item })
        break
      }
      default:
        found satisfies never
    }
  }

  #adopt(wanted: DesiredCampaign, found: Extract<Located, { kind: 'adoptable' }>): void {
    const { campaign, reason, token } = found
    this.#add({ key: wanted.key, campaignId: campaign.id, action: 'adopt', reason })
    if (wanted.campaignId === null) return
    const record = { applied: {}, pending: null, frozen: null }
    this.#compare(wanted, record, campaign, token)
  }

  #compare(
    wanted: DesiredCampaign,
    record: Pick<CampaignRecord, 'applied' | 'pending' | 'frozen' | 'budgets' | 'unsettled'>,
    campaign: Campaign,
    token: string,
  ): void {
    const { allowWiden, effects, now } = this.#input
    const { key } = wanted
    const name = withToken(wanted.name, token)
    // What an entry does not manage is settled all the same when its own create left it uncertain.
    const targeting = wanted.targeting ?? record.pending
    const whole = { ...wanted, name, ...(targeting !== null && { targeting }) }
    const found = diff(whole, record, campaign)
    this.#drift.push(...found.drift.map((text) => `${key}: ${text}`))
    const at = { key, campaignId: campaign.id }
    if (Object.keys(found.agreed).length > 0)
      this.#add({ ...at, action: 'agree', remember: found.agreed })
    for (const reason of found.impossible)
      this.#add({ ...at, action: 'blocked', reason, needs: 'change the file' })
    if (found.updates.length + found.impossible.length === 0) this.#unchanged++
    const halted = record.frozen ?? (campaign.status === STATUS.archived ? 'archived there' : null)
    const look = record.frozen === null ? 'have it resumed there first' : checkFirst(key)
    if (record.frozen !== null && found.updates.length === 0)
      this.#add({ ...at, action: 'blocked', reason: record.frozen, needs: look })
    const part = (raise: boolean) => {
      const chosen = found.updates.filter(
        ({ changes }) => canRaise({ spend: overall(changes) }) === raise,
      )
      const changes = chosen.flatMap((one) => one.changes)
      const update: CampaignUpdate = Object.assign({}, ...chosen.map(({ body }) => body))
      const remember = rememberOf(whole, Object.keys(update))
      const postings =
        update.targeting === undefined || targeting === null
          ? null
          : selection(effects, record, targeting)
      return { ...at, changes, spend: overall(changes), update, remember, postings }
    }
    const [calm, raise] = [part(false), part(true)]
    const hold = (item: typeof raise, reason: string, needs: string) =>
      this.#add({ ...item, action: 'blocked', update: null, reason, needs })
    if (calm.changes.length > 0) {
      const early = tooEarly(record.unsettled, calm.update, now)
      if (halted !== null) hold(calm, halted, look)
      else if (early !== null) hold(calm, early, LATER)
      else {
        this.#exposure.take(campaign, calm.update)
        this.#add({ ...calm, action: 'update' })
      }
    }
    if (raise.changes.length === 0) return
    this.#raises.push(() => {
      const widens = raise.changes.find((change) => change.widens)
      const early = tooEarly(record.unsettled, raise.update, now)
      const state = effects.stateOf(key)
      if (halted !== null) hold(raise, halted, look)
      else if (campaign.status === STATUS.paused)
        hold(raise, 'paused on the service, so nothing is raised', 'have it resumed there first')
      else if (early !== null) hold(raise, early, LATER)
      else if (state.kind === 'vanished')
        hold(raise, `gone from ${state.uploads} feeds in a row, so nothing is raised`, RESTORE)
      else if (widens !== undefined && !allowWiden.has(key)) {
        const reason = `the last value of ${widens.path} goes: ${widens.before} -> any`
        hold(raise, reason, `${COMMAND} apply --yes --allow-widen ${quoted(key)}`)
      } else {
        const refused =
          this.#exposure.share(raise.postings, effects) ??
          this.#exposure.raise(campaign, raise.update, record.budgets ?? [])
        if (refused === null) this.#add({ ...raise, action: 'update' })
        else hold(raise, refused, 'change the guard or the entry in the file')
      }
    })
  }

  #create(wanted: DesiredCampaign, token: string, intent: CreateIntent | null): void {
    const { incomplete, desired, createdToday, effects, now } = this.#input
    const { key, targeting = canonical({ externalCampaignId: key }) } = wanted
    const name = withToken(wanted.name, token)
    const create = createBody({ ...wanted, name, targeting })
    const twin = this.#locator.named(wanted.name)
    if (twin !== null)
      this.#notices.push(
        `${key}: a campaign named ${JSON.stringify(wanted.name)} (id ${twin.id}) exists and is not ours; to manage it write campaignId: "${twin.id}"`,
      )
    this.#raises.push(() => {
      const block = (reason: string, needs: string) =>
        this.#add({ key, campaignId: null, action: 'blocked', reason, needs })
      if (incomplete !== null) return block(`the listing is not complete: ${incomplete}`, LATER)
      if (this.#locator.memoryLost)
        return block(
          'campaigns on the service carry tokens, but this database knows none: it may be lost',
          `restore the database, or ${COMMAND} adopt each`,
        )
      if (intent?.state === 'rejected' && JSON.stringify(intent.body) === JSON.stringify(create))
        return block(`the service refused it: ${intent.reason}`, 'change the entry')
      // A day begins at different times: a start of today is no start in the past.
      const { startDate = null } = wanted
      if (startDate !== null && Date.parse(startDate) < now - DAY)
        return block(`startDate ${startDate} is past`, 'write a later one, or leave it out')
      const { createsPerDay } = desired.guards
      if (createdToday + this.#creates >= createsPerDay)
        return block(`guards.createsPerDay is ${createsPerDay}`, 'apply again tomorrow')
      const postings = { before: 0, after: effects.count(targeting) }
      const refused = this.#exposure.share(postings, effects) ?? this.#exposure.create(create)
      if (refused !== null) return block(refused, 'change the guard or the entry in the file')
      this.#creates++
      const written = [...Object.keys(create), 'period']
      const remember = rememberOf({ ...wanted, name, targeting }, written)
      const budget = create.budget === undefined ? '' : `budget ${create.budget.toFixed(2)}, `
      const after = `${budget}${wanted.period ?? 'once'}, ${show(targeting)}`
      const changes = [{ path: 'campaign', before: null, after, spend: 'up' as const }]
      const what = { action: 'create', spend: 'up', changes, create, remember } as const
      this.#add({ key, campaignId: null, ...what, postings: anyFeed(effects, postings) })
    })
  }

  #end({ key, endDate }: Removal): void {
    const record = this.#records.get(key)
    const campaign = record === undefined ? undefined : this.#input.remote.get(record.campaignId)
    if (record === undefined || campaign === undefined) {
      this.#notices.push(`${key}: to be ended, but no campaign of ours is known for it`)
      return
    }
    const there = campaign.endDate ?? null
    if (there !== null && Date.parse(there) <= Date.parse(endDate)) {
      this.#unchanged++
      return
    }
    const at = { key, campaignId: campaign.id }
    if (record.preventEnd || record.frozen !== null) {
      const reason = record.frozen ?? 'lifecycle.preventEnd was set when the entry was last applied'
      const again = 'list the entry again without preventEnd and apply, then remove it'
      const needs = record.frozen === null ? again : checkFirst(key)
      this.#add({ ...at, action: 'blocked', reason, needs })
      return
    }
    const changes = [endDateChange(there, endDate)]
    this.#exposure.take(campaign, { endDate })
    const what = { action: 'update', spend: 'down', reason: 'listed under removed' } as const
    this.#add({ ...at, ...what, changes, update: { endDate }, remember: { endDate } })
  }

  #unlisted(): CampaignRecord[] {
    const { desired, records } = this.#input
    const listed = new Set([...desired.campaigns, ...desired.removed].map(({ key }) => key))
    return records.filter(({ key }) => !listed.has(key))
  }

  #add(item: Partial<PlanItem> & Pick<PlanItem, 'key' | 'campaignId' | 'action'>): void {
    const seen = item.campaignId === null ? undefined : this.#input.remote.get(item.campaignId)
    this.#items.push({
      ...{ spend: 'neutral', changes: [], create: null, update: null, remember: {} },
      ...{ reason: null, needs: null, postings: null },
      seen: seen === undefined ? null : seenDigest(seen),
      ...item,
    })
  }
}

const RESTORE = 'have the feed carry it again, or end the campaign under removed'
