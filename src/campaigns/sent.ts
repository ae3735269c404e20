// Converts between request bodies and the values that we remember as sent. Pure.

import type { Entry } from './desired.ts'
import { type CampaignField, FIELDS, normalized, rawOf, shownValue, wireOf } from './fields.ts'
import { markIn, nameWithoutMark } from './mark.ts'
import type { Binding, SentFields } from './port.ts'
import type { Campaign, CampaignUpdate } from './service/port.ts'
import {
  briefTargeting,
  type CanonicalTargeting,
  canonical,
  isEmpty,
  isSame,
  readTargeting,
  wholeTargeting,
} from './targeting.ts'

/** sentOf returns the fields of a request body as values. */
export function sentOf(body: object): SentFields {
  const { targeting = null, ...fields } = body as CampaignUpdate
  const campaign = { id: '', other: fields }
  const values = FIELDS.flatMap((field) => {
    const value = shownValue(campaign, field)
    return value === undefined ? [] : [[field, value] as const]
  })
  return {
    values: Object.fromEntries(values),
    targeting: targeting === null ? null : canonical(targeting),
  }
}

/** wireOfSent returns the values that we sent, in the form of the service. */
export function wireOfSent({ values, targeting }: SentFields): Record<string, unknown> {
  const wire = Object.entries(values).map(([field, value]) => [
    field,
    wireOf(field as CampaignField, value),
  ])
  return { ...Object.fromEntries(wire), ...(targeting && { targeting: briefTargeting(targeting) }) }
}

/** bodyOf returns the body of an update for these fields of an entry. `nameOf` adds the mark that the name has now. */
export function bodyOf(
  { values, targeting }: Entry,
  fields: readonly string[],
  nameOf: (name: string) => string,
): CampaignUpdate {
  const known = FIELDS.filter((field) => fields.includes(field) && values[field] !== undefined)
  const wire = known.map((field) => {
    const value = wireOf(field, values[field] ?? null)
    return [field, field === 'name' ? nameOf(String(value)) : value] as const
  })
  const isTargeted = fields.includes('targeting') && targeting !== null
  return {
    ...Object.fromEntries(wire),
    ...(isTargeted && { targeting: wholeTargeting(targeting) }),
  }
}

/**
 * withWriteBegun returns the binding while a write runs. The values of the body count as not known, and its targeting
 * is due again at `at` (wall ms), in case the process dies before it knows the result.
 */
export function withWriteBegun(binding: Binding, body: object, at: number): Binding {
  const { targeting } = sentOf(body)
  const values = Object.entries(binding.sent.values).filter(([field]) => !(field in body))
  return {
    ...binding,
    sent: { values: Object.fromEntries(values), targeting: targeting ?? binding.sent.targeting },
    repeatAt: targeting === null ? binding.repeatAt : at,
  }
}

/** withWriteDone returns the binding after a write that the service carried out. */
export function withWriteDone(binding: Binding, body: object): Binding {
  const { values, targeting } = sentOf(body)
  const { sent } = binding
  return {
    ...binding,
    sent: {
      values: { ...sent.values, ...values },
      targeting: targeting ?? sent.targeting,
    },
  }
}

/**
 * compareWithSent compares a campaign with a body that was sent. `mismatched` are the fields that the campaign shows
 * with another value, and `hidden` are the fields that it does not show.
 */
export function compareWithSent(campaign: Campaign, body: CampaignUpdate) {
  const { values, targeting } = sentOf(body)
  const mismatched: string[] = []
  const hidden: string[] = []
  for (const field of FIELDS) {
    if (!(field in body)) continue
    const { name } = campaign
    const isName = field === 'name' && typeof name === 'string'
    const shown = isName
      ? normalized(nameWithoutMark(name, markIn(body.name)))
      : shownValue(campaign, field)
    if (rawOf(campaign, field) === undefined) hidden.push(field)
    else if (shown !== values[field]) mismatched.push(field)
  }
  const raw = rawOf(campaign, 'targeting')
  if (targeting !== null && raw === undefined) hidden.push('targeting')
  else if (targeting !== null) {
    const shown = readTargeting(raw)
    const folded = (one: unknown) => JSON.stringify(one).toLowerCase()
    if (shown === null || (!isSame(shown, targeting) && folded(shown) !== folded(targeting)))
      mismatched.push('targeting')
  }
  return { mismatched, hidden }
}

/**
 * mayDaemonSend returns whether the daemon may send a targeting. Requisition ids can select postings of another
 * external campaign id, so a targeting with requisition ids waits for a person.
 */
export const mayDaemonSend = (targeting: CanonicalTargeting) => isEmpty(targeting, 'requisitionIds')
