// The ports of the history for the rest of the program: versions, the reasons of their states, attempts, files
// and transactions. Every change of state is one durable transaction with its event.

import type { State } from '../domain/states.ts'
import type { FeedsyncError } from '../lib/errors.ts'
import type { Accounts, Rival } from './accounts.ts'
import type { KnownToReceiver, ToldAlert } from './alert-receivers.ts'
import type { HeldDifference } from './differences.ts'
import type { Files } from './files.ts'
import type { PendingReceipt } from './pending-receipts.ts'
import type { Prune } from './pruning.ts'
import type { StateMark } from './state-mark.ts'
import type { Tables } from './tables.ts'
import type { Recent, VersionReads } from './version-reads.ts'

export type * from './rows.ts'
export type { HistoryReader } from './tables.ts'
export type { Id, Transition } from './transitions.ts'
export type {
  Accounts,
  Files,
  HeldDifference,
  KnownToReceiver,
  PendingReceipt,
  Recent,
  Rival,
  State,
  ToldAlert,
  VersionReads,
}

/** Transactions run work on all ports, and tell the state of the database itself. */
export interface Transactions {
  /** atomically runs `work` in one transaction: all of it or nothing. Calls may be nested. */
  atomically<T>(work: () => T): T
  /**
   * commit runs `work` in a transaction that it shares with other work of the same moment, and resolves once it is
   * durable. Rejects with an error that `work` threw, which does not affect the other work, or with an error of the
   * database. It waits up to 5 s for a lock of another process without blocking the thread. `work` can run more than
   * once, so it must do nothing outside the database. `when` is `now`, or `soon` for work that can wait a few ms to
   * share a commit.
   */
  commit<T>(work: () => T, when?: 'now' | 'soon'): Promise<T>
  /**
   * afterCommit runs `step` once the current transaction is durable, or at once if no transaction runs. After a
   * rollback, `step` never runs.
   */
  afterCommit(step: () => void): void
  /** dataVersion returns a number that changes when another process writes. It is cheap enough to ask each second. */
  dataVersion(): number
  /** keepLogSmall empties a large write-ahead log unless a reader still needs it. Returns the log's size in bytes. */
  keepLogSmall(): number
  /** lost returns why the open database, or a file beside it, is not the file at its path any more, or null. */
  lost(): FeedsyncError | null
}

/**
 * History is all ports together. Code that needs less names the ports that it uses. Writes are synchronous and durable
 * when they return (`synchronous=FULL`). They throw `FeedsyncError` with the reason when the database cannot be written
 * (full, read-only, locked, corrupt).
 */
export type History = Tables &
  Transactions &
  Disposable & {
    prune: Prune
    /** mark detects a database that was restored from a copy. */
    readonly mark: StateMark
  }
