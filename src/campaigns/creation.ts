// Everything that a create sends for an entry, and the mark in its name. Pure.

import type { CampaignCreate } from '../service/port.ts'
import type { Part } from './compare.ts'
import { type DesiredCampaign, wantedTargeting } from './desired.ts'
import { FIELDS, type Field, showValue, type Values, wireOf } from './fields.ts'
import type { Planning } from './planning.ts'
import { CRITERIA, filtersOf, isEmpty, onTheWire, said, valuesIn } from './targeting.ts'
import { tokenOf, withToken } from './token.ts'

/** A mark of its own: after a lost database an older campaign of the key may carry the next one. */
export function tokenFor({ input, tokens }: Planning, key: string): string {
  const { identity, generation } = input
  for (let n = generation(key) + 1; ; n++) {
    const token = tokenOf(identity, key, n)
    if (!tokens.has(token)) return token
  }
}

/** Everything that a create sends, and what it leaves to the service's defaults. */
export function creationOf(
  entry: DesiredCampaign,
  token: string,
): Pick<Part, 'values' | 'targeting' | 'changes'> & { body: CampaignCreate } {
  const name = withToken(entry.name, token)
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
