// Owns the guards on money: what all managed campaigns together may spend, and what one change may add.
// A guard refuses; it never changes a value to fit (research/reconcile.md section 3.8).

import { type Amount, fromWire, showAmount } from '../lib/amount.ts'
import type { Guards } from './desired.ts'
import { type Campaign, type CampaignCreate, type CampaignUpdate, STATUS } from './port.ts'

type Spending = Pick<Campaign, 'budget' | 'endDate' | 'status'>

/** What a campaign can spend: its budget, or one month's; nothing once it ended or was archived. */
export function exposureOf({ budget, endDate, status }: Spending, now: number): Amount {
  const ended = endDate != null && Date.parse(endDate) < now
  return budget == null || ended || status === STATUS.archived ? 0 : fromWire(budget)
}

export class ExposureGuard {
  readonly #guards: Guards
  readonly #now: number
  readonly before: Amount
  after: Amount

  constructor(guards: Guards, managed: readonly Campaign[], now: number) {
    this.#guards = guards
    this.#now = now
    this.before = managed.reduce((sum, campaign) => sum + exposureOf(campaign, now), 0)
    this.after = this.before
  }

  /** Counts a change that is made in any case. */
  take(remote: Campaign, update: CampaignUpdate): void {
    this.after += this.#added(remote, update)
  }

  /** Counts a raise and answers null, or answers why it is refused. */
  raise(remote: Campaign, update: CampaignUpdate): string | null {
    const budget = update.budget == null ? null : fromWire(update.budget)
    const old = remote.budget == null ? null : fromWire(remote.budget)
    const { maxBudget, raisePercent } = this.#guards
    if (budget !== null && budget > maxBudget)
      return `guards.maxBudget is ${showAmount(maxBudget)}, the budget would be ${showAmount(budget)}`
    if (budget !== null && old !== null && (budget - old) * 100 > old * raisePercent)
      return `guards.raisePercent is ${raisePercent}, the budget would go from ${showAmount(old)} to ${showAmount(budget)}`
    return this.#reach(this.#added(remote, update))
  }

  /** The same for a new campaign. */
  create({ budget, endDate }: CampaignCreate): string | null {
    if (budget === undefined) return 'a campaign without a budget is not created: write budget'
    const { maxBudget } = this.#guards
    const amount = fromWire(budget)
    if (amount > maxBudget)
      return `guards.maxBudget is ${showAmount(maxBudget)}, the budget would be ${showAmount(amount)}`
    return this.#reach(exposureOf({ budget, endDate: endDate ?? null }, this.#now))
  }

  #added(remote: Campaign, update: CampaignUpdate): Amount {
    return exposureOf({ ...remote, ...update }, this.#now) - exposureOf(remote, this.#now)
  }

  #reach(added: Amount): string | null {
    const { maxExposure } = this.#guards
    if (added > 0 && this.after + added > maxExposure)
      return `guards.maxExposure is ${showAmount(maxExposure)}, all budgets together would be ${showAmount(this.after + added)}`
    this.after += added
    return null
  }
}
