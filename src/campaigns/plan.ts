// What would be done, as plain data: the text for people is rendered from it, and apply sends nothing
// that is not in it.

import type { CampaignCreate, CampaignUpdate } from '../service/port.ts'
import type { Change, Spend } from './changes.ts'
import type { Applied } from './port.ts'

/** Postings that a campaign's targeting selects of the last uploads; null: not known. */
export interface Selection {
  before: number | null
  after: number | null
}

export interface PlanItem {
  key: string
  /** null before it is created. */
  campaignId: string | null
  /** `blocked` and `unknown` wait for a person; `adopt` and `agree` write nothing to the service. */
  action: 'create' | 'update' | 'adopt' | 'agree' | 'blocked' | 'unknown'
  spend: Spend
  changes: Change[]
  create: CampaignCreate | null
  update: CampaignUpdate | null
  /** What is to be remembered once it is done. */
  remember: Applied
  /** Why it is blocked or unknown, or why it is done at all where the file does not say it. */
  reason: string | null
  /** The command or edit that moves it on. */
  needs: string | null
  /** Digest of what the service showed; null without a campaign there. */
  seen: string | null
  /** null where the selection stays as it is, or there is no feed to count in. */
  postings: Selection | null
}

/** Feeds and campaigns side by side; times are ISO 8601 UTC. */
export interface FeedFindings {
  /** Of the last uploads together. */
  postings: number
  uploads: { feed: string; version: number; uploadedAt: string | null; postings: number }[]
  /** Why postings could not be counted. */
  problems: readonly string[]
  /** Entries that no feed ever carried. */
  waiting: { key: string; startsSoon: boolean }[]
  /** Entries that the last `uploads` feeds do not carry any more; pinned requisitions may still spend. */
  gone: { key: string; kind: string; uploads: number; since: string | null; pinned: number }[]
  /** Pinned requisitions that no posting has. */
  stale: { key: string; requisitionIds: string[] }[]
  /** Postings that two entries select. */
  overlaps: { keys: string; postings: number }[]
  /** Postings carry the id, and its campaign cannot sponsor them. */
  dead: { key: string; campaignId: string; why: string; postings: number }[]
  /** Ids that feeds carry and nothing manages: no budget is known for them, so none is ever created. */
  orphans: { externalCampaignId: string; postings: number; nearest: string | null }[]
}

export interface Plan {
  planVersion: 1
  /** ISO 8601 UTC. */
  createdAt: string
  /** SHA-256 of the campaigns file. */
  fileSha256: string
  listing: { complete: boolean; campaigns: number; reason: string | null }
  /** Why nothing at all may be written; null otherwise. */
  stopped: string | null
  /** In the order in which they are done; what waits for a person comes last. */
  items: PlanItem[]
  /** What differs on the service and is left alone, sentences. */
  drift: string[]
  notices: string[]
  feed: FeedFindings
  summary: Record<'reduce' | 'update' | 'create' | 'blocked' | 'unknown' | 'unchanged', number>
  /** Decimal texts: budgets of all managed campaigns that have not ended. */
  exposure: { before: string; after: string; limit: string }
}

/** Exit codes of design section 7: 0 nothing to do, 2 changes, 3 blocked or unknown items. */
export function exitCodeOf({ stopped, summary }: Plan): 0 | 2 | 3 {
  if (stopped !== null || summary.blocked + summary.unknown > 0) return 3
  return summary.reduce + summary.update + summary.create > 0 ? 2 : 0
}

/** `needs` of what a later look does by itself. */
export const LATER = 'apply again later'
export const isWritten = ({ action }: PlanItem) => action === 'create' || action === 'update'
