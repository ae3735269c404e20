// Writes the campaigns of an account as a campaigns file that asks for what is there already. Pure.

import { showAmount } from '../lib/amount.ts'
import { writeYaml } from '../lib/yaml.ts'
import type { Campaign } from '../service/port.ts'
import { FIELDS, type Field, rawOf, readValue } from './fields.ts'
import type { CampaignRecord } from './port.ts'
import { type CanonicalTargeting, CRITERIA, isEmpty, readTargeting } from './targeting.ts'
import { bareName, tokenIn } from './token.ts'

export interface Exported {
  /** The file. */
  text: string
  count: number
  /** Campaigns without a name, which an entry needs. */
  skipped: string[]
}

/** What the file can say of each field: a value beyond it is left out, and so is not managed. */
const SAYABLE: Partial<Record<Field, (value: unknown) => string | null>> = {
  budget: (value) => money(value, 2),
  cpc: (value) => money(value, 4),
  maxCpc: (value) => money(value, 4),
  paidCpaGoal: (value) => money(value, 4),
  period: (value) => (value === 'once' || value === 'monthly' ? value : null),
  startDate: date,
  endDate: date,
  autoBidLevel: (value) => (value === 'accelerated' || value === 'standard' ? value : null),
  status: (value) => (value === 'paused' ? value : null),
}

export function exportCampaigns(
  campaigns: Iterable<Campaign>,
  records: readonly CampaignRecord[],
): Exported {
  const byId = new Map(records.map((record) => [record.campaignId, record]))
  const keys = new Set(records.map(({ key }) => key))
  const skipped: string[] = []
  const entries: Record<string, unknown>[] = []
  for (const campaign of campaigns) {
    const { id } = campaign
    const record = byId.get(id)
    const name = bareName(String(readValue('name', campaign.name) ?? ''))
    const isPlain = tokenIn(campaign.name) !== null || name === readValue('name', campaign.name)
    if (name === '' || name.includes('[#') || !isPlain) {
      skipped.push(id)
      continue
    }
    const shown = rawOf(campaign, 'targeting')
    const targeting = shown === undefined ? null : readTargeting(shown)
    const carried = targeting?.externalCampaignId ?? ''
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

function fieldsOf(campaign: Campaign): Record<string, string> {
  const fields = FIELDS.flatMap((field) => {
    const value = readValue(field, rawOf(campaign, field))
    const said = value == null ? null : (SAYABLE[field]?.(value) ?? null)
    return said === null ? [] : [[field, said] as const]
  })
  const { startDate, ...rest } = Object.fromEntries(fields)
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

function money(value: unknown, decimals: 2 | 4): string | null {
  const isSayable = typeof value === 'number' && value > 0 && (decimals === 4 || value % 100 === 0)
  return isSayable ? showAmount(value) : null
}

function date(value: unknown): string | null {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) ? value : null
}
