// The types of the history's rows for the rest of the program.

import type { Disposition } from '../domain/departure.ts'
import type { PostingChanges } from '../domain/difference.ts'
import type { GuardName, State } from '../domain/states.ts'
import type { FileIdentity } from '../lib/files.ts'

/** Reason is why a version is in its state. Code decides by `code`; the sentences are for people. */
export interface Reason {
  /** A stable short name: from reason-codes.ts, the check, a guard, the system, the service or storage. */
  code: string
  /** A plain sentence. */
  reason: string
  /** What a person can do, in a plain sentence; absent when nothing needs doing. */
  hint?: string | null
  /** The place in the document, counted from 1. */
  position?: { line: number; column: number } | null
}

export interface Version {
  id: number
  feed: string
  /** Relative to the inbox; absolute for a file from elsewhere. */
  path: string
  /** The partner account of the feed's rule; null means the configured identity. */
  account: string | null
  state: State
  /** The parts of the `Reason`; null when the state needs no reason. */
  reason: string | null
  reasonCode: string | null
  hint: string | null
  line: number | null
  column: number | null
  /** The guard that holds the version; null when it is not held. */
  guard: GuardName | null
  /** A person released or restored the version: guards let it pass, and later versions are compared with it. */
  approved: boolean
  sha256: string | null
  md5: string | null
  bytes: number | null
  encoding: string | null
  root: string | null
  records: string | null
  postings: number | null
  /** Postings without an id. */
  withoutId: number | null
  /** Postings whose id another posting has too. Without ids, their content counts. */
  duplicates: number | null
  /** An example of the placeholders that stand for most ids or titles; null if the feed is not an unfilled template. */
  placeholder: string | null
  requisitionIds: number | null
  externalCampaignIds: Record<string, number> | null
  changes: PostingChanges | null
  warnings: string[]
  /** Number of attempts so far. */
  attempts: number
  /** Number of attempts that a person asked for. These attempts do not lengthen the wait before the next attempt. */
  retries: number
  /** Wall ms. */
  detectedAt: number
  /** Wall ms of the last change of the file; null means not known. */
  modifiedAt: number | null
  /**
   * The newest date in the names of its files, `YYYYMMDDHHMMSS`. Without a date in the names, the newest date that its
   * feed had when it came. null if the feed has no dates, or its dates do not count.
   */
  date: string | null
  uploadedAt: number | null
  nextAttemptAt: number | null
  /** Wall ms at which an incomplete file was first read at its current size. */
  incompleteSince: number | null
  fileUrl: string | null
  etagVerified: boolean | null
  /** Name of the copy in the spool; null without a copy. */
  spool: string | null
}

export type VersionPatch = Partial<
  Omit<
    Version,
    'id' | 'feed' | 'path' | 'state' | 'attempts' | 'retries' | 'detectedAt' | ReasonField
  >
>

/** NewVersion is a version that is added, in one of the first states. */
export interface NewVersion extends Pick<Version, 'feed' | 'path' | 'account' | 'state'> {
  reason: Reason | null
  patch?: VersionPatch
}

export type ReasonField = 'reason' | 'reasonCode' | 'hint' | 'line' | 'column'

/** RuleInForce is what the rules of the configuration (`FeedRule`) say about a path. */
export interface RuleInForce {
  feed: string
  account: string | null
  /** The dates in the names of files order the versions of the feed. */
  dated: boolean
}

/** Origin is a path in the folder, and the feed of its bytes. */
export interface Origin {
  path: string
  /** null if a person named the file, which is then taken at once, or if nobody looks at the file (event `ruled`). */
  identity: FileIdentity | null
  rule: RuleInForce
}

export interface KnownFile {
  path: string
  identity: FileIdentity
  /** The version of the file with this identity, also after a `seen` event. */
  versionId: number
  /** Wall ms of the first listing without the file; null while it is there. */
  missingSince: number | null
}

/** MovedFile is what became of the file at a path after its version had ended. */
export interface MovedFile {
  path: string
  versionId: number
  disposition: Disposition
  /** Wall ms. */
  at: number
}

export type AttemptOutcome = 'stored' | 'refused' | 'failed' | 'unknown'

/** AttemptEnd is how an attempt ended. The object key is the only field of a form that the history has. */
export interface AttemptEnd {
  /** Wall ms. */
  endedAt: number
  outcome: AttemptOutcome
  status: number | null
  code: string | null
  bytesSent: number
  key: string | null
}

export interface Attempt {
  n: number
  startedAt: number
  endedAt: number | null
  /** null while the attempt runs. */
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
  /** How many times in a row the same bytes came, from `firstAt` (wall ms) to `at`. Absent if they came once. */
  count?: number
  firstAt?: number
}

/** Pause stops new uploads of a feed. Times are wall ms. */
export interface Pause {
  /** null means all feeds. */
  feed: string | null
  since: number
  /** null means until a person resumes. */
  until: number | null
  /** Who paused. */
  by: string
}

/** InForce has the pauses at one moment. */
export interface InForce {
  /** The pause of all feeds comes first. */
  all: readonly Pause[]
  /** of returns the pause that applies to a feed, or null. */
  of(feed: string): Pause | null
}

export interface UploadRequest {
  id: number
  /** The path in the history: relative to the inbox, or absolute for a file from elsewhere. */
  path: string
  /** Absolute path. */
  source: string
  /** The feed that the person named; null if the rules decide. */
  feed: string | null
  at: number
  /** The id of the version that the file became; null as long as there is no version. */
  versionId: number | null
  /** Why the file became no version; null while the daemon works on the request, and for a version. */
  reason: string | null
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

/** Expectation says when the next version of a feed is expected. */
export interface Expectation {
  /** ISO 8601 UTC; null means no version is expected. */
  expectedBy: string | null
  overdue: boolean
}
