// What the campaigns' half keeps and asks for: its memory, and what the account's feeds contain.

import type { Amount } from '../lib/amount.ts'
import type { CampaignCreate, CampaignUpdate } from '../service/port.ts'
import type { CanonicalTargeting } from './targeting.ts'

/** Specification section 3. */
export const STATUS = { running: 1, archived: 2, paused: 3 } as const

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
  /** Our changes of the budget within the last day or so, oldest first. */
  budgets?: readonly BudgetChange[]
  /** The last PUT, while nobody knows what became of it. */
  unsettled?: { at: number; body: CampaignUpdate } | null
  /** Wall ms since when the service does not show it; absent while it does. */
  missingSince?: number | null
}

export interface BudgetChange {
  /** Wall ms. */
  at: number
  from: Amount
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
  /** How often each key was made anew, the first time counted; a key that is absent: 1. */
  generations(): ReadonlyMap<string, number>
  /** Forgets the record, so that the next apply makes a campaign of the next generation. */
  recreate(key: string): void
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
  lastPlan(): { id: number; plan: string } | null
  /** How the daemon's last look ended; null: there was none. */
  lastRun(): string | null
  keepRun(run: string): void
}
