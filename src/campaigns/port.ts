// What the rest of the program knows of the service's campaigns (specification section 2 and 4):
// the fields with their types, the four calls, and how a call can end.

import type { Amount } from '../lib/amount.ts'
import type { CanonicalTargeting } from './targeting.ts'

/** Specification section 3. */
export const STATUS = { running: 1, archived: 2, paused: 3 } as const

export interface City {
  name: string
  stateProvCode: string
}

/**
 * Which postings a campaign sponsors: AND of all criteria, OR with `requisitionIds`. The service takes
 * it and does not show it again.
 */
export interface Targeting {
  cities?: readonly City[]
  externalCampaignId?: string
  requisitionIds?: readonly string[]
  jobDescKeywords?: readonly string[]
  jobTitles?: readonly string[]
  postalCodes?: readonly string[]
  stateProvCodes?: readonly string[]
}

/**
 * A campaign as the service shows it. A field that was not in the answer, or had another type than the
 * documented one, is absent: absent is "not known", null is the service's own word.
 */
export interface Campaign {
  id: string
  accountId?: string | null
  name?: string | null
  /** As it was sent, in a form that is not specified more closely than "date-time". */
  startDate?: string | null
  /** null: until it is paused by hand or the budget is spent. */
  endDate?: string | null
  budget?: number | null
  autoBidLevel?: string | null
  /** Target cost per apply click; null: dynamic per market. */
  cpc?: number | null
  /** Most that a click may cost with dynamic pricing. */
  maxCpc?: number | null
  /** null: one-time, 1: monthly. Others may be added. */
  period?: number | null
  /** See `STATUS`. */
  status?: number | null
  spend?: number
  sponsoredPostings?: number
  leads?: number | null
  /** Target cost per application. */
  paidCpaGoal?: number | null
  /** Everything else that the answer held, as it came; also documented fields of an unexpected type. */
  other: Readonly<Record<string, unknown>>
}

/** The documented body of POST /v1/campaigns. */
export interface CampaignCreate {
  name: string
  /** yyyy-MM-ddThh:mm:ssZ; absent: starts at once. */
  startDate?: string
  endDate?: string | null
  autoBidLevel?: string
  cpc?: number
  maxCpc?: number
  paidCpaGoal?: number
  budget?: number
  period?: number | null
  /** Absent: all postings of the account. */
  targeting?: Targeting
  status?: number
}

/** The documented body of PUT /v1/campaigns/{id}: what is absent stays as it is. */
export interface CampaignUpdate {
  name?: string | null
  endDate?: string | null
  budget?: number | null
  autoBidLevel?: string | null
  cpc?: number | null
  maxCpc?: number | null
  status?: number
  paidCpaGoal?: number | null
  /** Editable, its shape "not shown": sent as in the create body. */
  targeting?: Targeting
}

/** The documented query of GET /v1/campaigns. */
export interface CampaignQuery {
  status?: number
  /** The matching rule is not stated: never rely on it for absence. */
  name?: string
  /** Number of the first result; the first is 1 by the envelope's words. */
  start?: number
  num?: number
}

export interface CampaignPage {
  campaigns: Campaign[]
  total: number | null
  startNum: number | null
  endNum: number | null
  numRequested: number | null
  fromCache: boolean | null
  self: string | null
  elapsed: number | null
  /** The property that held the campaigns; empty for a bare array. */
  listField: string
}

export interface CampaignFailure {
  kind: 'failure'
  /** `temporary` may pass by itself; `missing` is a 404; `unreadable` a success that cannot be read. */
  class: 'credentials' | 'temporary' | 'refused' | 'missing' | 'unreadable'
  /**
   * What it means for a write: it was `not-sent`, the service `refused` it, or nobody can know.
   * research/reconcile.md section 3.9, step 5.
   */
  effect: 'not-sent' | 'refused' | 'unknown'
  /** null where there was no answer. */
  status: number | null
  /** Plain sentence; repeats at most a bounded excerpt of the answer. */
  reason: string
  hint: string
  /** Excerpt of the answer's body, at most 300 characters, without anything that looks like a secret. */
  body: string | null
  retryAfterMs: number | null
}

export type CampaignAnswer<T> = { kind: 'ok'; value: T } | CampaignFailure

/** The four calls, one to one. `search`, `get` and `update` are repeated where that can help; `create` never. */
export interface CampaignApi {
  search(query: CampaignQuery, signal: AbortSignal): Promise<CampaignAnswer<CampaignPage>>
  get(id: string, signal: AbortSignal): Promise<CampaignAnswer<Campaign>>
  create(body: CampaignCreate, signal: AbortSignal): Promise<CampaignAnswer<Campaign>>
  update(id: string, body: CampaignUpdate, signal: AbortSignal): Promise<CampaignAnswer<Campaign>>
}

/** What we last wrote, for the comparison of three; a field that we never wrote is absent. */
export interface Applied {
  name?: string
  /** yyyy-MM-ddThh:mm:ssZ. */
  endDate?: string
  budget?: Amount
  startDate?: string
  period?: 'once' | 'monthly'
  autoBidLevel?: string
  cpc?: Amount
  maxCpc?: Amount
  paidCpaGoal?: Amount
  /** Absent: never written by us, so not known. */
  targeting?: CanonicalTargeting
}

/** A campaign that is ours to manage. */
export interface CampaignRecord {
  /** External campaign id. */
  key: string
  campaignId: string
  origin: 'created' | 'adopted' | 'recovered'
  applied: Applied
  /** Targeting of a write whose outcome is not known: it may be there in place of `applied.targeting`. */
  pending: CanonicalTargeting | null
  preventEnd: boolean
  /** Why nothing is written to it until a person looked; null otherwise. */
  frozen: string | null
}

/**
 * A create from before its first byte leaves until its outcome is known. Open while `prepared` (nothing
 * was sent), `sending` or `unknown` (nobody knows).
 */
export interface CreateIntent {
  id: number
  key: string
  body: CampaignCreate
  /** What the body wrote. */
  remember: Applied
  state: 'prepared' | 'sending' | 'unknown' | 'succeeded' | 'rejected' | 'adopted' | 'not-created'
  reason: string | null
  /** Wall ms. */
  at: number
}

export interface AuditEntry {
  at: number
  key: string
  campaignId: string | null
  /** `created`, `updated`, `adopted`, `refused`, `unknown`, `frozen`, ... */
  event: string
  /** Who decided: a plan's number, or a person's command. */
  cause: string
  detail: string
}

/** What outlives a process, apart from the feeds' history. Writes are durable when they return. */
export interface CampaignStore extends Disposable {
  atomically<T>(work: () => T): T
  /** Base address and identity that the records belong to; null before the first one. */
  account(): string | null
  setAccount(account: string): void
  records(): CampaignRecord[]
  record(key: string): CampaignRecord | null
  save(record: CampaignRecord): void
  /** Open ones, and the newest rejected one of each key. */
  intents(): CreateIntent[]
  /** Creates that were sent at or after this wall ms. */
  createsSince(at: number): number
  prepare(intent: Omit<CreateIntent, 'id' | 'state' | 'reason'>): number
  settle(id: number, state: CreateIntent['state'], reason: string | null): void
  /** Append-only. */
  audit(entry: AuditEntry): void
  /** Newest first. */
  history(filter: { key?: string; limit: number }): AuditEntry[]
  keepPlan(plan: string, at: number): number
  plan(id: number): string | null
}
