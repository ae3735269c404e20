// What the rest of the program knows of the history: versions, why they are in their state, and the
// rule that every change of state is one durable transaction with its event. Five ports, by who asks.

import type { FeedsyncError } from '../lib/errors.ts'
import type { AttemptOutcome } from '../upload/port.ts'
import type {
  Attempt,
  DaemonRecord,
  HistoryEvent,
  KnownFile,
  ListFilter,
  Reason,
  UploadRequest,
  Version,
  VersionPatch,
} from './records.ts'
import type { State } from './states.ts'

export type * from './records.ts'
export type { ShowReport, StatusReport, UploadReport } from './report.ts'
export type { State }

/** Of a version that waits: what tells whose turn it is. */
type Turn = Pick<Version, 'feed' | 'account'>

/** Versions, for those who only ask. */
export interface VersionReads {
  version(id: number): Version | null
  newest(feed: string): Version | null
  /** The feed's newest version whose bytes are known (sha256 set), in any state: what new bytes are compared with. */
  newestTaken(feed: string): Version | null
  /** The version of this feed that was uploaded last. */
  lastUploaded(feed: string): Version | null
  /** Whether a later version of the same path is in one of these states, be it restored or named by a person. */
  hasNewerAt(version: Pick<Version, 'id' | 'path'>, states: readonly State[]): boolean
  /** What storage or a person confirmed of this feed last: the newest version that was uploaded, released or restored. */
  confirmed(feed: string, except: number): Version | null
  /**
   * What a version of this feed is compared with before it is sent, at most three: the last confirmed one, the
   * newest accepted one that still waits or is on its way, and one since that storage may have. What is held, rejected
   * or discarded is none of them: neither has the service it, nor did the vendor mean it.
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
  events(id: number, limit?: number): HistoryEvent[]
  /** How many events a version has. */
  eventCount(id: number): number
  /** Wall ms at which a file of this version came last, be it with the same bytes; null where none came by now. */
  lastArrivalAt(id: number, now: number): number | null
}

/** The first of the five ports: versions and their steps. Each write is one transaction with its event. */
export interface Versions extends VersionReads {
  /** Adds a version in `settling` (or another first state) with its first event, and makes it its feed's newest. */
  add(version: {
    feed: string
    path: string
    account: string | null
    state: State
    reason: Reason | null
    at: number
    patch?: VersionPatch
  }): Version
  /** Changes the state. Throws on a step that states.ts does not have. */
  move(id: number, to: State, reason: Reason | null, at: number, patch?: VersionPatch): Version
  /** Changes fields without a change of state (hence without an event); `reason` absent: it stays. */
  update(id: number, patch: VersionPatch, reason?: Reason | null): Version
  /** The same bytes were found again: a `seen` event, one for all times in a row. */
  seen(id: number, reason: Reason, at: number): void
  /**
   * Takes back a version that turned out to be no version (the same bytes as its feed's newest). Only without a sha256.
   * What names it names `heir` then; without one, the newest of its feed.
   */
  forget(id: number, heir?: number): void
  /** Versions of a feed whose bytes are kept, the newest first. */
  spooled(feed: string): { id: number; state: State; spool: string }[]
  /** Names of the spool files that versions still need: a restored version shares that of the earlier one. */
  spoolNames(): string[]
  /** Takes back all approvals. */
  forgetApprovals(): void
  /** The highest id that a version ever had; 0 before the first one. */
  lastId(): number
  /**
   * Waiting versions whose time has come (lib/due.ts), one a feed, none that uploads or is in `except`: in the order
   * of `turns`, which reads all of them, and otherwise oldest first.
   */
  due(
    now: number,
    limit?: number,
    except?: Pick<ReadonlySet<string>, 'has' | 'size'>,
    turns?: ((a: Turn, b: Turn) => number) | null,
  ): Version[]
  /** Makes due now what is queued for later. */
  makeDue(): void
  /** Paths of incomplete files whose deadline has passed, or is further away than `longestMs`: see lib/due.ts. */
  expired(now: number, longestMs: number): string[]
  /** The wall clock was set by so many ms: incomplete files keep the time that they still had. */
  shiftDeadlines(byMs: number): void
  /** The earliest `nextAttemptAt` or `deadlineAt` after now, or null. */
  nextDueAt(now: number): number | null
  /**
   * Forgets versions in a final state older than this, but not a feed's newest or last uploaded. `endedBefore`: a feed
   * that is called by its path goes whole when its file has left and nothing has happened to it since; `removeCopy` gets
   * its copy in the spool. Answers how many. Takes its time in small steps, and ends after the present one when the
   * signal aborts.
   */
  prune(
    before: number,
    signal?: AbortSignal,
    feeds?: { endedBefore: number; removeCopy: (spool: string) => Promise<void> },
  ): Promise<number>
}

/** The second port: the attempts to deliver a version. */
export interface Attempts {
  /** Oldest first; with a limit the newest ones. */
  attempts(id: number, limit?: number): Attempt[]
  startAttempt(id: number, at: number, key: string | null): number
  endAttempt(
    id: number,
    n: number,
    at: number,
    result: Pick<Attempt, 'status' | 'code' | 'bytesSent' | 'key'> & { outcome: AttemptOutcome },
  ): void
  /** Start (wall ms) of the first attempt since which all that ended had this code; null: the last had another. */
  failingSince(id: number, code: string): number | null
  /** After a crash: attempts that were running end as `unknown`, `checking` settles again, `uploading` waits again. */
  recover(at: number): { checking: number; uploading: number }
}

/** The third port: what the paths in the folder were found to be. */
export interface Files {
  known(path: string): KnownFile | null
  knownFiles(): KnownFile[]
  /** Remembers what a path was found to be. */
  know(file: Omit<KnownFile, 'missingSince'>): void
  setMissing(path: string, since: number | null): void
  unknow(path: string): void
  /** The version that a path was last found to be; null while that is not known. */
  lastVersionAt(path: string): Version | null
  /** Versions that are `settling`, `incomplete` or `checking`, their bytes unknown, the oldest first. */
  unread(): { path: string; state: State }[]
  /** The version that is in the making at this path, its bytes not known yet; it may be `gone`. */
  pendingVersionAt(path: string): Version | null
  /** Paths that were found to be this version. */
  pathsOf(id: number): string[]
  /** Paths that were found to be a version that is rejected. */
  rejectedFiles(): string[]
}

/** The fourth port: files that a person hands to a running daemon. */
export interface Requests {
  request(id: number): UploadRequest | null
  addRequest(file: { path: string; source: string; feed: string | null; at: number }): UploadRequest
  openRequests(): UploadRequest[]
  answerRequest(id: number, answer: { versionId: number } | { problem: string }): void
}

/** The fifth port: small texts that other parts of the program keep here, and the daemon's own record. */
export interface Notes {
  /** null where there is none. */
  note(name: string): string | null
  notes(prefix: string): string[]
  /** null removes it. */
  setNote(name: string, value: string | null): void
  daemon(): DaemonRecord | null
  setDaemon(record: DaemonRecord): void
  updateDaemon(patch: Partial<DaemonRecord>): void
}

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
  /** Why the open database is not the one at its path any more, once all that can be is saved; null: it is. */
  lost(): FeedsyncError | null
}

/** What those see who only ask. */
export interface HistoryReader
  extends VersionReads,
    Pick<Attempts, 'attempts'>,
    Pick<Files, 'known'>,
    Pick<Requests, 'request'>,
    Pick<Notes, 'daemon'>,
    Disposable {}

/**
 * All of it; whoever needs less names the ports it asks. Writes are synchronous and durable when they return
 * (`synchronous=FULL`). Throws `FeedsyncError` with the system's reason when the database cannot be written (full,
 * read-only, locked, corrupt).
 */
export interface History
  extends Versions,
    Attempts,
    Files,
    Requests,
    Notes,
    Transactions,
    Disposable {}
