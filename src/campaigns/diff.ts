// Compares an entry of the file with its campaign, field by field. Pure. What is there is what the service shows, and
// where it shows nothing, what was sent last.

import type { Campaign, Targeting } from '../service/port.ts'
import type { Entry } from './desired.ts'
import {
  FIELDS,
  type Field,
  isFixed,
  rawOf,
  type Spend,
  shownValue,
  spendDirection,
  type Value,
  valueText,
} from './fields.ts'
import type { Binding } from './port.ts'
import {
  briefTargeting,
  type CanonicalTargeting,
  isSame,
  readTargeting,
  targetingSpend,
} from './targeting.ts'

/** A line of the plan. */
export interface Change {
  field: Field | 'targeting'
  /** As the file would say it, null for none; absent: it is not known. */
  from?: string | Targeting | null
  to: string | Targeting | null
  spend: Spend
}

/** The part of a binding that says what was sent, and how it is shown. */
export type Known = Pick<Binding, 'sent' | 'shown' | 'repeatAt'>

export const NOTHING_KNOWN: Known = {
  sent: { values: {}, targeting: null },
  shown: null,
  repeatAt: null,
}

/** undefined: it is neither shown nor was it ever sent. */
export function currentValue(campaign: Campaign, { sent }: Known, field: Field): Value | undefined {
  const shown = shownValue(campaign, field)
  return shown === undefined && rawOf(campaign, field) === undefined ? sent.values[field] : shown
}

/** null: it is neither shown in a form that can be read, nor known by what was sent. */
export function currentTargeting(
  campaign: Campaign,
  { sent, shown, repeatAt }: Known,
): CanonicalTargeting | null {
  const raw = rawOf(campaign, 'targeting')
  if (raw === undefined) return repeatAt === null ? sent.targeting : null
  // Unlike what was sent, yet as it was shown right after our write: the service's own form of it.
  return shown !== null && shown.is === JSON.stringify(raw) ? shown.of : readTargeting(raw)
}

/** What the file wants otherwise; of fields that it names alone. */
export function changesOf(entry: Entry, campaign: Campaign, known: Known): Change[] {
  const changes = FIELDS.flatMap((field): Change[] => {
    const want = entry.values[field]
    if (want === undefined) return []
    const there = currentValue(campaign, known, field)
    // A field that cannot be changed and is not shown cannot be compared.
    if (there === want || (there === undefined && isFixed(field))) return []
    return [changeOf(field, there, want)]
  })
  return [...changes, ...targetingChange(entry.targeting, currentTargeting(campaign, known))]
}

export function changeOf(field: Field, there: Value | undefined, want: Value): Change {
  return {
    field,
    ...(there !== undefined && { from: there === null ? null : valueText(field, there) }),
    to: want === null ? null : valueText(field, want),
    spend: spendDirection(field, there, want),
  }
}

export function targetingChange(
  want: CanonicalTargeting | null,
  there: CanonicalTargeting | null,
): Change[] {
  if (want === null || (there !== null && isSame(want, there))) return []
  const from = there === null ? {} : { from: briefTargeting(there) }
  const spend = targetingSpend(there, want)
  return [{ field: 'targeting', ...from, to: briefTargeting(want), spend }]
}

/** Fields that we sent once and that the file names no more: they stay as they are. */
export function droppedFields(entry: Entry, { sent }: Known): Field[] {
  const isLeft = (field: Field) =>
    entry.values[field] === undefined && sent.values[field] != null && !isFixed(field)
  return FIELDS.filter((field) => field !== 'name' && isLeft(field))
}
