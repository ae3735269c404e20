// The one ledger of money: what each campaign may spend at most, what all may spend together, and what a
// guard says of more. Pessimistic: of all that a campaign may be like, the costliest counts; what is not
// known is unlimited. A guard refuses; it never changes a value to fit. Plan, apply and status use it.

import { type Amount, showAmount } from '../lib/amount.ts'
import type { Campaign } from '../service/port.ts'
import { valueNow } from './compare.ts'
import type { Guards } from './desired.ts'
import type { Effects } from './effects.ts'
import {
  endsBy,
  type Field,
  rawOf,
  readValue,
  type Value,
  type Values,
  valuesOf,
} from './fields.ts'
import { type Held, heldBy, type Selection } from './plan.ts'
import type { CampaignRecord, CampaignWrite } from './port.ts'

/** null: nothing limits it, or the limit is not known. */
export type MaySpend = Amount | null

export interface Spender {
  /** null: not one of ours. */
  record: CampaignRecord | null
  /** As it was listed and read, in this look. */
  shown: readonly Campaign[]
  /** Writes that may have arrived, or may still arrive. */
  open: readonly CampaignWrite[]
}

/** A monthly budget without an end counts for this long, one with a later end too. */
const MOST_MONTHS = 12

/** What a campaign may spend from now on: its budget, or one a month until its end. */
export function maySpend({ record, shown, open }: Spender, now: number): MaySpend {
  const known = (field: 'budget' | 'endDate' | 'period' | 'status'): Value[] => {
    const values = shown.map((one) =>
      record === null ? readValue(field, rawOf(one, field)) : valueNow(record, one, field),
    )
    const sent = open.map(({ body }) => valuesOf(body ?? {})[field])
    return [...values, ...sent, record?.written[field]].filter((one) => one !== undefined)
  }
  const states = known('status')
  if (states.length > 0 && states.every((state) => state === 'archived')) return 0
  return amountOf(known('budget'), known('endDate'), known('period'), now)
}

/** The same for a campaign that has these values and no others. */
export const maySpendWith = ({ budget = null, endDate = null, period }: Values, now: number) =>
  amountOf([budget], [endDate], [period ?? 'once'], now)

function amountOf(
  budgets: readonly Value[],
  ends: readonly Value[],
  periods: readonly Value[],
  now: number,
): MaySpend {
  const isEndless = ends.length === 0 || ends.includes(null)
  const end = isEndless ? null : (ends.map(String).sort().at(-1) ?? null)
  if (end !== null && endsBy(end) < now) return 0
  if (budgets.length === 0 || budgets.includes(null)) return null
  // A period that is not known may count its budget any number of times.
  if (periods.some((period) => period !== 'once' && period !== 'monthly')) return null
  const budget = Math.max(...budgets.map(Number))
  const isOnce = periods.length > 0 && periods.every((period) => period === 'once')
  return isOnce ? budget : budget * monthsUntil(end, now)
}

/** Calendar months from now to the end, the first and the last included. */
function monthsUntil(end: string | null, now: number): number {
  if (end === null) return MOST_MONTHS
  const [from, to] = [new Date(now), new Date(endsBy(end))]
  const months =
    (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth() + 1
  return Math.min(MOST_MONTHS, Math.max(1, months))
}

/** null where one of them is. */
export const sumOf = (all: readonly MaySpend[]): MaySpend =>
  all.includes(null) ? null : all.reduce((sum: number, one) => sum + Number(one), 0)

export const showMoney = (amount: MaySpend) => (amount === null ? 'unlimited' : showAmount(amount))

const CHANGE_GUARD = 'change the guard or the entry in the file'

/** `guard`: or the field of the entry that is missing or past. */
const refused = (guard: keyof Guards | Field, reason: string, needs = CHANGE_GUARD) =>
  heldBy('guard', reason, needs, guard)

const tooLarge = (limit: Amount, budget: Value) => {
  const would = `the budget would be ${showAmount(Number(budget))}`
  return refused('maxBudget', `guards.maxBudget is ${showAmount(limit)}, ${would}`)
}

/** The entry of a campaign that has no id yet: its key may be the id of another campaign. */
export const pending = (key: string) => `entry ${key}`

export class Ledger {
  readonly #guards: Guards
  readonly #now: number
  /** Writes of the last day. */
  readonly #day: readonly CampaignWrite[]
  /** By campaign id, or what `pending` says for what has none yet. */
  readonly #amounts = new Map<string, MaySpend>()
  #creates: number

  constructor(guards: Guards, day: readonly CampaignWrite[], now: number) {
    this.#guards = guards
    this.#day = day
    this.#now = now
    this.#creates = day.filter(({ action }) => action === 'create').length
  }

  set(id: string, amount: MaySpend): void {
    this.#amounts.set(id, amount)
  }

  get(id: string): MaySpend | undefined {
    return this.#amounts.get(id)
  }

  total(): MaySpend {
    return sumOf([...this.#amounts.values()])
  }

  /**
   * Counts a raise and answers null, or answers the guard that refuses it. `had`: its budget now, and the one
   * that was agreed.
   */
  raise(
    id: string,
    after: MaySpend,
    had: readonly (Value | undefined)[],
    body: Values,
  ): Held | null {
    const { maxBudget, raisePercent } = this.#guards
    const budget = body.budget
    if (budget === null)
      return refused('budget', 'without a budget nothing limits what it spends: write budget')
    if (budget !== undefined) {
      if (Number(budget) > maxBudget) return tooLarge(maxBudget, budget)
      const day = this.#day.flatMap((write) => {
        const sent = valuesOf(write.body ?? {}).budget
        if (write.campaignId !== id || sent == null) return []
        // What was agreed counts too: somebody may have raised it in between.
        const { budget: before, agreedBudget } = write.before
        return [sent, readValue('budget', before), readValue('budget', agreedBudget)]
      })
      const known = [...had, ...day].filter((one) => typeof one === 'number')
      // Against the least of a day, so that several small raises count as one.
      const least = known.length === 0 ? null : Math.min(...known)
      if (least === null)
        return refused(
          'raisePercent',
          'the service does not show its budget, so guards.raisePercent cannot be checked',
          'set the budget on the service, and leave it out of the entry',
        )
      if ((Number(budget) - least) * 100 > least * raisePercent)
        return refused(
          'raisePercent',
          `guards.raisePercent is ${raisePercent}, the budget would go from ${showAmount(least)} to ${showAmount(Number(budget))} within 24 hours`,
          // No percentage of nothing is enough.
          least === 0 ? 'set a budget above 0 on the service first' : CHANGE_GUARD,
        )
    }
    return this.#reach(id, after)
  }

  /** The same for a new campaign. */
  create(key: string, values: Values): Held | null {
    const { maxBudget, createsPerDay } = this.#guards
    const { budget, endDate } = values
    if (budget == null)
      return refused('budget', 'a campaign without a budget is not created: write budget')
    if (Number(budget) > maxBudget) return tooLarge(maxBudget, budget)
    if (endDate != null && Date.parse(String(endDate)) <= this.#now)
      return refused('endDate', `endDate ${String(endDate)} is past: write a later one`)
    if (this.#creates >= createsPerDay) {
      const needs = createsPerDay === 0 ? CHANGE_GUARD : `wait a day, or ${CHANGE_GUARD}`
      return refused('createsPerDay', `guards.createsPerDay is ${createsPerDay}`, needs)
    }
    const isTooMuch = this.#reach(pending(key), maySpendWith(values, this.#now))
    if (isTooMuch === null) this.#creates++
    return isTooMuch
  }

  /** Why a selection is too large a part of the feeds, or null. */
  share(selected: Selection | null, { latest, postings, problems }: Effects): Held | null {
    const { maxShareOfFeed: limit, fromPostings } = this.#guards
    if (selected === null || latest.length === 0 || limit >= 1) return null
    const { before, after } = selected
    // Of an empty export everything is nothing: what it selects is seen when the postings are back.
    const why = after === null ? problems.join('; ') : 'no posting is in the last uploads'
    if (after === null || postings === 0)
      return refused('maxShareOfFeed', `guards.maxShareOfFeed cannot be checked: ${why}`)
    const isMore = after > (before ?? 0) && after / postings > limit
    return isMore && postings >= fromPostings
      ? refused(
          'maxShareOfFeed',
          `guards.maxShareOfFeed is ${limit}, it would select ${after} of ${postings} postings`,
        )
      : null
  }

  #reach(id: string, after: MaySpend): Held | null {
    const { maxExposure } = this.#guards
    const before = this.#amounts.get(id) ?? 0
    if (after !== null && before !== null && after <= before) return null
    const others = [...this.#amounts].filter(([one]) => one !== id)
    const unknown = after === null ? id : others.find(([, amount]) => amount === null)?.[0]
    if (unknown !== undefined)
      return refused(
        'maxExposure',
        `what campaign ${unknown} may spend is not limited or not known, so guards.maxExposure cannot be checked`,
        `give campaign ${unknown} a budget, in its entry or on the service, or have it archived there`,
      )
    const total = Number(sumOf([after, ...others.map(([, amount]) => amount)]))
    if (total > maxExposure)
      return refused(
        'maxExposure',
        `guards.maxExposure is ${showAmount(maxExposure)}, all campaigns together might spend ${showAmount(total)}`,
      )
    this.#amounts.set(id, after)
    return null
  }
}
