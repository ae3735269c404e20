// Campaigns of the service as tables, and as the JSON that the service gave.

import type { Campaign } from '../../service/port.ts'
import { printable, table } from '../render.ts'

const STATUS_NAMES: Record<number, string> = { 1: 'running', 2: 'archived', 3: 'paused' }

/** The documented fields as they were read, and every other field as it came. */
export function campaignJson({ other, ...known }: Campaign): Record<string, unknown> {
  return { ...known, ...other }
}

export function campaignTable(campaigns: readonly Campaign[], width: number | null): string {
  const rows = campaigns.map((campaign) => [
    campaign.id,
    statusName(campaign.status),
    campaign.name ?? null,
    money(campaign.budget),
    periodName(campaign.period),
    day(campaign.startDate),
    day(campaign.endDate),
    money(campaign.spend),
    campaign.sponsoredPostings ?? null,
  ])
  const headers = [
    ...['id', 'status', 'name', 'budget', 'period', 'start', 'end', 'spend', 'postings'],
  ]
  return table(headers, rows, width)
}

export function campaignText(campaign: Campaign): string {
  const shown = {
    ...campaignJson(campaign),
    status: statusName(campaign.status),
    period: periodName(campaign.period),
    budget: money(campaign.budget),
    spend: money(campaign.spend),
  }
  const facts = Object.entries(shown).filter(([, value]) => value !== undefined && value !== null)
  const size = Math.max(...facts.map(([name]) => name.length))
  return facts
    .map(([name, value]) => {
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
      return `${printable(name).padEnd(size)}  ${printable(text)}`
    })
    .join('\n')
}

function statusName(status: number | null | undefined): string | null {
  return status == null ? null : (STATUS_NAMES[status] ?? String(status))
}

function periodName(period: number | null | undefined): string | null {
  if (period === undefined) return null
  return period === null ? 'once' : period === 1 ? 'monthly' : String(period)
}

const money = (amount: number | null | undefined) => (amount == null ? null : amount.toFixed(2))
const day = (time: string | null | undefined) => time?.replace(/T00:00:00Z$/, '') ?? null
