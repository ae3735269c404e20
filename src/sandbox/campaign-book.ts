// The service's campaigns: what create, search, read and update do to them, and what time does to their
// budgets. After specification sections 2 to 4; nothing here knows of HTTP.

import type { Clock } from '../lib/clock.ts'
import type { CampaignFields } from './campaign-body.ts'
import { isTargeted, type SandboxPosting } from './campaign-targeting.ts'
import {
  type CampaignKnobs,
  DEFAULT_KNOBS,
  type SandboxCampaign,
  type SandboxTargeting,
} from './campaign-types.ts'

export interface Search {
  status: number | null
  name: string | null
  start: number | null
  num: number | null
}

export class CampaignBook {
  readonly knobs: CampaignKnobs = { ...DEFAULT_KNOBS }
  /** Runs after each page of a search: a test edits there. */
  afterPage: () => void = () => {}
  readonly #clock: Clock
  readonly #postingsOf: (account: string) => readonly SandboxPosting[]
  readonly #campaigns: SandboxCampaign[] = []
  #lastId = 48_000
  #shuffles = 0

  constructor(clock: Clock, postingsOf: (account: string) => readonly SandboxPosting[]) {
    this.#clock = clock
    this.#postingsOf = postingsOf
  }

  /** All there is, committed or not, oldest first; live objects, for tests to look at and to edit. */
  get all(): SandboxCampaign[] {
    return this.#campaigns
  }

  create(account: string, fields: CampaignFields): SandboxCampaign {
    const now = this.#clock.now()
    const { commitAfterMs, listedAfterMs, foundAfterMs } = this.knobs
    const bid = fields.autoBidLevel || null
    const campaign: SandboxCampaign = {
      id: String(++this.#lastId),
      accountId: account,
      name: this.#fitted(fields.name ?? ''),
      startDate: fields.startDate ?? dateTime(now),
      endDate: fields.endDate ?? null,
      budget: fields.budget ?? null,
      autoBidLevel: bid ?? (fields.cpc == null ? 'accelerated' : null),
      cpc: fields.cpc ?? null,
      maxCpc: fields.maxCpc ?? null,
      period: fields.period ?? null,
      status: fields.status ?? 1,
      leads: 0,
      paidCpaGoal: fields.paidCpaGoal ?? null,
      targeting: fields.targeting == null ? null : whole(fields.targeting),
      spend: 0,
      spendMonth: monthOf(now),
      listedFrom: now + commitAfterMs + listedAfterMs,
      foundFrom: now + commitAfterMs + foundAfterMs,
    }
    this.#campaigns.push(campaign)
    return campaign
  }

  find(account: string, id: string): SandboxCampaign | null {
    const now = this.#clock.now()
    const found = this.#campaigns.find((c) => c.accountId === account && c.id === id)
    return found !== undefined && found.foundFrom <= now ? found : null
  }

  update(campaign: SandboxCampaign, fields: CampaignFields): void {
    const { targeting, name, ...rest } = fields
    Object.assign(campaign, rest, this.knobs.sideEffect)
    if (name != null) campaign.name = this.#fitted(name)
    if (targeting != null) campaign.targeting = this.#retargeted(campaign, targeting)
  }

  remove(id: string): void {
    const at = this.#campaigns.findIndex((campaign) => campaign.id === id)
    if (at !== -1) this.#campaigns.splice(at, 1)
  }

  /** Spends, as far as the budget reaches; the rest is lost. */
  spend(id: string, amount: number): void {
    const campaign = this.#campaigns.find((one) => one.id === id)
    if (campaign === undefined) throw new Error(`there is no campaign ${id}`)
    this.#replenish(campaign)
    const left = campaign.budget === null ? amount : campaign.budget - campaign.spend
    campaign.spend += Math.max(0, Math.min(left, amount))
  }

  /** What a read or a listing shows. */
  shown(campaign: SandboxCampaign): object {
    this.#replenish(campaign)
    const { listedFrom, foundFrom, spendMonth, targeting, ...fields } = campaign
    const sponsoredPostings = this.#sponsored(campaign)
    const shown = { ...fields, sponsoredPostings }
    return this.knobs.echoTargeting ? { ...shown, targeting } : shown
  }

  /** Rows and envelope numbers of one page. */
  search(account: string, { status, name, start, num }: Search) {
    const { pageSize, hideArchived } = this.knobs
    const now = this.#clock.now()
    const matching = this.#ordered().filter(
      (campaign) =>
        campaign.accountId === account &&
        campaign.listedFrom <= now &&
        (status === null ? !(hideArchived && campaign.status === 2) : campaign.status === status) &&
        (name === null || this.#isNamed(campaign.name, name)),
    )
    const size = Math.max(1, Math.min(num ?? pageSize, pageSize))
    const base = this.knobs.start
    const from = base === 'ignored' || start === null ? 0 : Math.max(0, start - base)
    const rows = matching.slice(from, from + size)
    return {
      rows,
      total: matching.length,
      startNum: rows.length === 0 ? null : from + 1,
      endNum: rows.length === 0 ? null : from + rows.length,
      numRequested: num ?? pageSize,
    }
  }

  #ordered(): SandboxCampaign[] {
    if (!this.knobs.unsorted) return this.#campaigns
    const by = ++this.#shuffles % Math.max(1, this.#campaigns.length)
    return [...this.#campaigns.slice(by), ...this.#campaigns.slice(0, by)]
  }

  #isNamed(name: string, wanted: string): boolean {
    switch (this.knobs.nameRule) {
      case 'exact':
        return name === wanted
      case 'substring':
        return name.includes(wanted)
      case 'case-fold':
        return name.toLowerCase().includes(wanted.toLowerCase())
      default:
        return this.knobs.nameRule satisfies never
    }
  }

  #sponsored(campaign: SandboxCampaign): number {
    const now = this.#clock.now()
    const { status, startDate, endDate, budget, spend, targeting, accountId } = campaign
    const isActive =
      status === 1 &&
      Date.parse(startDate) <= now &&
      (endDate === null || now < Date.parse(endDate)) &&
      (budget === null || spend < budget)
    if (!isActive) return 0
    return this.#postingsOf(accountId).filter((posting) => isTargeted(targeting, posting)).length
  }

  /** A monthly budget is fresh at the start of each calendar month. */
  #replenish(campaign: SandboxCampaign): void {
    const month = monthOf(this.#clock.now())
    if (campaign.period === 1 && campaign.spendMonth !== month) campaign.spend = 0
    campaign.spendMonth = month
  }

  #retargeted(campaign: SandboxCampaign, targeting: Partial<SandboxTargeting>): SandboxTargeting {
    const { targetingPut, ignoreEmptyLists } = this.knobs
    const old = campaign.targeting ?? whole({})
    const given = Object.entries(targeting).filter(
      ([, value]) => !(ignoreEmptyLists && Array.isArray(value) && value.length === 0),
    )
    const kept = Object.entries(old).filter(([key]) => {
      const sent = targeting[key as keyof SandboxTargeting]
      return targetingPut === 'merge' || (ignoreEmptyLists && Array.isArray(sent))
    })
    return whole(Object.fromEntries([...kept, ...given]))
  }

  #fitted(name: string): string {
    const { nameLength } = this.knobs
    return nameLength === null ? name : name.slice(0, nameLength)
  }
}

function whole(targeting: Partial<SandboxTargeting>): SandboxTargeting {
  return {
    cities: targeting.cities ?? [],
    externalCampaignId: targeting.externalCampaignId ?? null,
    requisitionIds: targeting.requisitionIds ?? [],
    jobDescKeywords: targeting.jobDescKeywords ?? [],
    jobTitles: targeting.jobTitles ?? [],
    postalCodes: targeting.postalCodes ?? [],
    stateProvCodes: targeting.stateProvCodes ?? [],
  }
}

const dateTime = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
const monthOf = (ms: number) => new Date(ms).toISOString().slice(0, 7)
