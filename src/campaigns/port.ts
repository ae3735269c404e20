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
   * How the service shows our targeting: `targeting` is what we sent, and `text` is the JSON that the service showed
   * right after the write. It is null if the service showed no targeting.
   */
  shown: { targeting: CanonicalTargeting; text: string } | null
  /** Wall ms at which we send the targeting again because the result of a write is not known; null if we do not. */
  repeatAt: number | null
  /** The mark in the campaign's name, which never changes. We read it by id; null if it is not known. */
  mark: string | null
}

/** Binding says which campaign belongs to an entry of the file, and what we know of that campaign. */
export interface Binding extends KnownCampaign {
  /** External campaign id. */
  key: string
  campaignId: string
  /** `accountId` and `startDate` never change. We read them by id; each is null if it is not known. */
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
  /** External campaign id; empty if a direct call names none. */
  key: string
  campaignId: string | null
  action: 'create' | 'update' | 'bind' | 'forget' | 'seen'
  /** The request body; for `seen` the values that somebody set on the service; null for `bind` and `forget`. */
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
  /** Wall ms; null if the write has not ended. */
  endedAt: number | null
  /** Why the write failed, or another remark on the outcome; null if the outcome needs no remark. */
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

/** Actor is who changed a campaign. `service` is somebody on the service, whose change a later look found. */
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
  /**
   * lastWrite returns the newest write with the outcome `done` that set this field of a campaign; null if no write
   * did. With `ours` it ignores the changes that somebody made on the service.
   */
  lastWrite(campaignId: string, field: string, whose: 'ours' | 'any'): CampaignWrite | null
  /**
   * The id of the last write by a person; 0 if no person wrote. A plan that a person confirmed is sent only if this id
   * is still the same.
   */
  lastPersonWrite(): number
  /** Wall ms when we found that this database was restored from an older copy; null if it was not. */
  restoredAt(): number | null
  /** Wall ms when this database was created. */
  madeAt(): number | null
  /** The last file that the daemon used, or that a person applied as a whole; null before the first. */
  usedFile(): UsedFile | null
  /** The result of the last look; null before the first look. */
  lastRun(): CampaignRun | null
}

/** CampaignStore reads and writes the campaigns of one account. Each write is durable when the call returns. */
export interface CampaignStore extends CampaignReader, Disposable {
  atomically<T>(work: () => T): T
  binding(key: string): Binding | null
  save(binding: Binding): void
  /**
   * release ends the binding of a campaign, if it has one, and records the key that it was released from. From then on
   * only `campaignId` in the file can bind this campaign.
   */
  release(campaignId: string, key: string): void
  /** begin writes the row that precedes a request, and returns the row's id. */
  begin(write: NewWrite): number
  /** end records in the row how the request ended. */
  end(id: number, ending: WriteEnding): void
  /** The rows that have not ended, oldest first. */
  sending(): CampaignWrite[]
  /**
   * Wall ms of this campaign's newest targeting write, at or after `since`, whose result is not known; null if no such
   * write exists.
   */
  unclearSince(campaignId: string, since: number): number | null
  /**
   * renewMark finds out whether this database was restored from an older copy, and makes later restores visible. Its
   * mark is a file beside the database, and not the mark of a campaign.
   */
  renewMark(): void
  keepUsedFile(file: UsedFile): void
  keepRun(run: CampaignRun): void
}

/** UsedFile is the last file that the daemon used, or that a person applied as a whole. */
interface UsedFile {
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
  /**
   * True if counts are upper limits: several feeds share the account, and the configuration does not say that the
   * service keeps the postings of all of them.
   */
  isAtMost: boolean
  /**
   * Wall ms of the first upload without this id, if earlier uploads carried it; null if it is not known to be missing.
   */
  missingSince(id: string): number | null
  /**
   * read reads the last uploads once. It returns one sentence for each feed that it cannot read, or in which a `needed`
   * field is empty in every posting.
   */
  read(wanted: PostingsWanted, signal: AbortSignal): Promise<string[]>
}

export interface PostingsWanted {
  fields: readonly (keyof FieldPaths)[]
  needed: readonly (keyof FieldPaths)[]
  /** take is called with these fields of each posting. */
  take: (posting: FieldPaths) => void
}
