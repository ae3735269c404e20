// Writes the campaigns of an account as a campaigns file that asks for what is there already. Pure.

import { showAmount } from '../lib/amount.ts'
import { writeYaml } from '../lib/yaml.ts'
import type { Campaign } from '../service/port.ts'
import { FIELDS, rawOf, readText, readValue } from './fields.ts'
import type { CampaignRecord } from './port.ts'
import {
  type CanonicalTargeting,
  CRITERIA,
  carriedId,
  isEmpty,
  readTargeting,
} from './targeting.ts'
import { bareName, tokenIn } from './token.ts'

/** `skipped`: campaigns without a name, which an entry needs. */
export function exportCampaigns(campaigns: Iterable<Campaign>, records: readonly CampaignRecord[]) {
  const byId = new Map(records.map((record) => [record.campaignId, record]))
  const keys = new Set(records.map(({ key }) => key))
  // Their entries have a successor.
  const earlier = new Set(records.flatMap(({ past }) => past))
  const skipped: string[] = []
  const entries: Record<string, unknown>[] = []
  for (const campaign of campaigns) {
    const { id } = campaign
    if (earlier.has(id)) continue
    const record = byId.get(id)
    const name = bareName(String(readValue('name', campaign.name) ?? ''))
    const isPlain = tokenIn(campaign.name) !== null || name === readValue('name', campaign.name)
    if (name === '' || name.includes('[#') || !isPlain) {
      skipped.push(id)
      continue
    }
    const shown = rawOf(campaign, 'targeting')
    const targeting = shown === undefined ? null : readTargeting(shown)
    const carried = carriedId(shown)
    const isFree = carried !== '' && (record?.key === carried || !keys.has(carried))
    const key = record?.key ?? (isFree ? carried : `campaign-${id}`)
    keys.add(key)
    entries.push({
      ...{ externalCampaignId: key, name },
      ...(record === undefined && { campaignId: id }),
      ...fieldsOf(campaign),
      ...(targeting !== null && carried === key && written(targeting)),
    })
  }
  const file = { version: '1', campaigns: entries }
  return { text: writeYaml(file), count: entries.length, skipped }
}

/** A value that the file cannot say is left out, and so is not managed. */
function fieldsOf(campaign: Campaign): Record<string, string> {
  const fields = FIELDS.flatMap((field) => {
    const value = readValue(field, rawOf(campaign, field))
    const text = typeof value === 'number' ? showAmount(value) : value
    const isMeant = text != null && field !== 'name' && text !== 'running'
    return isMeant && 'value' in readText(field, text) ? [[field, text] as const] : []
  })
  const { startDate, ...rest } = Object.fromEntries(fields) as Record<string, string>
  const isOrdered =
    startDate !== undefined && (rest.endDate === undefined || startDate <= rest.endDate)
  return isOrdered ? { startDate, ...rest } : rest
}

function written(targeting: CanonicalTargeting): object {
  const lists = CRITERIA.filter(
    (name) => name !== 'externalCampaignId' && !isEmpty(targeting, name),
  )
  const codes = [...targeting.stateProvCodes, ...targeting.cities.map((city) => city.stateProvCode)]
  if (codes.some((code) => !/^[A-Z]{2}$/.test(code))) return {}
  return {
    targeting: Object.fromEntries(lists.map((name) => [name, targeting[name]])),
    ...(targeting.requisitionIds.length > 0 && { allowWiden: 'true' }),
  }
}
