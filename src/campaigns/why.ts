// Answers why campaigns cover a posting of the last uploads or leave it out.

import type { Config } from '../config/config.ts'
import type { FieldPaths } from '../domain/mapping.ts'
import { nearest } from '../lib/nearest.ts'
import type { Entry } from './desired.ts'
import { NO_POSTING } from './effects.ts'
import { feedSideOf } from './feed-side.ts'
import { lastKnown } from './last-known.ts'
import { POSTING_FIELDS, type PostingRow, rowOf } from './posting-rows.ts'
import { type PostingVerdict, verdictOf } from './reasons.ts'

/** WhyEntry says what an entry's campaign does with a posting. */
export interface WhyEntry extends PostingVerdict {
  key: string
  campaignId: string | null
  /** The state of the campaign on the service, such as `running`; null if it is not known, or without a campaign. */
  status: string | null
  /** The verdict of the targeting in the file, if that targeting is not sent yet and decides otherwise; else null. */
  later: PostingVerdict | null
}

export interface WhyPosting {
  posting: PostingRow
  /** The entries that take the posting, or carry its id. */
  entries: WhyEntry[]
  /** The number of the other entries, which leave it out because of their external campaign id. */
  others: number
  /** The entry with the most similar id, if no entry has the posting's id; null if none is similar. */
  near: string | null
}

export interface Why {
  id: string
  /** The number of feeds that were uploaded. */
  feeds: number
  /** True if counts are upper limits, because the service might not keep the postings of all feeds. */
  isAtMost: boolean
  postings: WhyPosting[]
  /** One sentence for each feed that could not be read. */
  problems: string[]
}

/** The most postings that one id is explained for. */
const MOST_POSTINGS = 5

/** whyOf explains the postings of the last uploads with this id or requisition id. */
export async function whyOf(
  config: Config,
  { id, entries }: { id: string; entries: readonly Entry[] },
  signal: AbortSignal,
): Promise<Why> {
  const found: FieldPaths[] = []
  const take = (values: FieldPaths) => {
    const hasId = values.id?.trim() === id || values.requisitionId?.trim() === id
    if (hasId && found.length < MOST_POSTINGS) found.push(values)
  }
  const side = feedSideOf(config)
  const problems = await side.read({ fields: POSTING_FIELDS, needed: [], take }, signal)
  const { bindings, run } = lastKnown(config)
  const sent = new Map(bindings.map((one) => [one.key, one.sent.targeting]))
  const seen = new Map(run?.entries.map((one) => [one.key, one]))
  const explained = found.map((posting): WhyPosting => {
    const whole = { ...NO_POSTING, ...posting }
    const all = entries.flatMap((entry): WhyEntry[] => {
      const { key, targeting } = entry
      const inForce = sent.get(key) ?? targeting
      if (inForce === null) return []
      const verdict = verdictOf(inForce, whole)
      const next = targeting === null ? verdict : verdictOf(targeting, whole)
      if (!verdict.isTaken && !next.isTaken && whole.externalCampaignId.trim() !== key) return []
      const { campaignId = entry.campaignId, status = null } = seen.get(key) ?? {}
      const later = next.isTaken === verdict.isTaken ? null : next
      return [{ key, campaignId, status, ...verdict, later }]
    })
    const keys = entries.map(({ key }) => key)
    const carried = whole.externalCampaignId.trim()
    const near = keys.includes(carried) || carried === '' ? null : nearest(carried, keys)
    return { posting: rowOf(posting), entries: all, others: entries.length - all.length, near }
  })
  return { id, feeds: side.latest.length, isAtMost: side.isAtMost, postings: explained, problems }
}
