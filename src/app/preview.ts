// What `campaigns preview` needs: the file, our memory of what was written, and the last uploads.

import { type Desired, type DesiredCampaign, wantedTargeting } from '../campaigns/desired.ts'
import { measure, measured, NO_POSTING } from '../campaigns/effects.ts'
import type { Selection } from '../campaigns/plan.ts'
import type { CampaignRecord } from '../campaigns/port.ts'
import { selector } from '../campaigns/targeting.ts'
import type { Config } from '../config/config.ts'
import type { FieldPaths } from '../feed/port.ts'
import type { Clock } from '../lib/clock.ts'
import { FeedsyncError } from '../lib/errors.ts'
import { feedSideOf } from './campaigns.ts'
import { ofCampaigns } from './queries.ts'

export interface PreviewRow extends Omit<FieldPaths, 'description'> {
  /** What applying the file does to it. */
  change: 'stays' | 'comes' | 'goes'
}

const FIELDS = [
  ...(['id', 'externalCampaignId', 'requisitionId', 'title', 'city'] as const),
  ...(['state', 'postalCode', 'description'] as const),
]

/** How many postings each entry selects, now and after applying. */
export async function previewAll(config: Config, desired: Desired, clock: Clock) {
  const { signal } = new AbortController()
  const records = recordsOf(config)
  const all = measured(desired, records)
  const effects = await measure(feedSideOf(config), all, clock.now(), signal, records)
  const entries = desired.campaigns.map((entry) => {
    const record = records.find(({ key }) => key === entry.key)
    const there = record === undefined ? undefined : record.targeting
    const after = targetingAfter(entry, record)
    return {
      key: entry.key,
      state: effects.stateOf(entry.key).kind,
      before: there === undefined ? 0 : there === null ? null : effects.count(there),
      after: after === null ? null : effects.count(after),
    }
  })
  const { postings, problems, latest } = effects
  return { feeds: latest.length, postings, problems, entries }
}

/** The postings that one entry selects, now or after applying. Throws `FeedsyncError` for a stranger. */
export async function previewOne(config: Config, desired: Desired, key: string, limit: number) {
  const entry = desired.campaigns.find((one) => one.key === key)
  if (entry === undefined)
    throw new FeedsyncError(`${key} is no entry of the campaigns file`, {
      hint: 'feedsyncd campaigns preview lists the entries',
    })
  const { signal } = new AbortController()
  const record = recordsOf(config).find((one) => one.key === key)
  const there = record?.targeting ?? undefined
  const then = targetingAfter(entry, record)
  const isAfter = then === null ? () => false : selector(then)
  const isBefore = there === undefined ? () => false : selector(there)
  const rows: PreviewRow[] = []
  const counts = { stays: 0, comes: 0, goes: 0 }
  let postings = 0
  const take = (values: FieldPaths) => {
    postings++
    const posting = { ...NO_POSTING, ...values }
    const [before, after] = [isBefore(posting), isAfter(posting)]
    if (!before && !after) return
    const change = before && after ? 'stays' : after ? 'comes' : 'goes'
    counts[change]++
    const { description: _, ...row } = values
    if (rows.length < limit) rows.push({ ...row, change })
  }
  const problems = await feedSideOf(config).read(FIELDS, [], take, signal)
  const known = record === undefined || there !== undefined
  const selection: Selection = {
    before: known ? counts.stays + counts.goes : null,
    after: then === null ? null : counts.stays + counts.comes,
  }
  const { comes: gained, goes: lost } = counts
  const listed = counts.stays + gained + lost
  return { key, ...selection, gained, lost, listed, postings, problems, rows }
}

/** A targeting that the entry leaves out stays as it is on the service; null: it is not known. */
const targetingAfter = (entry: DesiredCampaign, record: CampaignRecord | undefined) =>
  entry.targeting !== undefined || record === undefined || record.succeeding
    ? wantedTargeting(entry)
    : record.targeting

const recordsOf = (config: Config) => ofCampaigns(config, (known) => known.records(), [])
