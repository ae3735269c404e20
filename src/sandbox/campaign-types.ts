// What the service keeps of a campaign, and the switches that make it behave as services may where the
// specification is silent.

export interface SandboxTargeting {
  cities: { name: string; stateProvCode: string }[]
  externalCampaignId: string | null
  requisitionIds: string[]
  jobDescKeywords: string[]
  jobTitles: string[]
  postalCodes: string[]
  stateProvCodes: string[]
}

export interface SandboxCampaign {
  id: string
  accountId: string
  name: string
  startDate: string
  endDate: string | null
  budget: number | null
  autoBidLevel: string | null
  cpc: number | null
  maxCpc: number | null
  /** null: one-time, 1: monthly. */
  period: number | null
  /** 1 running, 2 archived, 3 paused. */
  status: number
  leads: number
  paidCpaGoal: number | null
  /** null: all postings. */
  targeting: SandboxTargeting | null
  /** Spent in `spendMonth`, or ever where the budget is one-time. */
  spend: number
  /** yyyy-MM, UTC. */
  spendMonth: string
  /** Wall ms from which listings show it. */
  listedFrom: number
  /** Wall ms from which a read by id finds it. */
  foundFrom: number
}

export interface CampaignKnobs {
  /** Reads show the targeting. */
  echoTargeting: boolean
  /** Name of the envelope's list. */
  listField: string
  /** The envelope holds a second list of objects with ids. */
  secondList: boolean
  /** What `Start` means for the first row. */
  start: 0 | 1 | 'ignored'
  /** Most rows of a page; a larger `Num` is cut to it. */
  pageSize: number
  /** A `Num` above this is refused with 400; null: never. */
  largestNum: number | null
  /** Rows of a page come in another order each time. */
  unsorted: boolean
  /** A search without Status leaves archived campaigns out. */
  hideArchived: boolean
  /** How `Name` matches. */
  nameRule: 'exact' | 'substring' | 'case-fold'
  fromCache: boolean | null
  /** Names are cut to this many characters. */
  nameLength: number | null
  /** A PUT's targeting replaces the whole, or only the keys that it has. */
  targetingPut: 'replace' | 'merge'
  /** A PUT's empty lists change nothing. */
  ignoreEmptyLists: boolean
  /** Fields that any PUT changes beside those it was sent. */
  sideEffect: Partial<Pick<SandboxCampaign, 'endDate' | 'budget' | 'status' | 'maxCpc'>> | null
  /** ms after which a create is done at all. */
  commitAfterMs: number
  /** ms after its commit until listings show a new campaign. */
  listedAfterMs: number
  /** ms after its commit until a read by id finds it. */
  foundAfterMs: number
}

export const DEFAULT_KNOBS: Readonly<CampaignKnobs> = {
  echoTargeting: false,
  listField: 'campaigns',
  secondList: false,
  start: 1,
  pageSize: 100,
  largestNum: null,
  unsorted: false,
  hideArchived: true,
  nameRule: 'substring',
  fromCache: false,
  nameLength: null,
  targetingPut: 'replace',
  ignoreEmptyLists: false,
  sideEffect: null,
  commitAfterMs: 0,
  listedAfterMs: 0,
  foundAfterMs: 0,
}
