// What the rest of the program knows of the sponsorship service.

import type { Failure } from '../lib/decision-table.ts'

/** One of the two identities of specification section 5. */
export type Identity = { account: string } | { partner: string; partnerAccount?: string | null }

/** The pre-signed form of specification section 2. A credential: never stored, never logged. */
export interface UploadForm {
  url: string
  /** Where the file may be found later; null when the service does not say. */
  fileUrl: string | null
  /** In the order given; names and values byte-exact. */
  fields: ReadonlyArray<readonly [name: string, value: string]>
}

export type FormAnswer = { kind: 'form'; form: UploadForm } | { kind: 'failure'; failure: Failure }

/** Asks the service for upload forms. Each call is signed afresh with the service's clock. */
export interface FormSource {
  /**
   * One request, no retry. `account`: the partner account of the feed, or null for the configured identity;
   * `path`: of the feed's file in the folder, for what is said when no account can be named.
   */
  requestForm(account: string | null, signal: AbortSignal, path?: string): Promise<FormAnswer>
  /** Origin of the service, the key of its breaker. */
  readonly origin: string
  /** Service time minus ours in ms, as last measured in an answer's Date; null until then. */
  clockSkewMs(): number | null
  /** Reads the key again: after the file changed. Throws `FeedsyncError` when it cannot be used. */
  reloadKey(): void
}

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

/** What a campaign is made with and shown with. */
interface CampaignFields {
  name: string
  /** As it was sent, in a form that is not specified more closely than "date-time"; yyyy-MM-ddThh:mm:ssZ is sent. */
  startDate: string
  /** null: until it is paused by hand or the budget is spent. */
  endDate: string
  budget: number
  autoBidLevel: string
  /** Target cost per apply click; null: dynamic per market. */
  cpc: number
  /** Most that a click may cost with dynamic pricing. */
  maxCpc: number
  /** null: one-time, 1: monthly. Others may be added. */
  period: number
  /** See `STATUS`. */
  status: number
  /** Target cost per application. */
  paidCpaGoal: number
}

type OrNull<Fields> = { [Field in keyof Fields]?: Fields[Field] | null }

/**
 * A campaign as the service shows it. A field that was not in the answer, or had another type than the
 * documented one, is absent: absent is "not known", null is the service's own word.
 */
export interface Campaign extends OrNull<CampaignFields> {
  id: string
  accountId?: string | null
  spend?: number
  sponsoredPostings?: number
  leads?: number | null
  /** Everything else that the answer held, as it came; also documented fields of an unexpected type. */
  other: Readonly<Record<string, unknown>>
}

/** The documented body of POST /v1/campaigns. Absent: it starts at once, with all postings of the account. */
export interface CampaignCreate
  extends Partial<Omit<CampaignFields, 'name' | 'endDate' | 'period'>>,
    OrNull<Pick<CampaignFields, 'endDate' | 'period'>> {
  name: string
  targeting?: Targeting
}

/** The documented body of PUT /v1/campaigns/{id}: what is absent stays as it is. */
export interface CampaignUpdate extends OrNull<Omit<CampaignFields, 'startDate' | 'period'>> {
  status?: number
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
  /** Rows without an id, which nothing can be done with: they are not among `campaigns`. */
  withoutId: number
}

export interface CampaignFailure {
  kind: 'failure'
  /**
   * `configuration`: not sent, because a key is not set; `temporary` may pass; `missing` is a 404;
   * `unreadable` a success that cannot be read.
   */
  class: 'configuration' | 'credentials' | 'temporary' | 'refused' | 'missing' | 'unreadable'
  /**
   * What it means for a write: it was `not-sent`, the service `refused` it, or nobody can know.
   */
  effect: 'not-sent' | 'refused' | 'unknown'
  /** null where there was no answer. */
  status: number | null
  /** Plain sentence; repeats at most a short message of the answer. */
  reason: string
  hint: string
  retryAfterMs: number | null
}

export type CampaignAnswer<T> = { kind: 'ok'; value: T } | CampaignFailure

/** The four calls, one to one. `search` and `get` are repeated where that can help; `create` and `update` never. */
export interface CampaignApi {
  search(query: CampaignQuery, signal: AbortSignal): Promise<CampaignAnswer<CampaignPage>>
  get(id: string, signal: AbortSignal): Promise<CampaignAnswer<Campaign>>
  create(body: CampaignCreate, signal: AbortSignal): Promise<CampaignAnswer<Campaign>>
  update(id: string, body: CampaignUpdate, signal: AbortSignal): Promise<CampaignAnswer<Campaign>>
}

/** Every campaign of the account that was found; absence counts only in a complete listing. */
export type Listing =
  | { kind: 'complete'; campaigns: ReadonlyMap<string, Campaign> }
  | { kind: 'incomplete'; campaigns: ReadonlyMap<string, Campaign>; reason: string }
  | CampaignFailure
