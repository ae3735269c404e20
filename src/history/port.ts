// What the rest of the program knows of the history: versions, why they are in their state, and the
// rule that every change of state is one durable transaction with its event. Five ports, by who asks.

import type { FeedsyncError } from '../lib/errors.ts'
import type { Attempts } from './attempts.ts'
import type { Files } from './files.ts'
import type { Notes } from './notes.ts'
import type { Pauses } from './pauses.ts'
import type { pruner } from './pruning.ts'
import type { Requests } from './requests.ts'
import type { StateMark } from './state-mark.ts'
import type { State } from './states.ts'
import type { VersionReads } from './version-reads.ts'
import type { VersionWrites } from './version-writes.ts'

export type * from './rows.ts'
export type { Attempts, Files, Notes, Pauses, Requests, State, VersionReads }

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
  Pick<Files, 'datedPaths' | 'known' | 'lastVersionAt' | 'missingSince'> &
  Pick<Notes, 'note'> &
  Pick<Pauses, 'pauses'> &
  Pick<Requests, 'request'> &
  Disposable

/**
 * All of it; whoever needs less names the ports it asks. Writes are synchronous and durable when they return
 * (`synchronous=FULL`). Throws `FeedsyncError` with the system's reason when the database cannot be written (full,
 * read-only, locked, corrupt).
 */
export type History = Versions &
  Attempts &
  Files &
  Requests &
  Notes &
  Pauses &
  Transactions &
  Disposable & {
    /** Tells a database that was put back from a copy. */
    readonly mark: Pick<StateMark, 'renew'>
  }
