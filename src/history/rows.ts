// The rows of the history as the rest of the program sees them.

import type { FileIdentity, GuardName, PostingChanges } from '../feed/port.ts'
import type { AttemptOutcome } from '../upload/port.ts'
import type { State } from './states.ts'

/** Why a version is in its state. Code decides by `code`, people read the sentences. */
export interface Reason {
  /**
   * Stable and short: of reason-codes.ts, or the code of who refused it (the check, a guard, the system, the
   * service, storage).
   */
  code: string
  /** A plain sentence. */
  text: string
  /** What to do about it, a plain sentence; absent where nothing is to be done. */
  hint?: string | null
  /** Where in the document, from 1 on. */
  position?: { line: number; column: number } | null
}

export interface Version {
  id: number
  feed: string
  /** Relative to the inbox. */
  path: string
  /** Partner account, from the feed's rule; null: the configured identity. */
  account: string | null
  state: State
  /** The parts of its `Reason`; null where the state says it all. */
  reason: string | null
  reasonCode: string | null
  hint: string | null
  line: number | null
  column: number | null
  /** The guard that holds it; null where it is not held. */
  guard: GuardName | null
  /** A person released or restored it: no guard asks again, and it is what later versions are compared with. */
  approved: boolean
  sha256: string | null
  md5: string | null
  bytes: number | null
  encoding: string | null
  root: string | null
  records: string | null
  postings: number | null
  /** Postings without an id; postings with an id (or, without ids, a content) that another one has. */
  withoutId: number | null
  duplicates: number | null
  requisitionIds: number | null
  externalCampaignIds: Record<string, number> | null
  changes: PostingChanges | null
  warnings: string[]
  /** Number of attempts so far. */
  attempts: number
  /** Wall ms. */
  detectedAt: number
  /** Of its file's last change; null: not known. */
  modifiedAt: number | null
  uploadedAt: number | null
  nextAttemptAt: number | null
  /** Wall ms at which an incomplete file was first read with the bytes that it has. */
  incompleteSince: number | null
  fileUrl: string | null
  etagVerified: boolean | null
  /** Name of the file in the spool, while it is kept. */
  spool: string | null
}

/** What a change of state may set beside it. */
export type VersionPatch = Partial<
  Omit<Version, 'id' | 'feed' | 'path' | 'state' | 'attempts' | 'detectedAt' | ReasonField>
>

export type ReasonField = 'reason' | 'reasonCode' | 'hint' | 'line' | 'column'

/** What the rules say of a path: `FeedRule` of the configuration. */
export interface RuleInForce {
  feed: string
  account: string | null
}

/** A path in the folder, and the feed that its bytes belong to. */
export interface Origin {
  path: string
  /** null: a file that a person named, taken as it is. */
  identity: FileIdentity | null
  rule: RuleInForce
}

/** What we know of a path in the folder. */
export interface KnownFile {
  path: string
  identity: FileIdentity
  /** The version that this identity was last found to be (also by `seen`). */
  versionId: number
  /** Wall ms of the first listing that did not show it; null while it is there. */
  missingSince: number | null
}

export interface Attempt {
  n: number
  startedAt: number
  endedAt: number | null
  /** null while it runs. */
  outcome: AttemptOutcome | null
  status: number | null
  code: string | null
  bytesSent: number
  key: string | null
}

export interface HistoryEvent {
  at: number
  from: State | null
  /** The new state, or `seen` for the same bytes again. */
  to: State | 'seen'
  reason: string | null
  reasonCode: string | null
  line: number | null
  column: number | null
  /** The same bytes came so many times in a row, first at this wall ms and last at `at`; absent for once. */
  count?: number
  firstAt?: number
}

/** Nothing new of a feed is sent meanwhile. Times are wall ms. */
export interface Pause {
  /** null: of all feeds. */
  feed: string | null
  since: number
  /** null: until a person resumes. */
  until: number | null
  /** Who paused. */
  by: string
}

/** The pauses at one moment, that of all feeds first. */
export interface InForce {
  all: readonly Pause[]
  /** Why nothing new of a feed is sent; null: it is. */
  of(feed: string): Pause | null
}

/** A file that `feedsyncd upload` hands to a running daemon. */
export interface UploadRequest {
  id: number
  /** How the history calls it: relative to the inbox, or absolute when it lies elsewhere. */
  path: string
  /** Absolute path. */
  source: string
  /** The feed that the person named, or null: by the rules. */
  feed: string | null
  at: number
  /** The version made of it, once there is one. */
  versionId: number | null
  /** Why there is none; null while it is worked on. */
  problem: string | null
}

export interface ListFilter {
  feed?: string
  states?: readonly State[]
  /** Only versions detected at or after this wall ms. */
  since?: number
  limit?: number
  /** All versions, not just the newest of each feed. */
  all?: boolean
}

/** When a feed's next version is due. */
export interface Expectation {
  /** ISO 8601 UTC; null: none is expected. */
  expectedBy: string | null
  overdue: boolean
}
