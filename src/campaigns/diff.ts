// Compares three: what the file wants, what we last wrote, and what the service shows
// (research/reconcile.md section 3.4). Targeting is not shown, so it is compared with what we wrote.

import { type Amount, fromWire, showAmount, toWire } from '../lib/amount.ts'
import type { Campaign, CampaignUpdate } from '../service/port.ts'
import { budgetChange, type Change, endDateChange, targetingChanges } from './changes.ts'
import type { DesiredCampaign } from './desired.ts'
import type { Applied, CampaignRecord } from './port.ts'
import { isSame, onTheWire } from './targeting.ts'

export interface Diff {
  /** To be written: each change with its part of the body. */
  updates: { changes: Change[]; body: CampaignUpdate }[]
  /** Sentences: what someone changed on the service, or what only the file has while observing. */
  drift: string[]
  /** Sentences: what cannot be written by us. */
  impossible: string[]
  /** Fields where file and service agree and our memory does not: to be remembered. */
  agreed: Applied
}

type Field = 'name' | 'budget' | 'endDate' | 'startDate' | 'period' | Bid
type Bid = 'autoBidLevel' | 'cpc' | 'maxCpc' | 'paidCpaGoal'
type Value = string | number | null

const AMOUNTS: readonly Field[] = ['budget', 'cpc', 'maxCpc', 'paidCpaGoal']
const DATES: readonly Field[] = ['startDate', 'endDate']
/** Specification section 4: "Editable by a vendor: name, endDate, budget, targeting". */
const EDITABLE: readonly Field[] = ['name', 'budget', 'endDate']
const FIELDS: readonly Field[] = [
  ...EDITABLE,
  ...(['startDate', 'period', 'autoBidLevel', 'cpc', 'maxCpc', 'paidCpaGoal'] as const),
]

/** `name` is the full one, with its token. */
export function diff(
  wanted: Omit<DesiredCampaign, 'name'> & { name: string },
  record: Pick<CampaignRecord, 'applied' | 'pending'>,
  remote: Campaign,
): Diff {
  const result: Diff = { updates: [], drift: [], impossible: [], agreed: {} }
  for (const field of FIELDS) {
    const want = wanted[field]
    if (want !== undefined) compareField(result, wanted, record.applied, remote, field, want)
  }
  compareTargeting(result, wanted, record)
  return result
}

function compareField(
  result: Diff,
  { adopt }: DesiredCampaign,
  applied: Applied,
  remote: Campaign,
  field: Field,
  want: string | Amount,
): void {
  const there = remoteValue(remote, field)
  const last = applied[field]
  // Not shown: then our own last write is all there is to compare with.
  const now = there === undefined ? last : there
  if (now !== undefined && isEqual(field, want, now)) {
    if (last === undefined || !isEqual(field, want, last))
      Object.assign(result.agreed, { [field]: want })
    return
  }
  const [from, to] = [showValue(field, now ?? null), showValue(field, want)]
  const change = update(field, now ?? null, want)
  const isBrake = change.changes.every(({ spend }) => spend === 'down')
  if (last === undefined && adopt === 'observe') {
    result.drift.push(`${field}: the file says ${to}, the service ${from}; adopted to observe`)
  } else if (last !== undefined && isEqual(field, want, last)) {
    result.drift.push(`${field}: changed on the service from ${to} to ${from}; left alone`)
  } else if (!EDITABLE.includes(field)) {
    result.impossible.push(
      `${field}: ${from} cannot become ${to}: a vendor cannot change it; end this campaign and add a new entry`,
    )
  } else if (!isBrake && last !== undefined && now !== undefined && !isEqual(field, last, now)) {
    result.impossible.push(
      `${field}: changed in the file to ${to} and on the service to ${from}; write ${from} into the file and apply, then change it`,
    )
  } else result.updates.push(change)
}

function update(field: Field, now: Value, want: string | Amount): Diff['updates'][number] {
  if (field === 'budget') {
    const change = budgetChange(now as Amount | null, want as Amount)
    return { changes: [change], body: { budget: toWire(want as Amount) } }
  }
  const text = String(want)
  if (field === 'endDate')
    return { changes: [endDateChange(now as string | null, text)], body: { endDate: text } }
  const before = now === null ? null : String(now)
  const change = { path: 'name', before, after: text, spend: 'neutral' } as const
  return { changes: [change], body: { name: text } }
}

function compareTargeting(
  result: Diff,
  { targeting, adopt }: DesiredCampaign,
  { applied, pending }: Pick<CampaignRecord, 'applied' | 'pending'>,
): void {
  if (targeting === undefined) return
  const last = applied.targeting
  if (last === undefined && pending === null && adopt === 'observe') {
    result.drift.push('targeting: not shown by the service, so not known; adopted to observe')
    return
  }
  if (pending === null && last !== undefined && isSame(last, targeting)) return
  const there = last === undefined ? null : pending === null ? [last] : [last, pending]
  result.updates.push({
    changes: targetingChanges(there, targeting),
    body: { targeting: onTheWire(targeting, there) },
  })
}

function remoteValue(remote: Campaign, field: Field): Value | undefined {
  const value = remote[field]
  if (value === undefined || value === null)
    return field === 'period' && value === null ? 'once' : value
  if (field === 'period') return value === 1 ? 'monthly' : String(value)
  return AMOUNTS.includes(field) ? fromWire(Number(value)) : value
}

function isEqual(field: Field, a: Value, b: Value): boolean {
  if (a === b || a === null || b === null || !DATES.includes(field)) return a === b
  return instant(a) === instant(b)
}

/** The service may write a date in another form than we sent; without a zone it is UTC. */
export function instant(date: Value): number {
  const text = String(date)
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) || !text.includes('T') ? text : `${text}Z`)
}

function showValue(field: Field, value: Value): string {
  if (value === null) return 'nothing'
  return AMOUNTS.includes(field) ? showAmount(Number(value)) : JSON.stringify(value)
}
