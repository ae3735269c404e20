// The campaigns of the service: what it shows, what it takes, and the calls.

export interface City {
  name: string
  stateProvCode: string
}

/**
 * Targeting selects the postings that a campaign sponsors: the postings that meet every criterion given, and those with
 * one of the `requisitionIds`. The specification has targeting in requests, but not in answers.
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

/** CampaignFields are the fields that we send for a new campaign and that the service shows. */
interface CampaignFields {
  name: string
  /** The text that was sent. The specification says only "date-time"; we send yyyy-MM-ddThh:mm:ssZ. */
  startDate: string
  /** null if the campaign runs until a person pauses it or the budget is spent. */
  endDate: string
  budget: number
  autoBidLevel: string
  /** Target cost per apply click; null if the service sets it for each market. */
  cpc: number
  /** Highest cost of a click with dynamic pricing. */
  maxCpc: number
  /** null for a one-time budget, 1 for a monthly one. The service might add other values. */
  period: number
  /** A status code: 1 running, 2 archived, 3 paused. */
  status: number
  /** Target cost per application. */
  paidCpaGoal: number
}

type OrNull<Fields> = { [Field in keyof Fields]?: Fields[Field] | null }

/**
 * Campaign is a campaign as the service shows it. A field is absent if the answer did not contain it or gave it an
 * undocumented type. Absent means "not known"; null is a value of the service.
 */
export interface Campaign extends OrNull<CampaignFields> {
  id: string
  accountId?: string | null
  spend?: number
  sponsoredPostings?: number
  leads?: number | null
  /** All other members of the answer, unchanged, and documented fields of an unexpected type. */
  other: Readonly<Record<string, unknown>>
}

/**
 * CampaignCreate is the documented body of POST /v1/campaigns. Without `startDate` the campaign starts at once. Without
 * `targeting` it covers all postings of the account.
 */
export interface CampaignCreate
  extends Partial<Omit<CampaignFields, 'name' | 'endDate' | 'period'>>,
    OrNull<Pick<CampaignFields, 'endDate' | 'period'>> {
  name: string
  targeting?: Targeting
}

/** CampaignUpdate is the documented body of PUT /v1/campaigns/{id}: absent fields do not change. */
export interface CampaignUpdate extends OrNull<Omit<CampaignFields, 'startDate' | 'period'>> {
  status?: number
  /** The specification says that an update can change it, but not in which shape: we send it as for a new campaign. */
  targeting?: Targeting
}

/** CampaignQuery is the documented query of GET /v1/campaigns. */
export interface CampaignQuery {
  status?: number
  /** The rule of matching is not documented: a missing row proves nothing. */
  name?: string
  /** Number of the first result. The envelope suggests that counting begins with 1. */
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
  /** The property with the campaigns; empty for a bare array. */
  listField: string
  /** Number of rows without an id, which are useless and not in `campaigns`. */
  withoutId: number
}

export interface CampaignFailure {
  kind: 'failure'
  /**
   * `configuration` means that the call was not sent, because a configuration key is missing; `temporary` that a later
   * try can succeed; `missing` that the status is 404 or 410; `unreadable` that the answer is a success that cannot be
   * read.
   */
  class: 'configuration' | 'credentials' | 'temporary' | 'refused' | 'missing' | 'unreadable'
  /** The effect of a write: it was `not-sent`, the service `refused` it, or nobody can know. */
  effect: 'not-sent' | 'refused' | 'unknown'
  /** The HTTP status; null if there was no answer. */
  status: number | null
  /** A plain sentence, which can repeat a short message of the answer. */
  reason: string
  hint: string
  retryAfterMs: number | null
}

export type CampaignAnswer<T> = { kind: 'ok'; value: T } | CampaignFailure

/** CampaignApi has the four calls, one to one. It repeats `search` and `get` if that can help, the writes never. */
export interface CampaignApi {
  /** clockSkewMs returns the service's time minus ours in ms; null until an answer has a Date header. */
  clockSkewMs(): number | null
  search(query: CampaignQuery, signal: AbortSignal): Promise<CampaignAnswer<CampaignPage>>
  get(id: string, signal: AbortSignal): Promise<CampaignAnswer<Campaign>>
  create(body: CampaignCreate, signal: AbortSignal): Promise<CampaignAnswer<Campaign>>
  update(id: string, body: CampaignUpdate, signal: AbortSignal): Promise<CampaignAnswer<Campaign>>
}

/** CampaignListing holds every campaign found. A campaign that is missing in a complete listing does not exist. */
export type CampaignListing =
  | { kind: 'complete'; campaigns: ReadonlyMap<string, Campaign> }
  | { kind: 'incomplete'; campaigns: ReadonlyMap<string, Campaign>; reason: string }
  | CampaignFailure
