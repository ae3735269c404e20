// What would be done, as plain data: a list of exact writes. The text for people is rendered from it, and
// apply sends nothing that is not in it.

import type { CampaignCreate, CampaignUpdate } from '../service/port.ts'
import type { Part } from './compare.ts'
import type { FeedFindings } from './findings.ts'

/** Postings that a campaign's targeting selects of the last uploads; null: not known. */
export interface Selection {
  before: number | null
  after: number | null
}

/** Why something waits for a person. */
export interface Held {
  code: /** A guard of the file refuses it. */
    | 'guard'
    | 'widen'
    /** The entry itself is not enough, or asks for what the service does not do. */
    | 'entry'
    | 'fixed'
    /** No proof that the campaign is not there already. */
    | 'absence'
    | 'unknown'
    /** File and service both changed. */
    | 'conflict'
    /** It is not ours, or there are two. */
    | 'foreign'
    | 'twin'
    | 'lost'
    | 'doubt'
    /** Paused, archived, or gone from the feeds. */
    | 'state'
    /** The service or the file has to be looked at again. */
    | 'later'
  /** Which cause of those with this code, such as the guard: another one is news. */
  cause: string
  reason: string
  /** The command or edit that moves it on. */
  needs: string
  /** A later look may do it without a person. */
  passes: boolean
}

export const heldBy = (
  code: Held['code'],
  reason: string,
  needs: string,
  cause = '',
  passes = false,
): Held => ({ code, cause, reason, needs, passes })

export const later = (reason: string) =>
  heldBy('later', reason, 'nothing: it is tried again automatically', '', true)

/** One write, or what is held. */
export interface PlanItem extends Omit<Part, 'body' | 'isBlind'> {
  key: string
  /** null before it is created. */
  campaignId: string | null
  /** `adopt`: it belongs to the entry from now on; nothing is sent. `none`: there is only what is held. */
  action: 'create' | 'update' | 'adopt' | 'none'
  method: 'POST' | 'PUT' | null
  /** Exactly what is sent. */
  body: CampaignCreate | CampaignUpdate | null
  /** What the campaign may spend, decimal text or `unlimited`. */
  money: { before: string; after: string } | null
  why: string
  /** The daemon waits until a person applies the plan. */
  approval: boolean
  held: Held | null
  /** null where the selection stays as it is, or there is no feed to count in. */
  postings: Selection | null
}

/** What differs, and is reported and left alone. */
export interface Finding {
  code: 'drift' | 'kept' | 'unlisted' | 'unmanaged' | 'twin' | 'idle' | 'no-campaign'
  key: string | null
  campaignId: string | null
  text: string
  needs: string | null
  /** What may be spent meanwhile, decimal text or `unlimited`; null: nothing that is not in the file. */
  maySpend: string | null
  /** Monitoring and alerts report it. */
  isReported: boolean
}

export interface Plan {
  planVersion: 2
  /** ISO 8601 UTC. */
  createdAt: string
  /** SHA-256 of the campaigns file: a plan ends with the file that it was made of. */
  fileSha256: string
  /** Entries whose filters may go, by a person's word. */
  allowWiden: string[]
  listing: { complete: boolean; campaigns: number; reason: string | null }
  /** Why nothing at all may be written; null otherwise. */
  stopped: { reason: string; needs: string } | null
  /** In the order in which they are done; what waits for a person comes last. */
  items: PlanItem[]
  findings: Finding[]
  feed: FeedFindings
  summary: Record<'reduce' | 'update' | 'create' | 'held' | 'unknown' | 'unchanged', number>
  /** Decimal texts or `unlimited`: what all managed campaigns may spend. */
  exposure: { before: string; after: string; limit: string }
}

export const isReady = ({ held }: PlanItem) => held === null
export const isReduction = ({ action, spend }: Pick<PlanItem, 'action' | 'spend'>) =>
  action === 'update' && spend === 'down'

/** Exit codes: 0 nothing to do, 2 changes, 3 held or unknown items. */
export function exitCodeOf({ stopped, summary, items }: Plan): 0 | 2 | 3 {
  if (stopped !== null || summary.held + summary.unknown > 0) return 3
  return items.some((item) => isReady(item) && item.method !== null) ? 2 : 0
}

export const COMMAND = 'feedsyncd campaigns'
/** A key as a shell takes it. */
export const quoted = (key: string) =>
  /^[\w.:-]+$/.test(key) ? key : `'${key.replaceAll("'", `'\\''`)}'`

/** What must be the same for an approved item to be the item that is now due. */
export function fingerprint(item: PlanItem): string {
  const { key, campaignId, method, action, body, before, spend, postings } = item
  // A reduction is one whatever is there.
  const rests = spend === 'down' ? null : [Object.entries(before).sort(), postings]
  return JSON.stringify([key, campaignId, method, action, body, rests])
}
