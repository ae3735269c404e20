// What the campaigns need from outside the room: the rows of the database, the calls that the daemon may make, and the
// uploaded feeds.

import type { FieldPaths } from '../domain/mapping.ts'
import type { CampaignRun } from '../ops/campaigns/run.ts'
import type { Values } from './fields.ts'
import type { Campaign, CampaignAnswer, Targeting } from './service/port.ts'
import type { CanonicalTargeting } from './targeting.ts'

/** SentFields holds the last value of each field that we sent to a campaign. */
export interface SentFields {
  values: Values
  /** null if we never sent a targeting. */
  targeting: CanonicalTargeting | null
}

/** KnownCampaign is what we know of a campaign beside what the service shows. */
export interface KnownCampaign {
  sent: SentFields
  /**
   * How the service shows our targeting. `of` is the targeting that we sent, `is` the JSON text that the service showed
   * right after the write. null means the service showed no targeting.
   */
  shown: { of: CanonicalTargeting; is: string } | null
  /** Wall ms at which we send the targeting again because the result of a write is not known; null means never. */
  repeatAt: number | null
  /** The mark in its name, as reads by id showed it, which never changes; null means not known. */
  mark: string | null
}

/** Binding says which campaign belongs to an entry of the file, and what we know of that campaign. */
export interface Binding extends KnownCampaign {
  /** External campaign id. */
  key: string
  campaignId: string
  /** `accountId` and `startDate` never change. Reads by id showed them; null means not known. */
  accountId: string | null
  startDate: string | null
}

export type WriteOutcome =
  /** The write has not ended: the request is running, or the process died. */
  | 'sending'
  | 'done'
  /** The service answered with success but does not show what we sent. */
  | 'not-as-sent'
  | 'refused'
  | 'not-sent'
  /** The result is not known: the request can still arrive. */
  | 'unknown'

/** NewWrite is a row of the history: a request that writes, recorded before it is sent, or a local decision. */
export interface NewWrite {
  /** Wall ms. */
  at: number
  /** External campaign id; empty: a direct call that names no such id. */
  key: string
  campaignId: string | null
  action: 'create' | 'update' | 'bind' | 'forget' | 'seen'
  /** The request body; for `seen` the values that somebody set; null for `bind` and `forget`. */
  body: object | null
  /** The earlier value of each field, as far as it was known. */
  before: Readonly<Record<string, unknown>>
  actor: Actor
  /** Who wrote: `daemon: file`, or `maria: campaigns apply`. */
  by: string
}

export interface CampaignWrite extends NewWrite {
  id: number
  outcome: WriteOutcome
  endedAt: number | null
  reason: string | null
}

export interface WriteEnding {
  outcome: WriteOutcome
  reason: string | null
  /** Wall ms. */
  at: number
  /** The id of the campaign that was created. */
  campaignId?: string
}

/** Actor is who changed a campaign. `service`: somebody on the service, as a later look found out. */
export type Actor = 'person' | 'daemon' | 'service'

/** CampaignReader reads the campaigns of one account in the database. */
export interface CampaignReader {
  /** All bindings, sorted by key. */
  bindings(): Binding[]
  /** released maps a campaign id to the key that it was released from. */
  released(): ReadonlyMap<string, string>
  /** The open creations, whose result is not known (`unknown` and `sending`), oldest first. */
  openCreations(): CampaignWrite[]
  /** The writes, newest first. */
  history(filter: { key?: string; limit: number }): CampaignWrite[]
  /** The last done write of a campaign that has this field; `ours`: by a person or the daemon. */
  lastWrite(campaignId: string, field: string, whose: 'ours' | 'any'): CampaignWrite | null
  /** The number of the last write by a person; 0: there was none. A confirmed plan is sent only while it stays. */
  lastPersonWrite(): number
  /** Wall ms when we found that this database was restored from an older copy; null if it was not. */
  restoredAt(): number | null
  /** Wall ms when this database was created. */
  madeAt(): number | null
  /** The last file that the daemon used, or that a person applied as a whole; null if there was none. */
  usedFile(): UsedFile | null
  /** The result of the last look; null if there was none. */
  lastRun(): CampaignRun | null
}

/** CampaignStore reads and writes the campaigns of one account. Each write is durable when the call returns. */
export interface CampaignStore extends CampaignReader, Disposable {
  atomically<T>(work: () => T): T
  binding(key: string): Binding | null
  save(binding: Binding): void
  /** release ends the binding. From then on only `campaignId` in the file can bind this campaign again. */
  release(campaignId: string, key: string): void
  /** begin writes the row that precedes a request, and returns the row's id. */
  begin(write: NewWrite): number
  end(id: number, ending: WriteEnding): void
  /** The rows that have not ended, oldest first. */
  sending(): CampaignWrite[]
  /**
   * Wall ms of the newest targeting write of this campaign after `since` whose result is not known; null means none.
   */
  unclearSince(campaignId: string, since: number): number | null
  /** renewMark finds out whether this database was restored from an older copy, and makes later restores visible. */
  renewMark(): void
  keepUsedFile(file: UsedFile): void
  keepRun(run: CampaignRun): void
}

/** UsedFile is the last file that the daemon used, or that a person applied as a whole. */
export interface UsedFile {
  fileSha256: string
  keys: readonly string[]
}

/** TargetingApi is everything that the daemon may call: it can change the targeting of a campaign and nothing else. */
export interface TargetingApi {
  get(id: string, signal: AbortSignal): Promise<CampaignAnswer<Campaign>>
  putTargeting(
    id: string,
    targeting: Targeting,
    signal: AbortSignal,
  ): Promise<CampaignAnswer<Campaign>>
}

/** FeedUpload is the last uploaded version of a feed. */
export interface FeedUpload {
  feed: string
  path: string
  /** The version's id in the history. */
  version: number
  /** Wall ms. */
  uploadedAt: number
  postings: number
  encoding: string | null
  records: string | null
  /** The name of its file in the spool; null if the spool has no copy. */
  spool: string | null
  /** External campaign id -> number of postings that carry it, for at most `MAX_CAMPAIGN_IDS` ids. */
  ids: Readonly<Record<string, number>>
}

/** FeedSide answers what the feeds of the account contain. */
export interface FeedSide {
  /** The last upload of each feed. */
  latest: readonly FeedUpload[]
  /** Several feeds share the account, and nobody said that the service keeps all of them: counts are the most. */
  isAtMost: boolean
  /** Wall ms of the first upload without this id, if earlier uploads carried it; null means not known to be missing. */
  missingSince(id: string): number | null
  /**
   * read reads the last uploads once. It returns one sentence for each feed that it cannot read, or that has no posting
   * with one of the `needed` fields.
   */
  read(wanted: PostingsWanted, signal: AbortSignal): Promise<string[]>
}

export interface PostingsWanted {
  fields: readonly (keyof FieldPaths)[]
  needed: readonly (keyof FieldPaths)[]
  /** take is called with these fields of each posting. */
  take: (posting: FieldPaths) => void
}
