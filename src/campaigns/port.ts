// What the campaigns' half keeps: which campaign belongs to which entry, and every write, from before it is sent.

import type { FieldPaths } from '../feed/port.ts'
import type { CampaignRun } from '../ops/port.ts'
import type { Campaign, CampaignAnswer, Targeting } from '../service/port.ts'
import type { Values } from './fields.ts'
import type { CanonicalTargeting } from './targeting.ts'

/** Specification section 3. */
export const STATUS = { running: 1, archived: 2, paused: 3 } as const

/** What was sent to a campaign, the last value of each field. */
export interface Sent {
  values: Values
  /** null: we never sent one. */
  targeting: CanonicalTargeting | null
}

/** A campaign that belongs to an entry of the file. */
export interface Binding {
  /** External campaign id. */
  key: string
  campaignId: string
  /** As reads by id showed it; null: not known. None of the three ever changes. */
  accountId: string | null
  startDate: string | null
  mark: string | null
  sent: Sent
  /**
   * How the service shows the targeting that was sent: the targeting, and the JSON text of what was shown right after
   * the write; null: nothing was.
   */
  shown: { of: CanonicalTargeting; is: string } | null
  /** Wall ms at which the targeting is sent again, since a write of it has no clear end; null: not at all. */
  repeatAt: number | null
}

export type Outcome =
  /** Without an end: it is being sent, or the process died. */
  | 'sending'
  | 'done'
  /** The service answered with success, and does not show what was sent. */
  | 'not-as-sent'
  | 'refused'
  | 'not-sent'
  /** Nobody knows; it may still arrive. */
  | 'unknown'

/** One line of the history: a request that writes, from before its first byte, or a local decision. */
export interface CampaignWrite {
  id: number
  /** Wall ms. */
  at: number
  /** External campaign id; empty: a call past the file that names none. */
  key: string
  campaignId: string | null
  action: 'create' | 'update' | 'bind' | 'forget'
  /** As it was sent; null for `bind` and `forget`. */
  body: object | null
  /** By field, as it was there before; without what was not known. */
  before: Readonly<Record<string, unknown>>
  /** Who did it: `daemon: file`, or `maria: campaigns apply`. */
  by: string
  outcome: Outcome
  endedAt: number | null
  reason: string | null
}

export type NewWrite = Pick<
  CampaignWrite,
  'at' | 'key' | 'campaignId' | 'action' | 'body' | 'before' | 'by'
>

/** What outlives a process, apart from the feeds' history; of one account. Writes are durable when they return. */
export interface CampaignStore extends Disposable {
  atomically<T>(work: () => T): T
  /** By key. */
  bindings(): Binding[]
  binding(key: string): Binding | null
  save(binding: Binding): void
  /** The campaign is the entry's no more, and is bound again by `campaignId` in the file only. */
  release(campaignId: string, key: string): void
  /** Campaign id -> the key that it was released from. */
  released(): ReadonlyMap<string, string>
  /** Writes the row that precedes a request; answers its id. */
  begin(write: NewWrite): number
  end(id: number, outcome: Outcome, reason: string | null, at: number, campaignId?: string): void
  /** Rows without an end, oldest first. */
  sending(): CampaignWrite[]
  /** Wall ms of the newest write of this campaign's targeting since then whose end is not known; null: none. */
  unclearSince(campaignId: string, since: number): number | null
  /** Creates whose end is not known, oldest first: `unknown`, and `sending`. */
  openCreates(): CampaignWrite[]
  /** Newest first. */
  history(filter: { key?: string; limit: number }): CampaignWrite[]
  /** Wall ms when it came to light that this database is a copy from an earlier moment; null: it is none. */
  restoredAt(): number | null
  /** Wall ms when this database was made. */
  madeAt(): number | null
  /** Notices that this database is a copy; from here on an older copy of it is recognised. */
  renewMark(): void
  /** How the last look ended; null: there was none. */
  lastRun(): CampaignRun | null
  keepRun(run: CampaignRun): void
}

export type CampaignReads = Pick<
  CampaignStore,
  ('bindings' | 'released' | 'openCreates' | 'history') | ('restoredAt' | 'madeAt' | 'lastRun')
>

/** All that the daemon may do to campaigns. */
export interface TargetingApi {
  get(id: string, signal: AbortSignal): Promise<CampaignAnswer<Campaign>>
  putTargeting(
    id: string,
    targeting: Targeting,
    signal: AbortSignal,
  ): Promise<CampaignAnswer<Campaign>>
}

/** What of a posting targeting looks at; empty where the feed does not say it. */
export type TargetedPosting = Required<Omit<FieldPaths, 'id'>>

/** A feed as it was uploaded last. */
export interface FeedUpload {
  feed: string
  path: string
  /** Its id in the history. */
  version: number
  /** Wall ms. */
  uploadedAt: number
  postings: number
  records: string | null
  /** Name of its bytes in the spool; null: not kept. */
  spool: string | null
  /** External campaign id -> postings that carry it; at most `MAX_CAMPAIGN_IDS` of them are told apart. */
  ids: Readonly<Record<string, number>>
}

/** What the feeds of the account contain. */
export interface FeedSide {
  /** The last upload of each feed. */
  latest: readonly FeedUpload[]
  /** Wall ms of the first upload without an id that feeds carried earlier; null: it is not known to be missing. */
  missingSince(id: string): number | null
  /**
   * Reads the bytes of the last uploads once and hands over these fields of each posting. Answers why not every
   * feed could be read or told the fields that are `needed`, a sentence each.
   */
  read(
    fields: readonly (keyof FieldPaths)[],
    needed: readonly (keyof FieldPaths)[],
    take: (posting: FieldPaths) => void,
    signal: AbortSignal,
  ): Promise<string[]>
}
