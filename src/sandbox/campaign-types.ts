// What the service keeps of a campaign, and the switches that make it behave as services may where the
// specification is silent.

import type { SandboxTargeting } from './campaign-body.ts'

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
}

export const DEFAULT_KNOBS = {
  /** Reads show the targeting. */
  echoTargeting: false,
  /** Name of the envelope's list. */
  listField: 'campaigns',
  /** The envelope holds a second list of objects with ids. */
  secondList: false,
  /** What `Start` means for the first row. */
  start: 1 as 0 | 1 | 'ignored',
  /** Most rows of a page; a larger `Num` is cut to it. */
  pageSize: 100,
  /** A `Num` above this is refused with 400; null: never. */
  largestNum: null as number | null,
  /** Rows of a page come in another order each time. */
  unsorted: false,
  /** A search without Status leaves archived campaigns out. */
  hideArchived: true,
  /** How `Name` matches. */
  nameRule: 'substring' as 'exact' | 'substring' | 'case-fold',
  fromCache: false as boolean | null,
  /** Names are cut to this many characters. */
  nameLength: null as number | null,
  /** A PUT's targeting replaces the whole, or only the keys that it has. */
  targetingPut: 'replace' as 'replace' | 'merge',
  /** A PUT's empty lists change nothing. */
  ignoreEmptyLists: false,
  /** Fields that any PUT changes beside those it was sent. */
  sideEffect: null as Partial<
    Pick<SandboxCampaign, 'endDate' | 'budget' | 'status' | 'maxCpc'>
  > | null,
  /** ms after its creation until listings show a new campaign. */
  listedAfterMs: 0,
}

export type CampaignKnobs = typeof DEFAULT_KNOBS
