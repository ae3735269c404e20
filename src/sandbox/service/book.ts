// CampaignBook keeps the service's campaigns: create, search, read, update, and the monthly renewal of budgets
// (specification sections 2 to 4). It does not know HTTP.

import type { Clock } from '../../lib/clock.ts'
import type { SandboxDatabase } from '../database.ts'
import type { Knobs } from '../knobs.ts'
import type { CreateFields, Outcome, PartialTargeting, UpdateFields } from './body.ts'
import { bidLevel, fullTargeting, monthOf, newCampaign, type SandboxCampaign } from './campaign.ts'
import type { Postings } from './postings.ts'

export class CampaignBook {
  readonly #knobs: Knobs
  readonly #clock: Clock
  readonly #postings: Postings
  /** all lists the campaigns, oldest first. Tests read and change these objects. */
  readonly all: SandboxCampaign[]
  readonly #database: SandboxDatabase
  #shuffles = 0

  constructor({
    clock,
    knobs,
    database,
    postings,
  }: { clock: Clock; knobs: Knobs; database: SandboxDatabase; postings: Postings }) {
    this.#knobs = knobs
    this.#clock = clock
    this.#database = database
    this.all = database.campaigns()
    this.#postings = postings
  }

  /** prepare reads the postings of an account, so that a full disk fails before a campaign is changed. */
  prepare(account: string): Promise<void> {
    return this.#postings.prepare(account)
  }

  /** create saves and returns a new campaign. */
  create(account: string, fields: CreateFields): SandboxCampaign {
    const now = this.#clock.now()
    const own = {
      id: this.#database.nextCampaignId(),
      accountId: account,
      name: this.#cutName(fields.name),
      listedFrom: now + this.#knobs.listedAfterMs,
    }
    const campaign = newCampaign(own, fields, now)
    this.#database.saveCampaign(campaign)
    this.all.push(campaign)
    return campaign
  }

  find(account: string, id: string): SandboxCampaign | null {
    return this.all.find((one) => one.accountId === account && one.id === id) ?? null
  }

  /** update changes and saves the given fields. A blank value means the same as in a new campaign. */
  update(campaign: SandboxCampaign, fields: UpdateFields): SandboxCampaign {
    const { targeting, name, autoBidLevel, ...rest } = fields
    const changed = { ...campaign, ...rest }
    if (name !== undefined) changed.name = this.#cutName(name)
    if (autoBidLevel !== undefined) changed.autoBidLevel = bidLevel(autoBidLevel, changed.cpc)
    if (targeting !== undefined) changed.targeting = this.#newTargeting(campaign, targeting)
    return this.#save(campaign, changed as SandboxCampaign)
  }

  /** setOutcome sets and saves spend and leads. With a monthly budget, the spend counts for the current month. */
  setOutcome(campaign: SandboxCampaign, outcome: Outcome): SandboxCampaign {
    this.#replenish(campaign)
    const { spend = campaign.spend, leads = campaign.leads } = outcome
    return this.#save(campaign, { ...campaign, spend, leads })
  }

  /** shown returns what a read or a search shows of a campaign. It first renews a monthly budget that is due. */
  async shown(campaign: SandboxCampaign): Promise<object> {
    this.#replenish(campaign)
    const count = this.isActive(campaign)
      ? await this.#postings.count(campaign.accountId, campaign.targeting)
      : 0
    const { listedFrom, spendMonth, targeting, ...fields } = campaign
    const shown = { ...fields, sponsoredPostings: count }
    return this.#knobs.showTargeting ? { ...shown, targeting } : shown
  }

  /** search returns the campaigns on one page, and the numbers that the answer of a search has beside them. */
  search(
    account: string,
    { status, start, num }: Record<'status' | 'start' | 'num', number | null>,
    name: string | null,
  ) {
    const { pageSize, listArchived, nameRule } = this.#knobs
    const isNamed = NAME_RULES[nameRule]
    const now = this.#clock.now()
    const matching = this.#inListingOrder().filter(
      (campaign) =>
        campaign.accountId === account &&
        campaign.listedFrom <= now &&
        (status === null ? listArchived || campaign.status !== 2 : campaign.status === status) &&
        (name === null || isNamed(campaign.name ?? '', name)),
    )
    const size = Math.min(num ?? pageSize, pageSize)
    const base = this.#knobs.start
    const from = base === 'ignored' || start === null ? 0 : start - base
    const rows = matching.slice(from, from + size)
    return {
      rows,
      total: matching.length,
      startNum: rows.length === 0 ? null : from + 1,
      endNum: rows.length === 0 ? null : from + rows.length,
      numRequested: num ?? pageSize,
    }
  }

  /** clear forgets all campaigns, after the database was cleared. */
  clear(): void {
    this.all.length = 0
    this.#shuffles = 0
  }

  /** #inListingOrder returns all campaigns. With the knob `unsorted`, each call begins with another campaign. */
  #inListingOrder(): SandboxCampaign[] {
    if (!this.#knobs.unsorted) return this.all
    const by = ++this.#shuffles % Math.max(1, this.all.length)
    return [...this.all.slice(by), ...this.all.slice(0, by)]
  }

  /** isActive returns whether status, dates and budget let the campaign sponsor now. */
  isActive(campaign: SandboxCampaign): boolean {
    const now = this.#clock.now()
    const { status, startDate, endDate, budget } = campaign
    const spend = spendAt(campaign, now)
    return (
      status === 1 &&
      Date.parse(startDate) <= now &&
      (endDate === null || now < Date.parse(endDate)) &&
      (budget === null || spend < budget)
    )
  }

  /** #replenish renews a monthly budget whose month has ended, in memory. */
  #replenish(campaign: SandboxCampaign): void {
    const now = this.#clock.now()
    campaign.spend = spendAt(campaign, now)
    campaign.spendMonth = monthOf(now)
  }

  /** #save saves a change before it changes the campaign in memory, so that a full disk changes nothing. */
  #save(campaign: SandboxCampaign, changed: SandboxCampaign): SandboxCampaign {
    this.#database.saveCampaign(changed)
    return Object.assign(campaign, changed)
  }

  /** #newTargeting returns the targeting of a campaign after an update with `targeting`. */
  #newTargeting(campaign: SandboxCampaign, targeting: PartialTargeting | null) {
    if (targeting === null) return null
    const old = this.#knobs.targetingPut === 'merge' ? campaign.targeting : null
    return fullTargeting({ ...old, ...targeting })
  }

  #cutName(name: string | null): string | null {
    const { nameLength } = this.#knobs
    return nameLength === null || name === null ? name : name.slice(0, nameLength)
  }
}

/** spendAt returns what counts against the budget at `now`. A monthly budget begins anew with each month in UTC. */
const spendAt = ({ period, spendMonth, spend }: SandboxCampaign, now: number) =>
  period === 1 && spendMonth !== monthOf(now) ? 0 : spend

const NAME_RULES: Record<Knobs['nameRule'], (name: string, wanted: string) => boolean> = {
  exact: (name, wanted) => name === wanted,
  substring: (name, wanted) => name.includes(wanted),
  'case-fold': (name, wanted) => name.toLowerCase().includes(wanted.toLowerCase()),
}
