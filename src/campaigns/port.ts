// What the campaigns' half keeps: which campaign belongs to which entry, and every write, from before it is sent.

import type { FieldPaths } from '../feed/port.ts'
import type { Campaign, CampaignAnswer, Targeting } from '../service/port.ts'
import type { Values } from './fields.ts'
import type { CanonicalTargeting } from './targeting.ts'

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

/** A feed as it was uploaded last. */
export interface FeedUpload {
  feed: string
  path: string
  /** Its id in the history. */
  version: number
  /** Wall ms. */
  uploadedAt: number
  postings: number
  encoding: string | null
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

/** How a look at the campaigns ended; kept for `status`. */
export interface CampaignRun {
  /** ISO 8601 UTC. */
  at: string
  /** What it was done for: `start`, `file`, `upload`, `interval`, `once`, or a command. */
  cause: string
  mode: 'report' | 'targeting'
  /**
   * `unusable`: the file; `failed`: the service could not be asked; `refused`: it refuses to be asked; `busy`: another
   * process writes campaigns. Only `done` looked at all: with the others, what is below is what the look before found.
   */
  state: 'done' | 'unusable' | 'failed' | 'refused' | 'credentials' | 'busy'
  /** The first look that ended in this state without another in between; ISO 8601 UTC. */
  since: string
  /** Why it is not `done`, and what to do; null otherwise. */
  problem: string | null
  hint: string | null
  /** The entries of the file, in its order. */
  entries: CampaignSeen[]
  /** What a person should know beside them. */
  findings: CampaignFinding[]
  /** Writes that did not end as they should. */
  failures: CampaignWriteFailure[]
}

/** An entry of the file, as the last look saw it; what is null is not known, or not there. */
export interface CampaignSeen {
  /** External campaign id. */
  key: string
  campaignId: string | null
  state: 'new' | 'in line' | 'differs' | 'pending' | 'unknown' | 'blocked'
  /** The first look that found it in this state; ISO 8601 UTC. */
  since: string
  /** Why it is `unknown` or `blocked`. */
  reason: string | null
  /** The one next step, as it can be pasted. */
  next: string | null
  /** What differs, a line each: `budget: 100.00 -> 150.00  [can spend more]`. */
  changes: string[]
  /** Of the campaign, as the service shows it. */
  name: string | null
  status: string | null
  /** Decimal texts. */
  budget: string | null
  spend: string | null
}

export interface CampaignFinding {
  code: string
  /** External campaign id; null: it concerns no entry. */
  key: string | null
  campaignId: string | null
  text: string
  /** The edit or command that settles it; null: nothing has to be done. */
  next: string | null
  /** Monitoring and alerts report it. */
  isReported: boolean
}

export interface CampaignWriteFailure {
  /** External campaign id. */
  key: string
  campaignId: string | null
  outcome: string
  reason: string | null
}
