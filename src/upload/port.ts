// What the rest of the program knows of delivering one version to storage.

import type { ConditionCode } from '../lib/conditions.ts'

/**
 * The four classes of design section 4, one behaviour each:
 * `transient` backs off and never gives up, `credentials` pauses everything, `file` ends this version,
 * `broken` is an answer that no retry of ours can mend (our bug, or the service's): ends as `failed`.
 */
export type FailureClass = 'transient' | 'credentials' | 'file' | 'broken'

export interface Failure {
  class: FailureClass
  /** Stable short name: a system code, a storage error code, `http-503`, `policy-expired`, `stalled`. */
  code: string
  /** HTTP status, or null where there was no answer. */
  status: number | null
  /** Plain sentence: what happened, without any secret. */
  reason: string
  /** Plain sentence: what a person can do. */
  hint: string
  /** What the other side asked for, in ms from now; null: nothing. */
  retryAfterMs: number | null
  /** Scheme, host and port that failed: the breaker's key. */
  origin: string | null
  /** What the next attempt should send: the same form, a new one, or nothing. */
  next: 'same-form' | 'new-form' | 'stop'
  /** Of our own files, where that is what failed: what it means for the daemon. */
  condition?: ConditionCode
  /** True when the request may have taken effect although no answer came. */
  ambiguous: boolean
}

export type AttemptOutcome = 'stored' | 'refused' | 'failed' | 'unknown'

/** Written before and after each attempt, durably. Never holds a form field but the object's key. */
export interface AttemptLog {
  /**
   * Called before the first byte is sent; answers the attempt's handle, or null where the version is not to
   * be sent any more. `key`: the object's key, if a form is held.
   */
  started(key: string | null): Promise<number | null>
  ended(
    handle: number,
    result: {
      outcome: AttemptOutcome
      status: number | null
      code: string | null
      bytesSent: number
      key: string | null
    },
  ): void
}

export interface Delivery {
  /** The spool file: private, immutable, checked. */
  file: string
  bytes: number
  md5: string
  account: string | null
  /** Of the file in the folder. */
  path: string
  /** Attempts that earlier deliveries of this version made: the longer it fails, the longer it waits. */
  attemptsBefore: number
  attempts: AttemptLog
  /** Bytes of the file handed to the socket so far, for a progress bar. */
  progress?: (bytesSent: number) => void
}

export type DeliveryResult =
  | { kind: 'stored'; fileUrl: string | null; etagVerified: boolean; warning: string | null }
  /** Try again at `at` (wall ms): the version stays queued. */
  | { kind: 'later'; at: number; failure: Failure }
  /** Pause everything until the key changes, SIGHUP or 15 minutes. The version stays queued. */
  | { kind: 'credentials'; failure: Failure }
  /** This version cannot succeed. `file`: the service or storage refuses this file (`rejected`); `broken`: `failed`. */
  | { kind: 'refused'; failure: Failure }
  | { kind: 'aborted' }

/** How the service and its storage have answered lately: the worst of the two. */
export interface UploadHealth {
  /** `unknown`: nothing was asked yet. `degraded`: the last answer was a transient failure. `down`: a breaker is open. */
  state: 'ok' | 'degraded' | 'down' | 'unknown'
  /** Plain sentence; null when ok or unknown. */
  reason: string | null
  /** Wall ms of the first failure of this row; null when ok or unknown. */
  since: number | null
  /** Wall ms of the next probe; null unless down, and while a probe runs. */
  nextProbeAt: number | null
}

/** Since the process started. */
export interface UploadCounters {
  attempts: number
  stored: number
  failures: number
  /** Bytes of feeds handed to sockets, those of failed attempts included. */
  bytesSent: number
}

export interface Uploader extends AsyncDisposable {
  /** Runs the attempts of one delivery. Never throws for what the network or the other side does. */
  deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryResult>
  health(): UploadHealth
  /** How many more deliveries are worth starting now: while an endpoint is down none, or one to probe it. */
  openings(): number
  /** An endpoint that is down may be probed at once. */
  probeNow(): void
  counters(): UploadCounters
}
