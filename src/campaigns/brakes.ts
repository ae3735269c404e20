// Which campaigns may have to be reduced, by the file and what is remembered alone: no listing, no guard and no
// other entry is asked. Each is read by its id then. Pure.

import type { Goal } from './compare.ts'
import { goalOf } from './creating.ts'
import type { Desired } from './desired.ts'
import { FIELDS } from './fields.ts'
import type { CampaignRecord, CampaignWrite } from './port.ts'
import { isSame } from './targeting.ts'

export interface Due {
  record: CampaignRecord
  goal: Goal
  why: string
}

export function dueForReduction(
  desired: Desired,
  records: readonly CampaignRecord[],
  writes: readonly CampaignWrite[],
): Due[] {
  const open = Map.groupBy(writes, ({ campaignId }) => campaignId)
  const byKey = new Map(records.map((record) => [record.key, record]))
  const byId = new Map(records.map((record) => [record.campaignId, record]))
  const listed = new Set([...desired.campaigns, ...desired.removed].map(({ key }) => key))
  const due: Due[] = []
  const consider = (record: CampaignRecord, goal: Goal, why: string) => {
    const late = open.get(record.campaignId)?.some(({ outcome }) => outcome === 'unknown')
    if (record.succeeding || late === true || differs(goal, record)) due.push({ record, goal, why })
  }
  for (const entry of desired.campaigns) {
    const renamed = entry.campaignId === null ? undefined : byId.get(entry.campaignId)
    const known = byKey.get(entry.key)
    const record =
      known ?? (renamed !== undefined && !listed.has(renamed.key) ? renamed : undefined)
    if (record === undefined || (entry.campaignId ?? record.campaignId) !== record.campaignId)
      continue
    const goal: Goal = record.succeeding ? { values: { status: 'paused' } } : goalOf(entry, record)
    consider(record, goal, record.succeeding ? 'its successor takes its place' : 'the file changed')
  }
  for (const { key, endDate } of desired.removed) {
    const record = byKey.get(key)
    if (record !== undefined) consider(record, { values: { endDate } }, 'listed under removed')
  }
  return due
}

/** The file says something else than was agreed last. */
function differs(
  { values, targeting }: Goal,
  { written, targeting: last, uncertain }: CampaignRecord,
): boolean {
  const isMoved = FIELDS.some(
    (field) => values[field] !== undefined && values[field] !== written[field],
  )
  return (
    isMoved ||
    uncertain.length > 0 ||
    (targeting !== undefined && (last === null || !isSame(last, targeting)))
  )
}
