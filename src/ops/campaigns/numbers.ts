// Writes the main numbers of campaigns for people: on the page, in status and in plans. Pure.

import { DAY } from '../../lib/clock.ts'
import { countOf, groupedMoney } from '../../lib/units.ts'
import type { CampaignNumbers, Coverage } from './run.ts'

/** totalsOf returns the sums over campaigns; null means no campaign shows the number. */
export function totalsOf(all: readonly (Coverage | null)[]): CampaignNumbers {
  const sum = (name: keyof CampaignNumbers) => {
    const known = all.flatMap((one) => one?.[name] ?? [])
    return known.length === 0 ? null : known.reduce<number>((total, one) => total + Number(one), 0)
  }
  const money = (name: keyof CampaignNumbers) => sum(name)?.toFixed(2) ?? null
  return {
    covered: sum('covered'),
    counted: sum('counted'),
    isAtMost: all.some((one) => one?.isAtMost === true),
    spent: money('spent'),
    budget: money('budget'),
    left: money('left'),
  }
}

/** budgetText writes `300.00 a month`; null if the budget is not known. */
export const budgetText = ({ budget, isMonthly }: Coverage): string | null =>
  budget === null ? null : `${groupedMoney(budget)}${isMonthly ? ' a month' : ''}`

/** countText writes our own count of postings, as `at most 57` if the service might have fewer; null if unknown. */
export const countText = ({ counted: ours, isAtMost }: CampaignNumbers) =>
  ours === null ? null : `${isAtMost ? 'at most ' : ''}${countOf(ours)}`

/** periodText says what is left of a campaign's period, or why it does not run. `now` is wall ms. */
export function periodText(
  { begins, ends, isMonthly }: Coverage,
  status: string | null,
  now: number,
): string {
  if (status !== null && status !== 'running') return status
  const daysUntil = (iso: string) => countOf(Math.ceil((Date.parse(iso) - now) / DAY), 'day')
  if (begins !== null && Date.parse(begins) > now) return `starts in ${daysUntil(begins)}`
  if (ends === null) return 'no end'
  if (Date.parse(ends) <= now) return `ended ${ends.slice(0, 10)}`
  const isRenewal = isMonthly && ends.endsWith('-01T00:00:00Z')
  return `${isRenewal ? 'renews' : 'ends'} in ${daysUntil(ends)}`
}

/** numbersText writes the numbers in one line: `40 postings covered (40 by our count), 0.00 of 1,500.00 spent`. */
export function numbersText(numbers: CampaignNumbers & { isMonthly?: boolean }): string {
  const { covered, spent, budget, left, isMonthly = false } = numbers
  const ours = countText(numbers)
  const postings = covered === null ? 'an unknown number of postings' : countOf(covered, 'posting')
  const month = isMonthly ? ' a month' : ''
  return [
    `${postings} covered${ours === null ? '' : ` (${ours} by our count)`}`,
    ...(spent === null ? [] : [`${groupedMoney(spent)} of ${groupedMoney(budget)}${month} spent`]),
    ...(left === null ? [] : [`${groupedMoney(left)} left`]),
  ].join(', ')
}

/** passedShare returns the passed part of the period, from 0 to 1; null without a begin and a later end. */
export function passedShare({ begins, ends }: Coverage, now: number): number | null {
  if (begins === null || ends === null) return null
  const [from, to] = [Date.parse(begins), Date.parse(ends)]
  return to <= from ? null : Math.min(1, Math.max(0, (now - from) / (to - from)))
}
