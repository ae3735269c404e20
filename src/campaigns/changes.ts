// Owns what a change is: a field before and after, and whether it can raise spending
// (research/reconcile.md section 3.6). Unknown counts as up.

import { type Amount, showAmount } from '../lib/amount.ts'
import { type CanonicalTargeting, CRITERIA, type Criterion, isEmpty } from './targeting.ts'

export type Spend = 'down' | 'neutral' | 'up' | 'unknown'

export interface Change {
  /** `budget`, `targeting.cities`. */
  path: string
  /** Text for people; null: nothing, or not known. */
  before: string | null
  after: string | null
  spend: Spend
  /** The last value of a filter goes, so that the filter itself disappears. */
  widens?: true
}

export const canRaise = ({ spend }: { spend: Spend }) => spend === 'up' || spend === 'unknown'

/** The strongest direction of several. */
export function overall(changes: readonly Change[]): Spend {
  const order: Spend[] = ['unknown', 'up', 'down', 'neutral']
  return order.find((spend) => changes.some((change) => change.spend === spend)) ?? 'neutral'
}

/** null: none on the service, whatever that means for what may be spent. */
export function budgetChange(before: Amount | null, after: Amount): Change {
  const spend = before === null ? 'unknown' : after < before ? 'down' : 'up'
  const shown = before === null ? null : showAmount(before)
  return { path: 'budget', before: shown, after: showAmount(after), spend }
}

/** null: no end. */
export function endDateChange(before: string | null, after: string): Change {
  const earlier = before === null || Date.parse(after) < Date.parse(before)
  return { path: 'endDate', before, after, spend: earlier ? 'down' : 'up' }
}

/** `there`: what the service may have now, by our own last writes; null: not known. */
export function targetingChanges(
  there: readonly CanonicalTargeting[] | null,
  after: CanonicalTargeting,
): Change[] {
  if (there === null) {
    return [{ path: 'targeting', before: null, after: show(after), spend: 'unknown' }]
  }
  const each = there.map((before) =>
    CRITERIA.flatMap((name) => criterionChange(name, before, after)),
  )
  const [first = []] = each
  if (each.length < 2) return first
  const all = each.flat()
  const widens = all.some((change) => change.widens) ? ({ widens: true } as const) : {}
  const spend = all.some(canRaise) ? 'unknown' : overall(all)
  return [{ path: 'targeting', before: null, after: show(after), spend, ...widens }]
}

function criterionChange(
  name: Criterion,
  before: CanonicalTargeting,
  after: CanonicalTargeting,
): Change[] {
  const [old, young] = [valuesOf(before, name), valuesOf(after, name)]
  const added = young.filter((value) => !old.includes(value))
  const removed = old.filter((value) => !young.includes(value))
  if (added.length + removed.length === 0) return []
  const none = name === 'requisitionIds' ? 'none' : 'any'
  const change = {
    path: `targeting.${name}`,
    before: old.join(', ') || none,
    after: young.join(', ') || none,
  }
  if (added.length > 0 && removed.length > 0) return [{ ...change, spend: 'unknown' }]
  // Requisition ids are OR-ed: they add postings. The others are AND-ed.
  if (name === 'requisitionIds') return [{ ...change, spend: added.length > 0 ? 'up' : 'down' }]
  if (isEmpty(after, name)) return [{ ...change, spend: 'up', widens: true }]
  if (isEmpty(before, name)) return [{ ...change, spend: 'down' }]
  return [{ ...change, spend: added.length > 0 ? 'up' : 'down' }]
}

function valuesOf(targeting: CanonicalTargeting, name: Criterion): string[] {
  if (name === 'cities') return targeting.cities.map((c) => `${c.name} ${c.stateProvCode}`.trim())
  if (name === 'externalCampaignId') return [targeting.externalCampaignId].filter(Boolean)
  return [...targeting[name]]
}

export function show(targeting: CanonicalTargeting): string {
  return CRITERIA.filter((name) => !isEmpty(targeting, name))
    .map((name) => `${name} ${valuesOf(targeting, name).join(', ')}`)
    .join('; ')
}
