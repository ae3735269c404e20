// Owns the guards on money: what all managed campaigns may spend, what one change may add, in several
// steps of a day too, and to how much of the feeds. A guard refuses; it never changes a value to fit
// (research/reconcile.md section 3.8).

import { type Amount, fromWire, showAmount } from '../lib/amount.ts'
import { DAY, isoTime, MINUTE } from '../lib/clock.ts'
import type { Campaign, CampaignCreate, CampaignUpdate } from '../service/port.ts'
import type { Guards } from './desired.ts'
import type { Effects } from './effects.ts'
import type { Selection } from './plan.ts'
import { type BudgetChange, type CampaignRecord, STATUS } from './port.ts'

type Spending = Pick<Campaign, 'budget' | 'endDate' | 'status'>

/** What a campaign can spend: its budget, or one month's; nothing once it ended or was archived. */
export function exposureOf({ budget, endDate, status }: Spending, now: number): Amount {
  const ended = endDate != null && Date.parse(endDate) < now
  return budget == null || ended || status === STATUS.archived ? 0 : fromWire(budget)
}

/** After a PUT whose outcome is not known: it may still arrive, on top of a later one. */
const LATE_ARRIVAL = 2 * MINUTE

/** Why another PUT has to wait; one that sends nothing but the same values again need not. */
export function tooEarly(
  unsettled: CampaignRecord['unsettled'],
  update: CampaignUpdate,
  now: number,
): string | null {
  const until = (unsettled?.at ?? Number.NEGATIVE_INFINITY) + LATE_ARRIVAL
  const sent = Object.entries(update)
  const known: Record<string, unknown> = { ...unsettled?.body }
  if (now >= until || sent.every(([k, v]) => JSON.stringify(known[k]) === JSON.stringify(v)))
    return null
  return `an earlier write may still arrive; nothing else is sent before ${isoTime(until)}`
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

  /** Counts a raise and answers null, or answers why it is refused; `budgets`: our own changes of it. */
  raise(remote: Campaign, update: CampaignUpdate, budgets: readonly BudgetChange[]): string | null {
    const budget = update.budget == null ? null : fromWire(update.budget)
    const there = remote.budget == null ? null : fromWire(remote.budget)
    // Against the budget of a day ago, so that several small raises count as one.
    const old = budgets.find(({ at }) => at > this.#now - DAY)?.from ?? there
    const { maxBudget, raisePercent } = this.#guards
    if (budget !== null && budget > maxBudget)
      return `guards.maxBudget is ${showAmount(maxBudget)}, the budget would be ${showAmount(budget)}`
    if (budget !== null && old !== null && (budget - old) * 100 > old * raisePercent)
      return `guards.raisePercent is ${raisePercent}, the budget would go from ${showAmount(old)} to ${showAmount(budget)} within 24 hours`
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

  /** Why a selection is too large a part of the feeds, or null. */
  share(selected: Selection | null, { latest, postings, problems }: Effects): string | null {
    const { maxShareOfFeed: limit, fromPostings } = this.#guards
    if (selected === null || latest.length === 0 || limit >= 1) return null
    const { before, after } = selected
    if (after === null) return `guards.maxShareOfFeed cannot be checked: ${problems.join('; ')}`
    const isMore = after > (before ?? 0) && after > postings * limit
    return isMore && postings >= fromPostings
      ? `guards.maxShareOfFeed is ${limit}, it would select ${after} of ${postings} postings`
      : null
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
