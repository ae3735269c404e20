// What the rest of the program knows of delivering one version to storage.

import type { Failure } from '../lib/decision-table.ts'

export type { Failure } from '../lib/decision-table.ts'

export type AttemptOutcome = 'stored' | 'refused' | 'failed' | 'unknown'

/** How an attempt ended. */
export interface AttemptEnd {
  outcome: AttemptOutcome
  status: number | null
  code: string | null
  bytesSent: number
  key: string | null
}

/** Written before and after each attempt, durably. Never holds a form field but the object's key. */
export interface AttemptLog {
  /** Called when an attempt begins; answers its handle, or null where the version is not to be sent any more. */
  started(): Promise<number | null>
  /** Called before the first byte of the file is sent; false where it is not to be sent any more. `key`: the object's key. */
  sending(handle: number, key: string): Promise<boolean>
  ended(handle: number, end: AttemptEnd): void
  /** How many of the last attempts that ended had this code, one after the other, earlier deliveries included. */
  attemptsInARow(code: string): number
}

export interface Delivery {
  /** Of its version. */
  id: number
  /** Of its version: the breaker counts the feeds that an origin refuses. */
  feed: string
  /** The spool file: private, immutable, checked. */
  file: string
  bytes: number
  md5: string
  account: string | null
  /** Of the file in the folder. */
  path: string
  /** Attempts that earlier deliveries of this version made: the more there are, the longer it waits. */
  attemptsBefore: number
  /** A person wants it to be tried now: its first attempt is made whatever its account and origins are up to. */
  isRetried: boolean
  attempts: AttemptLog
  /** Bytes of the file handed to the socket so far, for a progress bar. */
  progress?: (bytesSent: number) => void
}

export type DeliveryResult =
  | { kind: 'stored'; fileUrl: string | null; etagVerified: boolean; warning: string | null }
  /** Try again at `at` (wall ms): the version stays queued. */
  | { kind: 'later'; at: number; failure: Failure }
  /** The service refuses the account. The version stays queued. */
  | { kind: 'credentials'; failure: Failure }
  /** This version cannot succeed without a person. */
  | { kind: 'refused'; failure: Failure }
  | { kind: 'aborted' }

/** How the service and its storage have answered lately: the worst of the two. */
export interface UploadHealth {
  /**
   * `unknown`: nothing was asked yet. `degraded`: the last answer was a transient failure, or storage of single accounts
   * is down. `down`: a breaker is open.
   */
  state: 'ok' | 'degraded' | 'down' | 'unknown'
  /** Plain sentence; null when ok or unknown. */
  reason: string | null
  /** Wall ms of the next probe; null unless down, and while a probe runs. */
  nextProbeAt: number | null
}

/** Runs the attempts of one delivery. Never throws for what the network or the other side does. */
export type Uploader = (delivery: Delivery, signal: AbortSignal) => Promise<DeliveryResult>
