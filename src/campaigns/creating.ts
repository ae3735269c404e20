// What follows from one entry of the file alone: what it wants of its campaign, the body of its create,
// and the postings that it selects. Pure.

import type { CampaignCreate } from '../service/port.ts'
import type { Goal, Part } from './compare.ts'
import type { Desired, DesiredCampaign } from './desired.ts'
import type { Effects, Measured } from './effects.ts'
import { FIELDS, type Field, showValue, type Values, valuesOf, wireOf } from './fields.ts'
import type { Selection } from './plan.ts'
import type { CampaignRecord } from './port.ts'
import {
  type CanonicalTargeting,
  CRITERIA,
  canonical,
  filtersOf,
  isEmpty,
  onTheWire,
  said,
  valuesIn,
} from './targeting.ts'
import { tokenOf, withToken } from './token.ts'

/** An entry without targeting selects by its id. */
export const wantedTargeting = ({ key, targeting }: DesiredCampaign): CanonicalTargeting =>
  targeting ?? canonical({ externalCampaignId: key })

export function goalOf(
  { name, values, targeting }: DesiredCampaign,
  { token }: Pick<CampaignRecord, 'token'>,
): Goal {
  return { values: { ...values, name: withToken(name, token) }, ...(targeting && { targeting }) }
}

/** Everything that a create sends, and what it leaves to the service's defaults. */
export function creationOf(
  entry: DesiredCampaign,
  { identity, generation }: { identity: string; generation: (key: string) => number },
): Pick<Part, 'values' | 'targeting' | 'changes'> & { body: CampaignCreate } {
  const { key } = entry
  const name = withToken(entry.name, tokenOf(identity, key, generation(key) + 1))
  const targeting = wantedTargeting(entry)
  const values: Values = { endDate: null, period: 'once', ...entry.values, name }
  const wire = FIELDS.map((field) => [field, wireOf(field, values[field] ?? null)] as const)
  const sent = wire.filter(([, value]) => value !== null)
  const shown = new Set<Field>([...sent.map(([field]) => field), 'period', 'startDate', 'endDate'])
  const texts = [...shown].map((field) => [field, showValue(field, values[field])])
  const filters = CRITERIA.filter((one) => !isEmpty(targeting, one))
  const lists = filters.map((one) => [`targeting.${one}`, said(valuesIn(targeting, one))])
  const all = filtersOf(targeting) === 0 ? [['postings', 'all that carry the id']] : []
  return {
    body: { ...Object.fromEntries(sent), name, targeting: onTheWire(targeting, []) },
    ...{ values, targeting },
    changes: [...texts, ...lists, ...all].map(([path = '', text = '']) => {
      const after = path === 'startDate' && values.startDate === undefined ? 'at once' : text
      return { path, before: null, after, spend: 'up' }
    }),
  }
}

/** What is known of a create by its body. */
export const createdValues = (body: object): Values => ({
  endDate: null,
  period: 'once',
  ...valuesOf(body),
})

/** What a new targeting does to the postings of a campaign; `record` null: it is new. */
export function selectionOf(
  effects: Effects,
  record: CampaignRecord | null,
  after: CanonicalTargeting,
): Selection | null {
  if (effects.latest.length === 0) return null
  const there = record === null ? [] : [record.targeting, ...record.uncertain]
  const counts = there.map((one) => (one === null ? null : effects.count(one)))
  const before = counts.includes(null) ? null : Math.max(0, ...counts.map(Number))
  return { before, after: effects.count(after) }
}

/** What the file wants to select, and what the service may select now. */
export function measured(desired: Desired, records: readonly CampaignRecord[]): Measured[] {
  const wanted = desired.campaigns.map((entry) => {
    return { key: entry.key, targeting: wantedTargeting(entry), wanted: true }
  })
  const there = records.flatMap(({ key, targeting, uncertain }) =>
    [targeting, ...uncertain].flatMap((one: CanonicalTargeting | null) =>
      one === null ? [] : { key, targeting: one, wanted: false },
    ),
  )
  return [...wanted, ...there]
}
