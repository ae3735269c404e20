// What a body says of a campaign, and what is known of the campaign once it was sent. Pure.

import type { Campaign, CampaignUpdate } from '../service/port.ts'
import type { Entry } from './desired.ts'
import { FIELDS, type Field, rawOf, shownValue, wireOf } from './fields.ts'
import type { Binding, Sent } from './port.ts'
import { briefTargeting, canonical, isSame, readTargeting, wholeTargeting } from './targeting.ts'

/** The fields of a body as values; a create leaves out what shall be none. */
export function sentOf(body: object): Sent {
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

/** What was sent, as it was sent. */
export function wireOfSent({ values, targeting }: Sent): Record<string, unknown> {
  const wire = Object.entries(values).map(([field, value]) => [
    field,
    wireOf(field as Field, value),
  ])
  return { ...Object.fromEntries(wire), ...(targeting && { targeting: briefTargeting(targeting) }) }
}

/** What an update sends for these fields of an entry. `nameOf`: the name with the mark that is there. */
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

/** A write begins: what it sends may be there from now on. `at`: wall ms. */
export function withWriteBegun(binding: Binding, body: object, at: number): Binding {
  const { targeting } = sentOf(body)
  const values = Object.entries(binding.sent.values).filter(([field]) => !(field in body))
  return {
    ...binding,
    sent: { values: Object.fromEntries(values), targeting: targeting ?? binding.sent.targeting },
    repeatAt: targeting === null ? binding.repeatAt : at,
  }
}

/** It was carried out. */
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

/** Fields of a body that a campaign does not show as they were sent, and those that it does not show at all. */
export function compareWithSent(campaign: Campaign, body: CampaignUpdate) {
  const { values, targeting } = sentOf(body)
  const mismatched: string[] = []
  const hidden: string[] = []
  for (const field of FIELDS) {
    if (!(field in body)) continue
    if (rawOf(campaign, field) === undefined) hidden.push(field)
    else if (shownValue(campaign, field) !== values[field]) mismatched.push(field)
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
