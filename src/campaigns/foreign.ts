// Finds values that somebody changed on the service after feedsyncd sent them, and records them in the history.

import { currentValue, type FieldChange } from './field-changes.ts'
import { FIELDS, isFixed, wireOf } from './fields.ts'
import type { JudgedEntry } from './judged-entry.ts'
import type { CampaignReader, CampaignStore } from './port.ts'
import type { Campaign } from './service/port.ts'

/** withSentDates sets `sentAt` in the change of each value that somebody changed on the service. */
export function withSentDates(
  store: CampaignReader,
  { action, ...judged }: JudgedEntry,
): JudgedEntry {
  if (action === null) return { ...judged, action }
  const dated = ({ field, ...change }: FieldChange): FieldChange => {
    if (change.sent === undefined) return { field, ...change }
    const write = store.lastWrite(action.campaignId ?? '', field, 'ours')
    return { field, ...change, sentAt: write?.at ?? null }
  }
  return { ...judged, action: { ...action, changes: action.changes.map(dated) } }
}

/**
 * recordForeign writes a row into the history for each value that somebody changed on the service, once for each new
 * value. `at` is the wall ms of the look.
 */
export function recordForeign(store: CampaignStore, all: readonly JudgedEntry[], at: number): void {
  for (const { entry, campaign, known } of all)
    if (campaign !== null) recordOne(store, { key: entry.key, campaign, known, at })
}

function recordOne(
  store: CampaignStore,
  {
    key,
    campaign,
    known,
    at,
  }: { key: string; campaign: Campaign; known: JudgedEntry['known']; at: number },
): void {
  for (const field of FIELDS) {
    const sent = known.sent.values[field]
    const now = currentValue(campaign, known, field)
    if (sent === undefined || now === undefined || now === sent || isFixed(field)) continue
    const value = wireOf(field, now)
    const last = store.lastWrite(campaign.id, field, 'any')
    const earlier = Object(last?.body)[field]
    if (last?.actor === 'service' && earlier === value) continue
    const before = { [field]: last?.actor === 'service' ? earlier : wireOf(field, sent) }
    const what = { key, campaignId: campaign.id, action: 'seen', body: { [field]: value } } as const
    const row = { at, ...what, before, actor: 'service', by: 'somebody on the service' } as const
    store.end(store.begin(row), { outcome: 'done', reason: null, at })
  }
}
