// Compares what a write sent with what a read by id shows afterwards: done as sent, in another form, not done,
// or more than was sent. Pure.

import type { Campaign, CampaignCreate, CampaignUpdate } from '../service/port.ts'
import type { Part } from './compare.ts'
import { FIELDS, type Field, isFormOf, rawOf, readValue, type Value, valuesOf } from './fields.ts'
import type { CampaignRecord, CampaignWrite } from './port.ts'
import { canonical, isSame, readTargeting } from './targeting.ts'
import { tokenIn } from './token.ts'

type Written = Pick<Part, 'values' | 'targeting'>

/** Why the answer to a create cannot be the campaign that it made; null: nothing speaks against it. */
export function whyNotIts(
  { id: shownId, name }: Campaign,
  id: string,
  body: CampaignCreate,
  known: Pick<ReadonlySet<string>, 'has'>,
): string | null {
  if (shownId !== id)
    return `the service answers with campaign ${shownId} when it is asked for the new ${id}`
  if (/^0*$/.test(id)) return `the service answered with the id ${JSON.stringify(id)}`
  if (known.has(id)) return `the service answered with campaign ${id}, which was there before`
  const isIts = tokenIn(name) === tokenIn(body.name) || isFormOf('name', body.name, name)
  if (typeof name !== 'string' || isIts) return null
  return `the service answered with campaign ${id}, which has another name: ${name}`
}

/** The record once a write is seen to be done. */
export function withWritten(
  record: CampaignRecord,
  { values, targeting }: Written,
  forms: CampaignRecord['forms'],
): CampaignRecord {
  const isWritten = (field: string) =>
    field === 'targeting' ? targeting !== null : Object.hasOwn(values, field)
  const others = <T extends object>(all: T) =>
    Object.fromEntries(Object.entries(all).filter(([field]) => !isWritten(field))) as Partial<T>
  return {
    ...record,
    written: { ...record.written, ...values },
    forms: { ...others(record.forms), ...forms },
    said: others(record.said),
    ...(targeting !== null && { targeting, uncertain: [] }),
  }
}

/** The record where a write changed these fields as well: nothing is agreed about them, so what they spend more is taken back. */
export function withoutMoved(
  record: CampaignRecord,
  moved: readonly (Field | 'targeting')[],
): CampaignRecord {
  const written = Object.entries(record.written).filter(
    ([field]) => !moved.includes(field as Field),
  )
  const targeting = moved.includes('targeting') ? null : record.targeting
  return { ...record, written: Object.fromEntries(written), targeting }
}

/** `before` null: it was created. */
export function verify(
  { body, values, targeting }: Written & { body: object },
  before: Campaign | null,
  after: Campaign,
) {
  const unchanged: string[] = []
  const forms: CampaignRecord['forms'] = {}
  const unlike: string[] = []
  const had = (field: Field | 'targeting') => (before === null ? undefined : rawOf(before, field))
  const judge = (field: Field | 'targeting', raw: unknown, isForm: boolean) => {
    // It was to change, and shows what it showed before: not done, or not seen yet.
    if (textOf(had(field)) === textOf(raw)) unchanged.push(field)
    else if (isForm) forms[field] = [textOf(field === 'targeting' ? readTargeting(raw) : raw)]
    else unlike.push(field)
  }
  for (const [field, value] of Object.entries(values) as [Field, Value][]) {
    const raw = rawOf(after, field)
    const isDefault = !(field in body) && value !== null && field !== 'period'
    if (isDefault || raw === undefined || readValue(field, raw) === value) continue
    const isForm = isFormOf(field, value, raw)
    // Rounding may hide the difference, and is then a form of the new value. A day hides no other day.
    const isHidden = isForm && isFormOf(field, value, had(field)) && hides(field, value, raw)
    if (isHidden) forms[field] = [textOf(raw)]
    else judge(field, raw, isForm)
  }
  const raw = rawOf(after, 'targeting')
  if (targeting !== null && raw !== undefined) {
    const shown = readTargeting(raw)
    if (shown === null || !isSame(shown, targeting))
      judge('targeting', raw, folded(shown) === folded(targeting))
  }
  const moved = [...FIELDS, 'targeting' as const].filter((field) => {
    const [a, b] = [had(field), rawOf(after, field)]
    if (field in body || a === undefined || b === undefined) return false
    const read = (one: unknown) =>
      field === 'targeting' ? readTargeting(one) : readValue(field, one)
    return textOf(read(a)) !== textOf(read(b))
  })
  const doubt =
    moved.length > 0
      ? `a write changed ${moved.join(', ')} as well`
      : unlike.length > 0
        ? `the service shows another ${unlike.join(', ')} than was sent`
        : null
  return { unchanged, forms, doubt, moved }
}

/** Whether a form may hide what was there before. */
export function hides(field: Field, value: Value, raw: unknown): boolean {
  if (field !== 'endDate' && field !== 'startDate') return true
  return String(raw).length <= 10 && String(value).startsWith(String(raw))
}

/** An update without an answer, if the campaign shows everything that it sent; null otherwise. */
export function seenWrite(
  { body, before }: Pick<CampaignWrite, 'before'> & { body: CampaignUpdate },
  campaign: Campaign,
) {
  const values = valuesOf(body)
  const targeting = body.targeting === undefined ? null : canonical(body.targeting)
  const { forms, doubt } = verify({ body, values, targeting }, null, campaign)
  const isShown = (field: string) => {
    const raw = rawOf(campaign, field as Field)
    // As before it, and only like what was sent: nothing says that it was done.
    const isOld = field in forms && textOf(before[field]) === textOf(raw)
    return (field === 'targeting' || field in values) && raw !== undefined && !isOld
  }
  return doubt === null && Object.keys(body).every(isShown) ? { values, targeting, forms } : null
}

const textOf = (one: unknown) => JSON.stringify(one)
const folded = (one: unknown) => JSON.stringify(one).toLowerCase()
