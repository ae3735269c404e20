// Writes the campaigns of an account as a campaigns file that changes nothing. Pure.

import { writeYaml } from '../lib/yaml.ts'
import { showAmount } from './amount.ts'
import { currentTargeting, currentValue, NOTHING_KNOWN } from './field-changes.ts'
import { FIELDS, isWritable } from './fields.ts'
import type { Binding } from './port.ts'
import type { Campaign } from './service/port.ts'
import { type CanonicalTargeting, CRITERIA, filterCount, isEmpty } from './targeting.ts'

/**
 * exportCampaigns returns the text of a campaigns file. `partial` has the ids of campaigns with a value that it omits.
 */
export function exportCampaigns(campaigns: Iterable<Campaign>, bindings: readonly Binding[]) {
  const byId = new Map(bindings.map((binding) => [binding.campaignId, binding]))
  const keys = new Set(bindings.map(({ key }) => key))
  const names = new Set<string>()
  const partial: string[] = []
  const entries = [...campaigns].map((campaign) => {
    const { id } = campaign
    const bound = byId.get(id)
    const targeting = currentTargeting(campaign, bound ?? NOTHING_KNOWN)
    const carried = targeting?.externalCampaignId ?? ''
    const key = bound?.key ?? (carried !== '' && !keys.has(carried) ? carried : `campaign-${id}`)
    keys.add(key)
    const fields = fieldsOf(campaign, bound)
    const written = targeting !== null && carried === key ? targetingOf(targeting) : null
    if (fields.isPartial || (targeting !== null && written === null)) partial.push(id)
    // Two entries without a campaignId must not have the same name.
    const name = String(fields.values.name ?? '').toLowerCase()
    const needsId = bound === undefined || names.has(name)
    names.add(name)
    return {
      externalCampaignId: key,
      ...(needsId && { campaignId: id }),
      ...fields.values,
      ...written,
    }
  })
  return { text: writeYaml({ version: '1', campaigns: entries }), count: entries.length, partial }
}

function fieldsOf(campaign: Campaign, bound: Binding | undefined) {
  let isPartial = false
  const values = FIELDS.flatMap((field) => {
    const value = currentValue(campaign, bound ?? NOTHING_KNOWN, field)
    // An entry without the field means the same as a campaign without a value.
    if (value == null) return []
    const text = typeof value === 'number' ? showAmount(value) : value
    if (isWritable(field, text)) return [[field, text] as const]
    isPartial = true
    return []
  })
  const { startDate, ...rest } = Object.fromEntries(values) as Record<string, string>
  const isOrdered =
    startDate !== undefined && (rest.endDate === undefined || startDate <= rest.endDate)
  return { isPartial, values: isOrdered ? { ...rest, startDate } : rest }
}

/** targetingOf returns the keys of an entry for a targeting; null if the file cannot express it. */
function targetingOf(targeting: CanonicalTargeting): object | null {
  const codes = [...targeting.stateProvCodes, ...targeting.cities.map((city) => city.stateProvCode)]
  if (codes.some((code) => !/^[A-Z]{2}$/.test(code))) return null
  if (filterCount(targeting) === 0) return { targeting: 'all' }
  const lists = CRITERIA.filter(
    (name) => name !== 'externalCampaignId' && !isEmpty(targeting, name),
  )
  return {
    targeting: Object.fromEntries(lists.map((name) => [name, targeting[name]])),
    ...(targeting.requisitionIds.length > 0 && { allowWiden: 'true' }),
  }
}
