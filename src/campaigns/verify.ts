// Compares what a write sent with what a read by id shows afterwards: done as sent, in another form, not done,
// or more than was sent. Pure.

import type { Campaign, CampaignCreate } from '../service/port.ts'
import { type Part, readTargeting, valuesOf } from './compare.ts'
import { FIELDS, type Field, isField, isFormOf, rawOf, readValue, type Value } from './fields.ts'
import type { CampaignRecord, CampaignWrite } from './port.ts'
import { type CanonicalTargeting, canonical, isSame } from './targeting.ts'
import { tokenIn } from './token.ts'

/** Why the answer to a create cannot be the campaign that it made; null: nothing speaks against it. */
export function whyNotIts(
  shown: Campaign,
  id: string,
  body: CampaignCreate,
  known: ReadonlySet<string>,
): string | null {
  const { name } = shown
  if (shown.id !== id)
    return `the service answers with campaign ${shown.id} when it is asked for the new ${id}`
  if (/^0*$/.test(id)) return `the service answered with the id ${JSON.stringify(id)}`
  if (known.has(id)) return `the service answered with campaign ${id}, which was there before`
  if (
    typeof name === 'string' &&
    tokenIn(name) !== tokenIn(body.name) &&
    !isFormOf('name', body.name, name)
  )
    return `the service answered with campaign ${id}, which has another name: ${name}`
  return null
}

/** The record once a write is seen to be done. */
export function withWritten(
  record: CampaignRecord,
  { values, targeting }: Pick<Part, 'values' | 'targeting'>,
  forms: CampaignRecord['forms'],
): CampaignRecord {
  const fields = [...Object.keys(values), ...(targeting === null ? [] : ['targeting'])] as (
    | Field
    | 'targeting'
  )[]
  const without = <T>(all: Partial<Record<string, T>>) =>
    Object.fromEntries(Object.entries(all).filter(([field]) => !fields.includes(field as Field)))
  return {
    ...record,
    written: { ...record.written, ...values },
    forms: { ...without(record.forms), ...forms } as CampaignRecord['forms'],
    said: without(record.said) as CampaignRecord['said'],
    ...(targeting !== null && { targeting, uncertain: [] }),
  }
}

/** `before` null: it was created. */
export function verify(
  { body, values, targeting }: Pick<Part, 'values' | 'targeting'> & { body: object },
  before: Campaign | null,
  after: Campaign,
) {
  const unchanged: string[] = []
  const forms: CampaignRecord['forms'] = {}
  const doubts: string[] = []
  const judge = (field: Field | 'targeting', isExact: boolean, isForm: boolean) => {
    const raw = rawOf(after, field)
    const had = before === null ? undefined : rawOf(before, field)
    if (raw === undefined || isExact) return
    // It was to change, and shows what it showed before: not done, or not seen yet.
    if (before !== null && had !== undefined && JSON.stringify(had) === JSON.stringify(raw))
      unchanged.push(field)
    else if (isForm)
      forms[field] = [
        field === 'targeting' ? JSON.stringify(readTargeting(raw)) : JSON.stringify(raw),
      ]
    else doubts.push(field)
  }
  for (const [field, value] of Object.entries(values) as [Field, Value][]) {
    if (!(field in body) && value !== null && field !== 'period') continue
    const raw = rawOf(after, field)
    const had = before === null ? undefined : readValue(field, rawOf(before, field))
    // Rounding may hide the difference, and is then a form of the new value.
    const isHidden = had !== undefined && isFormOf(field, value, rawOf(before as Campaign, field))
    if (
      isHidden &&
      raw !== undefined &&
      readValue(field, raw) !== value &&
      isFormOf(field, value, raw)
    )
      forms[field] = [JSON.stringify(raw)]
    else judge(field, readValue(field, raw) === value, isFormOf(field, value, raw))
  }
  if (targeting !== null) {
    const shown = readTargeting(rawOf(after, 'targeting') ?? null)
    const folded = (one: CanonicalTargeting | null) => JSON.stringify(one).toLowerCase()
    judge(
      'targeting',
      shown !== null && isSame(shown, targeting),
      folded(shown) === folded(targeting),
    )
  }
  const moved =
    before === null
      ? []
      : [...FIELDS, 'targeting' as const].filter((field) => {
          const [a, b] = [rawOf(before, field), rawOf(after, field)]
          if (field in body || a === undefined || b === undefined) return false
          return field === 'targeting'
            ? JSON.stringify(readTargeting(a)) !== JSON.stringify(readTargeting(b))
            : readValue(field, a) !== readValue(field, b)
        })
  if (moved.length > 0) doubts.push(`changed ${moved.join(', ')} as well`)
  const [first] = doubts
  const doubt =
    first === undefined
      ? null
      : moved.length > 0
        ? `a write ${doubts.at(-1)}`
        : `the service shows another ${doubts.join(', ')} than was sent`
  return { unchanged, forms, doubt }
}

/** Of a write without an answer: whether the service shows everything that it sent. */
export function isSeen({ body }: CampaignWrite, campaign: Campaign): boolean {
  const sent = Object.entries(body ?? {})
  return sent.every(([field, wire]) => {
    const raw = rawOf(campaign, field as Field | 'targeting')
    if (field === 'targeting')
      return raw !== undefined && folded(readTargeting(raw)) === folded(canonical(wire))
    const value = isField(field) ? valuesOf({ [field]: wire })[field] : undefined
    return raw !== undefined && value !== undefined && isFormOf(field as Field, value, raw)
  })
}

const folded = (one: unknown) => JSON.stringify(one).toLowerCase()
