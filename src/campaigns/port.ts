// What the campaigns' half keeps: which campaign belongs to which entry, and every write, from before it
// is sent.

import type { FieldPaths } from '../feed/port.ts'
import type { Amount } from '../lib/amount.ts'
import type { CampaignRun } from '../ops/port.ts'
import type { CampaignCreate, CampaignUpdate } from '../service/port.ts'
import type { Field, Values } from './fields.ts'
import type { CampaignState } from './findings.ts'
import type { Plan } from './plan.ts'
import type { CanonicalTargeting } from './targeting.ts'

export type { Plan } from './plan.ts'

/** Specification section 3. */
export const STATUS = { running: 1, archived: 2, paused: 3 } as const

/** A campaign that belongs to an entry of the file. */
export interface CampaignRecord {
  /** External campaign id. */
  key: string
  campaignId: string
  /** The mark that its name carries on the service; null: none of ours. */
  token: string | null
  /** As the service showed it first; null: it never did. */
  accountId: string | null
  origin: 'created' | 'adopted' | 'recovered'
  /** Per field the value on which file and service last agreed. Absent: never. */
  written: Values
  /** Its budget when it became the entry's, until one is agreed; null: none, or not shown. */
  firstBudget: Amount | null
  /** The targeting that was written last; null: not known. */
  targeting: CanonicalTargeting | null
  /** Targetings that may be there in its place: writes whose outcome is not known. */
  uncertain: CanonicalTargeting[]
  /** How the service shows the value in `written`, as JSON texts, where it is not the form that was sent. */
  forms: Partial<Record<Field | 'targeting', string[]>>
  /** Fields that a read by id showed once, and not as null. */
  shown: (Field | 'targeting')[]
  /** What a write did beside what it should: nothing is raised before a person looked; null otherwise. */
  doubt: string | null
  /** Earlier campaigns of this key. */
  past: string[]
  /** A person asked for a successor: this one is stopped first. */
  succeeding: boolean
  /** Wall ms since when complete listings and reads by id do not show it; null while they do. */
  missingSince: number | null
  /** Wall ms of the first upload without its key since the feeds carried it; null while they do, or did never. */
  leftFeedsAt: number | null
  /** What a person said of a field while the service showed this value (JSON text): the file's goes back, or it may stay. */
  said: Partial<Record<Field | 'targeting', { word: 'revert' | 'keep'; of: string }>>
}

/** What the database knows of the account as a whole. */
export interface AccountFacts {
  /** Identity that the records belong to. */
  account: string
  /** Wall ms when a person first approved a plan on this database; null: not yet. */
  approvedAt: number | null
  /** Whether names come back with the token that was sent; null: not seen yet. */
  keepsTokens: boolean | null
  /** Whether the campaigns that were there before this database are written down in `others`. */
  isCounted: boolean
}

/** A campaign without a known owner: it may be the one of `key`, or of any entry (null). */
export interface Other {
  id: string
  key: string | null
}

export type Outcome =
  /** A row without an end: it is being sent, or the process died. */
  | 'sending'
  | 'done'
  | 'refused'
  | 'not-sent'
  /** Nobody knows; it may still arrive. */
  | 'unknown'
  /** As `unknown`, and a later write took its place or its time is over. */
  | 'given-up'

/** One line of the history: a write to the service from before its first byte, or a decision. */
export interface CampaignWrite {
  id: number
  /** Wall ms. */
  at: number
  key: string
  campaignId: string | null
  action: 'create' | 'update' | 'decision'
  /** null for decisions. */
  body: CampaignCreate | CampaignUpdate | null
  /** Values that were read by id before it, as the service showed them. */
  before: Readonly<Record<string, unknown>>
  spend: string
  why: string
  /** `daemon: file`, or who ran which command. */
  by: string
  /** A person called the service past the file: it says nothing of what file and service agree on. */
  isDirect: boolean
  outcome: Outcome
  endedAt: number | null
  reason: string | null
}

export type NewWrite = Pick<
  CampaignWrite,
  'at' | 'key' | 'campaignId' | 'action' | 'body' | 'before' | 'spend' | 'why' | 'by'
> & { isDirect?: true }

/** What outlives a process, apart from the feeds' history. Writes are durable when they return. */
export interface CampaignStore extends Disposable {
  atomically<T>(work: () => T): T
  /** From here on an older copy of this database is recognised. Every create does the same. */
  renewMark(): void
  /**
   * Wall ms up to which this database may have made campaigns that it does not know: it was restored or copied,
   * or its host started again. null: it knows all that it made.
   */
  unknownCreatesUntil(): number | null
  /** null before the first look. */
  account(): AccountFacts | null
  saveAccount(facts: AccountFacts): void
  others(): Other[]
  /** Adds; one that is there stays. */
  addOther(other: Other): void
  removeOther(id: string): void
  records(): CampaignRecord[]
  record(key: string): CampaignRecord | null
  save(record: CampaignRecord): void
  remove(key: string): void
  /** By key: ids of campaigns that a person said are not the entry's, so that it is made anew. */
  newEntries(): ReadonlyMap<string, readonly string[]>
  keepNewEntry(key: string, excluded: readonly string[] | null): void
  /** Writes the row that precedes a write; answers its id. */
  begin(write: NewWrite): number
  end(id: number, outcome: Outcome, reason: string | null, at: number, campaignId?: string): void
  /** A decision of a person: begun and done. */
  decide(decision: Omit<NewWrite, 'action' | 'body' | 'before' | 'spend'>): void
  /** Writes without a known end, oldest first. */
  open(): CampaignWrite[]
  /** The newest create of each key, and each one that is not settled; what is not settled comes last. */
  creates(): CampaignWrite[]
  /** Ids of the campaigns that this database made. */
  made(): ReadonlySet<string>
  /** Creates of this key that were sent, whatever became of them: the number in its token. */
  generation(key: string): number
  /** Writes begun at or after this wall ms that may have arrived, oldest first. */
  since(at: number): CampaignWrite[]
  /** Newest first. */
  history(filter: { key?: string; limit: number }): CampaignWrite[]
  /** Of the newest line by a person; null: none. */
  lastDecision(): number | null
  /** The number of the plan; one that says the same as the last, but of the feeds, takes its place. */
  keepPlan(plan: Plan, at: number): number
  plan(id: number): Plan | null
  /** How the last look ended; null: there was none. */
  lastRun(): CampaignRun | null
  keepRun(run: CampaignRun): void
  /** The campaigns of the entries as they were seen last. */
  lastStates(): CampaignState[]
  keepStates(states: readonly CampaignState[]): void
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

/** An id that a feed once carried. */
export interface Absence {
  /** Uploads without it since then, those left out that look like an accident. */
  uploads: number
  /** Wall ms of the first of them; null: there is none. */
  since: number | null
}

/** What the feeds of the account contain. */
export interface FeedSide {
  /** The last upload of each feed. */
  latest: readonly FeedUpload[]
  /**
   * null: as far as is known no feed ever carried the id. `leftAt`: as it was seen once (`CampaignRecord`), since only
   * the last uploads are looked through.
   */
  absence(id: string, leftAt: number | null): Absence | null
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
