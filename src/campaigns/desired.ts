// What the campaigns file wants, after reading. No behaviour.

import type { Amount } from '../lib/amount.ts'
import type { Values } from './fields.ts'
import type { CanonicalTargeting } from './targeting.ts'

export interface Desired {
  campaigns: DesiredCampaign[]
  removed: Removal[]
  guards: Guards
}

export interface DesiredCampaign {
  /** The external campaign id: the key, and always part of the targeting. */
  key: string
  /** Without the token. */
  name: string
  /** The other fields; one that is absent is not managed. */
  values: Values
  targeting?: CanonicalTargeting
  /** Lists of the targeting that the file writes down without a value. */
  emptyLists: readonly string[]
  /** The service's id of an existing campaign; null: feedsyncd makes one. */
  campaignId: string | null
  /** The campaign may be made without a filter beside its id. */
  allPostings: boolean
}

export interface Removal {
  key: string
  endDate: string
}

/** What holds back a change that can raise spending. */
export interface Guards {
  maxBudget: Amount
  maxExposure: Amount
  raisePercent: number
  createsPerDay: number
  /** 0 to 1. */
  maxShareOfFeed: number
  /** Smaller feeds are left out: a few postings may well belong to one campaign. */
  fromPostings: number
}

/** The guards of a file that names none. */
export const DEFAULT_GUARDS: Guards = {
  maxBudget: 50_000_000,
  maxExposure: 200_000_000,
  raisePercent: 50,
  createsPerDay: 10,
  maxShareOfFeed: 0.5,
  fromPostings: 100,
}

/** Where there is no file that can be read. */
export const NOTHING_DESIRED: Desired = { campaigns: [], removed: [], guards: DEFAULT_GUARDS }
