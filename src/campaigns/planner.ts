// Makes the plan: finds each wanted campaign on the service, compares, and lets the guards hold what can
// raise spending. Reductions are never held. Pure.

import { showAmount } from '../lib/amount.ts'
import { DAY } from '../lib/clock.ts'
import { canRaise, endDateChange, overall, show } from './changes.ts'
import type { Desired, DesiredCampaign, Removal } from './desired.ts'
import { diff } from './diff.ts'
import { ExposureGuard } from './exposure.ts'
import { COMMAND, type LocateInput, Locator, quoted } from './locate.ts'
import { isWritten, type Plan, type PlanItem } from './plan.ts'
import { createBody, rank, rememberOf, seenDigest } from './plan-parts.ts'
import { type Campaign, type CampaignRecord, type CreateIntent, STATUS } from './port.ts'
import { canonical } from './targeting.ts'
import { tokenOf, withToken } from './token.ts'

export interface PlanInput extends LocateInput {
  desired: Desired
  fileSha256: string
  /** Account that the database belongs to; null: it is empty. */
  knownAccount: string | null
  /** Creates that were sent within the last 24 h. */
  createdToday: number
  /** Keys whose widening a person allowed. */
  allowWiden: ReadonlySet<string>
  /** Wall ms. */
  now: number
}

/** A file that lost more entries than this, and more than 30 %, looks truncated. */
const FEW = 3
const LARGEST_LOSS = 0.3

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
    const stopped = this.#stopped()
    for (const wanted of desired.campaigns) this.#consider(wanted)
    for (const removal of desired.removed) this.#end(removal)
    for (const judge of this.#raises) judge()
    for (const { key, campaignId } of this.#unlisted())
      this.#notices.push(`${key}: not in the file any more; campaign ${campaignId} is left alone`)
    const items = this.#items.sort((a, b) => rank(a) - rank(b))
    if (items.some((item) => isWritten(item) && canRaise(item)))
      this.#notices.push('guards.maxShareOfFeed is not checked: no feed is looked at here')
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

  #stopped(): string | null {
    const { account, knownAccount, records } = this.#input
    if (knownAccount !== null && knownAccount !== account)
      return `the database belongs to the account ${knownAccount}, the configuration names ${account}; give each account a state.directory of its own`
    const lost = this.#unlisted().length
    if (lost > FEW && lost > records.length * LARGEST_LOSS)
      return `the file lists ${records.length - lost} of the ${records.length} managed campaigns, so it may be truncated; list the others again, under removed if they are to end`
    return null
  }

  #consider(wanted: DesiredCampaign): void {
    const { key } = wanted
    const found = this.#locator.find(wanted)
    switch (found.kind) {
      case 'ours':
        this.#compare(wanted, found.record, found.campaign)
        break
      case 'adoptable':
        this.#adopt(wanted, found.campaign, found.reason)
        break
      case 'nowhere':
        this.#create(wanted, found.token, found.rejected)
        break
      case 'held': {
        const { action, campaignId, reason, needs } = found
        this.#add({ key, campaignId, action, reason, needs })
        break
      }
      default:
        found satisfies never
    }
  }

  #adopt(wanted: DesiredCampaign, campaign: Campaign, reason: string): void {
    this.#add({ key: wanted.key, campaignId: campaign.id, action: 'adopt', reason })
    if (wanted.campaignId === null) return
    const record = { applied: {}, pending: null, frozen: null }
    this.#compare(wanted, record, campaign)
  }

  #compare(
    wanted: DesiredCampaign,
    record: Pick<CampaignRecord, 'applied' | 'pending' | 'frozen'>,
    campaign: Campaign,
  ): void {
    const { account, allowWiden } = this.#input
    const { key } = wanted
    const name = withToken(wanted.name, tokenOf(account, key))
    // What an entry does not manage is settled all the same when its own create left it uncertain.
    const targeting = wanted.targeting ?? record.pending
    const whole = { ...wanted, name, ...(targeting !== null && { targeting }) }
    const found = diff(whole, record, campaign)
    this.#drift.push(...found.drift.map((text) => `${key}: ${text}`))
    const at = { key, campaignId: campaign.id, seen: seenDigest(campaign) }
    if (Object.keys(found.agreed).length > 0)
      this.#add({ ...at, action: 'agree', remember: found.agreed })
    for (const reason of found.impossible)
      this.#add({ ...at, action: 'blocked', reason, needs: 'change the file' })
    if (found.updates.length + found.impossible.length === 0) this.#unchanged++
    const halted = record.frozen ?? (campaign.status === STATUS.archived ? 'archived there' : null)
    const look = record.frozen === null ? 'have it resumed there first' : checkFirst(key)
    const part = (raise: boolean) => {
      const chosen = found.updates.filter(
        ({ changes }) => canRaise({ spend: overall(changes) }) === raise,
      )
      const changes = chosen.flatMap((one) => one.changes)
      const update = Object.assign({}, ...chosen.map(({ body }) => body))
      const remember = rememberOf(whole, Object.keys(update))
      return { ...at, changes, spend: overall(changes), update, remember }
    }
    const [calm, raise] = [part(false), part(true)]
    const hold = (item: typeof raise, reason: string, needs: string) =>
      this.#add({ ...item, action: 'blocked', update: null, reason, needs })
    if (calm.changes.length > 0) {
      if (halted !== null) hold(calm, halted, look)
      else {
        this.#exposure.take(campaign, calm.update)
        this.#add({ ...calm, action: 'update' })
      }
    }
    if (raise.changes.length === 0) return
    this.#raises.push(() => {
      const widens = raise.changes.find((change) => change.widens)
      if (halted !== null) hold(raise, halted, look)
      else if (campaign.status === STATUS.paused)
        hold(raise, 'paused on the service, so nothing is raised', 'have it resumed there first')
      else if (widens !== undefined && !allowWiden.has(key)) {
        const reason = `the last value of ${widens.path} goes: ${widens.before} -> any`
        hold(raise, reason, `${COMMAND} apply --yes --allow-widen ${quoted(key)}`)
      } else {
        const refused = this.#exposure.raise(campaign, raise.update)
        if (refused === null) this.#add({ ...raise, action: 'update' })
        else hold(raise, refused, 'change the guard or the entry in the file')
      }
    })
  }

  #create(wanted: DesiredCampaign, token: string, intent: CreateIntent | null): void {
    const { incomplete, desired, createdToday, now } = this.#input
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
      if (incomplete !== null)
        return block(`the listing is not complete: ${incomplete}`, 'try again later')
      if (this.#locator.memoryLost)
        return block(
          'campaigns on the service carry tokens, but this database knows none: it may be lost',
          `restore the database, or ${COMMAND} adopt each`,
        )
      if (intent?.state === 'rejected' && JSON.stringify(intent.body) === JSON.stringify(create))
        return block(`the service refused it: ${intent.reason}`, 'change the entry')
      // A day begins at different times: a start of today is no start in the past.
      if (wanted.startDate !== undefined && Date.parse(wanted.startDate) < now - DAY)
        return block(
          `startDate ${wanted.startDate} is past`,
          'write a later startDate, or leave it out',
        )
      if (createdToday + this.#creates >= desired.guards.createsPerDay)
        return block(
          `guards.createsPerDay is ${desired.guards.createsPerDay}`,
          'apply again tomorrow',
        )
      const refused = this.#exposure.create(create)
      if (refused !== null) return block(refused, 'change the guard or the entry in the file')
      this.#creates++
      const written = [...Object.keys(create), 'period']
      const remember = rememberOf({ ...wanted, name, targeting }, written)
      const budget = create.budget === undefined ? '' : `budget ${create.budget.toFixed(2)}, `
      const after = `${budget}${wanted.period ?? 'once'}, ${show(targeting)}`
      const changes = [{ path: 'campaign', before: null, after, spend: 'up' as const }]
      this.#add({ key, campaignId: null, action: 'create', spend: 'up', changes, create, remember })
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
    const at = { key, campaignId: campaign.id, seen: seenDigest(campaign) }
    if (record.preventEnd || record.frozen !== null) {
      const reason = record.frozen ?? 'lifecycle.preventEnd was set when the entry was last applied'
      const needs =
        record.frozen === null
          ? 'list the entry again without preventEnd and apply, then remove it'
          : checkFirst(key)
      this.#add({ ...at, action: 'blocked', reason, needs })
      return
    }
    const changes = [endDateChange(there, endDate)]
    this.#exposure.take(campaign, { endDate })
    this.#add({
      ...at,
      ...{ action: 'update', spend: 'down', changes, update: { endDate } },
      remember: { endDate },
      reason: 'listed under removed',
    })
  }

  #unlisted(): CampaignRecord[] {
    const { desired, records } = this.#input
    const listed = new Set([...desired.campaigns, ...desired.removed].map(({ key }) => key))
    return records.filter(({ key }) => !listed.has(key))
  }

  #add(item: Partial<PlanItem> & Pick<PlanItem, 'key' | 'campaignId' | 'action'>): void {
    this.#items.push({
      ...{ spend: 'neutral', changes: [], create: null, update: null, remember: {} },
      ...{ reason: null, needs: null, seen: null },
      ...item,
    })
  }
}

const checkFirst = (key: string) =>
  `look at it on the service, then ${COMMAND} resolve ${quoted(key)} --checked`
