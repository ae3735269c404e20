// Owns what a change is: a field before and after, in words, and whether it can raise spending; and the
// changes of a targeting. Unknown counts as up.

import { canRaise, overall, type Spend } from './fields.ts'
import {
  type CanonicalTargeting,
  CRITERIA,
  type Criterion,
  isEmpty,
  valuesIn,
} from './targeting.ts'

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
  const spend = all.some((one) => canRaise(one.spend))
    ? 'unknown'
    : overall(all.map((one) => one.spend))
  return [{ path: 'targeting', before: null, after: show(after), spend, ...widens }]
}

function criterionChange(
  name: Criterion,
  before: CanonicalTargeting,
  after: CanonicalTargeting,
): Change[] {
  const [old, young] = [valuesIn(before, name), valuesIn(after, name)]
  const added = young.filter((value) => !old.includes(value))
  const removed = old.filter((value) => !young.includes(value))
  if (added.length + removed.length === 0) return []
  const none = name === 'requisitionIds' ? 'none' : 'any'
  const change = {
    path: `targeting.${name}`,
    before: said(old) || none,
    after: said(young) || none,
  }
  if (added.length > 0 && removed.length > 0) return [{ ...change, spend: 'unknown' }]
  // Requisition ids are OR-ed: they add postings. The others are AND-ed.
  if (name === 'requisitionIds') return [{ ...change, spend: added.length > 0 ? 'up' : 'down' }]
  if (isEmpty(after, name)) return [{ ...change, spend: 'up', widens: true }]
  if (isEmpty(before, name)) return [{ ...change, spend: 'down' }]
  return [{ ...change, spend: added.length > 0 ? 'up' : 'down' }]
}

/** Values that hold a comma are quoted, so that one is not taken for two. */
export const said = (values: readonly string[]) =>
  values.map((value) => (/[,"]/.test(value) ? JSON.stringify(value) : value)).join(', ')

export function show(targeting: CanonicalTargeting): string {
  return CRITERIA.filter((name) => !isEmpty(targeting, name))
    .map((name) => `${name} ${said(valuesIn(targeting, name))}`)
    .join('; ')
}
