// The types that other rooms use to deliver one version to storage.

import type { Failure } from '../lib/decision-table.ts'

export type { Failure } from '../lib/decision-table.ts'

export type AttemptOutcome = 'stored' | 'refused' | 'failed' | 'unknown'

export interface AttemptEnd {
  outcome: AttemptOutcome
  status: number | null
  code: string | null
  bytesSent: number
  key: string | null
}

/** AttemptLog is written durably before and after each attempt. The object key is the only form field in it. */
export interface AttemptLog {
  /** started begins an attempt and returns its handle, or null if the version must no longer be sent. */
  started(): Promise<number | null>
  /** sending is called before the first byte of the file; false: do not send it. `key` is the object key. */
  sending(handle: number, key: string): Promise<boolean>
  ended(handle: number, end: AttemptEnd): void
  /** attemptsInARow counts the latest attempts that all ended with this code, including those of earlier deliveries. */
  attemptsInARow(code: string): number
}

export interface Delivery {
  /** The id of the version. */
  id: number
  /** The feed of the version: the breaker counts the feeds that an origin refuses. */
  feed: string
  /** The spool file: private, immutable, checked. */
  file: string
  bytes: number
  md5: string
  account: string | null
  /** The path of the file in the folder. */
  path: string
  /** Attempts of earlier deliveries of this version: each one makes the wait longer. */
  attemptsBefore: number
  /** A person asked for a try now: the first attempt ignores holds and breakers. */
  isRetried: boolean
  attempts: AttemptLog
  /** progress reports the bytes of the file that the socket has taken so far, for a progress bar. */
  progress?: (bytesSent: number) => void
}

export type DeliveryResult =
  | { kind: 'stored'; fileUrl: string | null; etagVerified: boolean; warning: string | null }
  /** The next try is at `at` (wall ms). The version stays queued. */
  | { kind: 'later'; at: number; failure: Failure }
  /** The service refuses the account. The version stays queued. */
  | { kind: 'credentials'; failure: Failure }
  /** This version cannot succeed without a person. */
  | { kind: 'refused'; failure: Failure }
  | { kind: 'aborted' }

/** UploadHealth is the worse of two states: that of the service and that of its storage. */
export interface UploadHealth {
  /**
   * `unknown`: no request was sent yet. `degraded`: the last answer was a transient failure, or the storage of single
   * accounts is down. `down`: a breaker is open.
   */
  state: 'ok' | 'degraded' | 'down' | 'unknown'
  /** A plain sentence; null if ok or unknown. */
  reason: string | null
  /** Wall ms of the next probe; null while a probe runs and in any state but `down`. */
  nextProbeAt: number | null
}

/** Uploader runs the attempts of one delivery. It never throws because of the network or the other side. */
export type Uploader = (delivery: Delivery, signal: AbortSignal) => Promise<DeliveryResult>
