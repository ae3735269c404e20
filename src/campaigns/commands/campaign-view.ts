// Writes campaigns of the service as tables and as JSON.

import { factsText, table } from '../../terminal/render.ts'
import { type CampaignField, FIELDS, shownValue, valueText } from '../fields.ts'
import type { Campaign } from '../service/port.ts'

/** campaignJson returns the documented fields as we read them, and every other field as the service sent it. */
export function campaignJson({ other, ...known }: Campaign): Record<string, unknown> {
  return { ...known, ...other }
}

export function campaignTable(campaigns: readonly Campaign[], width: number | null): string {
  const columns = ['status', 'name', 'budget', 'period', 'startDate', 'endDate'] as const
  const rows = campaigns.map((campaign) => [
    campaign.id,
    ...columns.map((field) => shown(campaign, field)),
    campaign.spend?.toFixed(2) ?? null,
    campaign.sponsoredPostings ?? null,
  ])
  const names = columns.map((field) => field.replace('Date', ''))
  return table(['id', ...names, 'spend', 'postings'], rows, width)
}

export function campaignText(campaign: Campaign): string {
  const read = FIELDS.map((field) => [field, shown(campaign, field)] as const)
  const known = read.filter(([, value]) => value !== null)
  const all = { ...campaignJson(campaign), ...Object.fromEntries(known) }
  const text = (value: unknown) => {
    if (value === undefined || value === null) return null
    return typeof value === 'object' ? JSON.stringify(value) : String(value)
  }
  return factsText(Object.entries(all).map(([name, value]) => [name, text(value)]))
}

function shown(campaign: Campaign, field: CampaignField): string | null {
  const value = shownValue(campaign, field)
  return value == null ? null : valueText(field, value)
}
