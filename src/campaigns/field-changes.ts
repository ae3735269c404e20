// Compares an entry of the file with its campaign, field by field. Pure. The current value of a field is what the
// service shows, or what we sent last if the service does not show the field.

import type { Entry } from './desired.ts'
import {
  type CampaignField,
  FIELDS,
  isFixed,
  normalized,
  rawOf,
  type Spend,
  shownValue,
  spendDirection,
  type Value,
  valueText,
} from './fields.ts'
import { nameWithoutMark } from './mark.ts'
import type { KnownCampaign } from './port.ts'
import type { Campaign, Targeting } from './service/port.ts'
import {
  briefTargeting,
  type CanonicalTargeting,
  isSame,
  readTargeting,
  targetingSpend,
} from './targeting.ts'

/** FieldChange is a line of the plan. */
export interface FieldChange {
  field: CampaignField | 'targeting'
  /** The current value, written as in the file; null if the field has no value; absent if the value is not known. */
  from?: string | Targeting | null
  to: string | Targeting | null
  spend: Spend
  /** The amount is for each month. */
  isMonthly?: true
  /** The value that we sent last, written as in the file, if somebody changed it on the service since then. */
  sent?: string | null
  /** Wall ms at which we sent the value in `sent`; null if it is not known. */
  sentAt?: number | null
}

export const NOTHING_KNOWN: KnownCampaign = {
  sent: { values: {}, targeting: null },
  shown: null,
  repeatAt: null,
  mark: null,
}

/**
 * currentValue returns the value that a field has now. It is undefined if the shown value cannot be read, or if the
 * service does not show the field and we never sent it.
 */
export function currentValue(
  campaign: Campaign,
  { sent, mark }: KnownCampaign,
  field: CampaignField,
): Value | undefined {
  if (field === 'name' && mark !== null && typeof campaign.name === 'string')
    return normalized(nameWithoutMark(campaign.name, mark))
  const shown = shownValue(campaign, field)
  return shown === undefined && rawOf(campaign, field) === undefined ? sent.values[field] : shown
}

/** currentTargeting returns the targeting that a campaign has now; null if it is not known. */
export function currentTargeting(
  campaign: Campaign,
  { sent, shown, repeatAt }: KnownCampaign,
): CanonicalTargeting | null {
  const raw = rawOf(campaign, 'targeting')
  if (raw === undefined) return repeatAt === null ? sent.targeting : null
  // The service shows the same text as right after our write: this is its own form of what we sent.
  return shown !== null && shown.text === JSON.stringify(raw) ? shown.targeting : readTargeting(raw)
}

/** changesOf returns the changes that the file asks for, in the fields that it names. */
export function changesOf(entry: Entry, campaign: Campaign, known: KnownCampaign): FieldChange[] {
  const changes = FIELDS.flatMap((field): FieldChange[] => {
    const want = entry.values[field]
    if (want === undefined) return []
    const current = currentValue(campaign, known, field)
    // A fixed field that the service does not show cannot be compared.
    if (current === want || (current === undefined && isFixed(field))) return []
    const { [field]: sent } = known.sent.values
    const isChangedThere = sent !== undefined && current !== undefined && current !== sent
    return [
      {
        ...changeOf(field, current, want),
        ...(field === 'budget' && isMonthly(entry, campaign) && { isMonthly: true as const }),
        ...(isChangedThere && { sent: sent === null ? null : valueText(field, sent) }),
      },
    ]
  })
  return [...changes, ...targetingChange(entry.targeting, currentTargeting(campaign, known))]
}

/** isMonthly returns whether an entry's budget is for each month. */
export const isMonthly = ({ values }: Entry, campaign: Campaign | null): boolean =>
  (values.period ?? (campaign === null ? null : shownValue(campaign, 'period'))) === 'monthly'

export function changeOf(
  field: CampaignField,
  current: Value | undefined,
  want: Value,
): FieldChange {
  return {
    field,
    ...(current !== undefined && { from: current === null ? null : valueText(field, current) }),
    to: want === null ? null : valueText(field, want),
    spend: spendDirection(field, current, want),
  }
}

/** targetingChange returns the change of a targeting; none if the targeting is not managed or stays the same. */
export function targetingChange(
  want: CanonicalTargeting | null,
  current: CanonicalTargeting | null,
): FieldChange[] {
  if (want === null || (current !== null && isSame(want, current))) return []
  const from = current === null ? {} : { from: briefTargeting(current) }
  const spend = targetingSpend(current, want)
  return [{ field: 'targeting', ...from, to: briefTargeting(want), spend }]
}

/** droppedFields returns the fields that we once sent and that the file no longer names. Their values stay. */
export function droppedFields(entry: Entry, { sent }: KnownCampaign): CampaignField[] {
  const isLeft = (field: CampaignField) =>
    entry.values[field] === undefined && sent.values[field] != null && !isFixed(field)
  return FIELDS.filter((field) => field !== 'name' && isLeft(field))
}
