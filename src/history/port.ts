// What the rest of the program knows of the history: versions, why they are in their state, and the
// rule that every change of state is one durable transaction with its event. Five ports, by who asks.

import type { FileIdentity, GuardName, PostingChanges } from '../feed/port.ts'
import type { FeedsyncError } from '../lib/errors.ts'
import type { AttemptOutcome } from '../upload/port.ts'
import type { Attempts } from './attempts.ts'
import type { Files } from './files.ts'
import type { Notes } from './notes.ts'
import type { pruner } from './pruning.ts'
import type { Requests } from './requests.ts'
import type { State } from './states.ts'
import type { VersionReads } from './version-reads.ts'
import type { VersionWrites } from './version-writes.ts'

export type { ShowReport, StatusReport, UploadReport } from './report.ts'
export type { Attempts, Files, Notes, Requests, State, VersionReads }

/** The first port: versions and their steps. `VersionReads` is for those who only ask. */
export type Versions = VersionReads & VersionWrites & { prune: ReturnType<typeof pruner> }

/** Transactions on all of these, and the state of the database itself. */
export interface Transactions {
  /** Runs `work` in one transaction: all of it or nothing. Nests. */
  atomically<T>(work: () => T): T
  /**
   * Runs `work` soon, in a transaction that it shares with other works of the same moment, and resolves once it is durable.
   * Rejects with what it threw, alone, or with an error of the database. Waits up to 5 s for a lock of another process,
   * while everything else goes on. `work` may run more than once, so it must do nothing outside the database.
   * `when` is `now`, or `soon` for work that may wait a few ms to share a commit.
   */
  commit<T>(work: () => T, when?: 'now' | 'soon'): Promise<T>
  /** Runs `step` once the transaction that runs is durable, and not at all when it is rolled back; now where none runs. */
  afterCommit(step: () => void): void
  /** Changes whenever another process wrote: cheap enough to ask each second. */
  dataVersion(): number
  /** Why the open database is not the one at its path any more; null: it is. */
  lost(): FeedsyncError | null
}

/** What those see who only ask. */
export type HistoryReader = VersionReads &
  Pick<Attempts, 'attempts'> &
  Pick<Files, 'known' | 'lastVersionAt'> &
  Pick<Notes, 'note'> &
  Pick<Requests, 'request'> &
  Disposable

/**
 * All of it; whoever needs less names the ports it asks. Writes are synchronous and durable when they return
 * (`synchronous=FULL`). Throws `FeedsyncError` with the system's reason when the database cannot be written (full,
 * read-only, locked, corrupt).
 */
export type History = Versions & Attempts & Files & Requests & Notes & Transactions & Disposable

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
