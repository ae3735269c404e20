// What the rest of the program knows of the history: versions, their closed set of states, and the
// rule that every change of state is one durable transaction with its event.

import type { FileIdentity, GuardName, PostingChanges } from '../feed/port.ts'
import type { Condition } from '../lib/conditions.ts'
import type { FeedsyncError } from '../lib/errors.ts'
import type { AttemptOutcome } from '../upload/port.ts'

/** The states of a version: docs/design.md. */
export const STATES = [
  'settling',
  'incomplete',
  'checking',
  'rejected',
  'held',
  'queued',
  'uploading',
  'uploaded',
  'superseded',
  'failed',
  'discarded',
  'gone',
] as const

export type State = (typeof STATES)[number]

/** States that something still has to happen to, by itself or by a person. */
export const OWED: readonly State[] = [
  'settling',
  'incomplete',
  'checking',
  'held',
  'queued',
  'uploading',
  'failed',
]

export type Changes = PostingChanges

export interface Version {
  id: number
  feed: string
  /** Relative to the inbox. */
  path: string
  /** Partner account, from the feed's rule; null: the configured identity. */
  account: string | null
  state: State
  /** Why it is in this state, a plain sentence; null where the state says it all. */
  reason: string | null
  /** What to do about it, a plain sentence; null where nothing is to be done. */
  hint: string | null
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
  changes: Changes | null
  warnings: string[]
  /** Number of attempts so far. */
  attempts: number
  /** Wall ms. */
  detectedAt: number
  uploadedAt: number | null
  nextAttemptAt: number | null
  /** Wall ms at which an incomplete file is rejected. */
  deadlineAt: number | null
  fileUrl: string | null
  etagVerified: boolean | null
  /** Name of the file in the spool, while it is kept. */
  spool: string | null
}

/** What a change of state may set beside it. */
export type VersionPatch = Partial<
  Omit<Version, 'id' | 'feed' | 'path' | 'state' | 'attempts' | 'detectedAt'>
>

/** What we know of a path in the folder. */
export interface KnownFile {
  path: string
  identity: FileIdentity
  /** The version that this identity was last found to be (also by `seen`). */
  versionId: number
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
  /** The same bytes came so many times in a row, first at this wall ms and last at `at`; absent for once. */
  count?: number
  firstAt?: number
}

/** What `status` tells of the daemon; written by the daemon only. */
export interface DaemonRecord {
  pid: number
  startedAt: number
  lastScanAt: number | null
  mode: 'events' | 'poll'
  /** Why polling; null with events. */
  modeReason: string | null
  service: ServiceState
  /** Why the service is not `ok`; null otherwise. */
  serviceReason: string | null
  clockSkewMs: number | null
  /** What stops or slows it, as it was last written. */
  conditions: readonly Condition[]
  /** Old temporary names of the last listing, the oldest first and not all; absent before the first one. */
  unfinished?: readonly { path: string; modifiedAt: number }[]
  /** Files of the last listing that `inbox.include` leaves out: how many, and the first by name. */
  ignored?: { count: number; paths: readonly string[] }
}

export type ServiceState = 'ok' | 'degraded' | 'down' | 'credentials' | 'unknown'

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
  /** Only versions with a smaller id. */
  before?: number
  /** All versions, not just the newest of each feed. */
  all?: boolean
}

export interface HistoryReader extends Disposable {
  version(id: number): Version | null
  newest(feed: string): Version | null
  /** The feed's newest version whose bytes are known (sha256 set), in any state: what new bytes are compared with. */
  newestTaken(feed: string): Version | null
  /** The version of this feed that was uploaded last. */
  lastUploaded(feed: string): Version | null
  /** What storage or a person confirmed of this feed last: the newest version that was uploaded, released or restored. */
  confirmed(feed: string, except: number): Version | null
  /**
   * What a version of this feed is compared with before it is sent, at most three: the last confirmed one, the
   * newest accepted one that still waits or is on its way, and one since that storage may have.
   */
  baselines(feed: string, except?: number): Version[]
  /** Which share of its postings (0 to 1) the feed lost with each of its last uploads, the newest first. */
  turnovers(feed: string): number[]
  /** Newest first. */
  list(filter: ListFilter): Version[]
  /** Postings of a feed's last versions, newest first: less to read than the versions. */
  postings(feed: string, limit: number): (number | null)[]
  count(): Record<State, number>
  /** Wall ms at which the longest waiting version of these states was detected. */
  oldest(states: readonly State[]): number | null
  /** Wall ms of the last upload of all; one that a wrong clock dated after now does not count. */
  lastSuccessAt(now: number): number | null
  /** Oldest first; with a limit the newest ones. */
  attempts(id: number, limit?: number): Attempt[]
  /** Oldest first; with a limit the newest ones. */
  events(id: number, limit?: number): HistoryEvent[]
  /** How many events a version has. */
  eventCount(id: number): number
  /** Wall ms at which a file of this version came last, be it with the same bytes; null where none came by now. */
  lastArrivalAt(id: number, now: number): number | null
  known(path: string): KnownFile | null
  daemon(): DaemonRecord | null
  request(id: number): UploadRequest | null
}

/**
 * Writes are synchronous and durable when they return (`synchronous=FULL`).
 * Throws `FeedsyncError` with the system's reason when the database cannot be written (full, read-only, locked, corrupt).
 */
export interface History extends HistoryReader {
  /** Runs `work` in one transaction: all of it or nothing. Nests. */
  atomically<T>(work: () => T): T
  /**
   * Runs `work` soon, in a transaction that it shares with other works of the same moment, and resolves once it is durable.
   * Rejects with what it threw, alone, or with trouble of the database. A lock of another process is waited for, up to 5 s,
   * while everything else goes on. `work` may run more than once: what it does elsewhere is undone by nobody.
   * `when` is `now`, or `soon` for what may wait a few ms for company.
   */
  commit<T>(work: () => T, when?: 'now' | 'soon'): Promise<T>
  /** Adds a version in `settling` (or another first state) with its first event, and makes it its feed's newest. */
  add(version: {
    feed: string
    path: string
    account: string | null
    state: State
    reason: string | null
    at: number
    patch?: VersionPatch
  }): Version
  /** Changes the state, with its event, in one transaction. Throws on a step that does not exist. */
  move(id: number, to: State, reason: string | null, at: number, patch?: VersionPatch): Version
  /** Changes fields without a change of state (hence without an event). */
  update(id: number, patch: VersionPatch): Version
  /** Versions of a feed whose bytes are kept, the newest first. */
  spooled(feed: string): { id: number; state: State; spool: string }[]
  /** What a person approved so far counts no more. */
  forgetApprovals(): void
  /** The highest id that a version ever had; 0 before the first one. */
  lastId(): number
  /** Names of the spool files that versions still need: a restored version shares that of the earlier one. */
  spoolNames(): string[]
  /** The same bytes were found again: a `seen` event, one for all times in a row. */
  seen(id: number, reason: string, at: number): void
  /** Takes back a version that turned out to be no version (the same bytes as its feed's newest). Only without a sha256. */
  forget(id: number): void
  /** Remembers what a path was found to be. */
  know(file: KnownFile): void
  unknow(path: string): void
  knownFiles(): KnownFile[]
  /** Versions that are `settling`, `incomplete` or `checking`, their bytes unknown, the oldest first; `At` also `gone`. */
  unread(): { path: string; state: State }[]
  unreadAt(path: string): Version | null
  /** Paths that were found to be a version that is rejected. */
  rejectedFiles(): string[]
  startAttempt(id: number, at: number, key: string | null): number
  /** Start (wall ms) of the first attempt since which all that ended had this code; null: the last had another. */
  failingSince(id: number, code: string): number | null
  endAttempt(
    id: number,
    n: number,
    at: number,
    result: Pick<Attempt, 'status' | 'code' | 'bytesSent' | 'key'> & { outcome: AttemptOutcome },
  ): void
  /** Waiting versions whose time has come (lib/due.ts), oldest first; one a feed, none that uploads or is in `except`. */
  due(now: number, limit?: number, except?: Pick<ReadonlySet<string>, 'has' | 'size'>): Version[]
  /** Makes due now what is queued for later. */
  makeDue(): void
  /** Paths of incomplete files whose deadline has passed, or is further away than `longestMs`: see lib/due.ts. */
  expired(now: number, longestMs: number): string[]
  /** The wall clock was set by so many ms: incomplete files keep the time that they still had. */
  shiftDeadlines(byMs: number): void
  /** The earliest `nextAttemptAt` or `deadlineAt` after now, or null. */
  nextDueAt(now: number): number | null
  setDaemon(record: DaemonRecord): void
  updateDaemon(patch: Partial<DaemonRecord>): void
  addRequest(file: { path: string; source: string; feed: string | null; at: number }): UploadRequest
  openRequests(): UploadRequest[]
  answerRequest(id: number, answer: { versionId: number } | { problem: string }): void
  /** A small text that another part of the program keeps here; null where there is none. */
  note(name: string): string | null
  notes(prefix: string): string[]
  /** null removes it. */
  setNote(name: string, value: string | null): void
  /** Why the open database is not the one at its path any more, once all that can be is saved; null: it is. */
  lost(): FeedsyncError | null
  /** Changes whenever another process wrote: cheap enough to ask each second. */
  foreignChanges(): number
  /** After a crash: attempts that were running end as `unknown`, `checking` settles again, `uploading` waits again. */
  recover(at: number): { checking: number; uploading: number }
  /**
   * Forgets versions in a final state older than this, never a feed's newest or last uploaded. Answers how many. Takes its
   * time in small steps, and ends after the present one when the signal aborts.
   */
  prune(before: number, signal?: AbortSignal): Promise<number>
}
