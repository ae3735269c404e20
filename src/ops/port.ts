// What the rest of the program knows of operations: who is told of what. Everything here is fed from
// the committed history and from what the parts say of themselves; nothing here decides about feeds.

import type { DaemonRecord, State, Version } from '../history/port.ts'
import type { Secret } from '../lib/secret.ts'
import type { UploadCounters } from '../upload/port.ts'

export type AlertEvent = 'rejected' | 'held' | 'failed' | 'overdue' | 'credentials'

export interface AlertTarget {
  on: readonly AlertEvent[]
  action: /** A program and its arguments, never a shell. */
    | { kind: 'exec'; command: readonly string[] }
    | { kind: 'webhook'; url: Secret; origin: string; secretFile: string | null }
}

/** What the history does not know, and the daemon does. */
export interface AlertFacts {
  /** Feeds whose next version is late: their newest one, and since when (wall ms). */
  overdue(): { version: Version; expectedBy: number }[]
  /** Why the service refuses the credentials; null when it does not. */
  refusal(): { reason: string; hint: string } | null
  /** Whether the credentials were last seen to work: a refusal that is merely forgotten proves nothing. */
  trusted(): boolean
}

export interface Alerts {
  /** A version changed its state; nothing is read or sent before the next `look`. */
  moved(): void
  /** Starts to tell what is new, as far as it is time to. Never throws; sending goes on in the background. */
  look(signal: AbortSignal): void
  /** Others are to be told from now on; who stays is told nothing twice. */
  retarget(targets: readonly AlertTarget[]): void
  /** Waits for what is being sent. `flush`: first tells all that is left, once. */
  finish(options: { flush: boolean; signal: AbortSignal }): Promise<void>
}

/** How the daemon's loop is: what a watchdog and a health check go by. */
export interface Pulse {
  stage: 'starting' | 'running' | 'stopping'
  /** Ms since the loop last turned. */
  sinceTurnMs: number
  /** What hinders the daemon as a whole, such as a full disk; null when nothing does. */
  trouble: string | null
}

export type Listen = { kind: 'tcp'; host: string; port: number } | { kind: 'unix'; path: string }

/** The part of `status --json` (design section 7) that the page shows. */
export interface StatusModel {
  daemon: {
    pid: number | null
    startedAt: string | null
    lastScanAt: string | null
    mode: string | null
    folderReason: string | null
    unfinished: readonly { path: string; modifiedAt: string | null }[]
  }
  service: { baseUrl: string; state: DaemonRecord['service']; reason: string | null }
  uploads: readonly UploadModel[]
  owed: readonly UploadModel[]
}

export interface UploadModel {
  id: number
  feed: string
  path: string
  state: State
  reason: string | null
  hint: string | null
  postings: number | null
  bytes: number | null
  attempts: number
  nextAttemptAt: string | null
  deadlineAt: string | null
  detectedAt: string | null
  uploadedAt: string | null
  expectedBy: string | null
  overdue: boolean
}

/** What the endpoint answers from; read anew for each request. */
export interface EndpointSource {
  pulse(): Pulse
  record(): DaemonRecord | null
  status(): StatusModel
  /** A feed's versions, newest first. */
  versions(feed: string, limit: number): UploadModel[]
  metrics(): Promise<string>
}

/** What metrics are made of beside what they are told. */
export interface MetricsSource {
  record(): DaemonRecord | null
  count(): Record<State, number>
  oldest(states: readonly State[]): number | null
  lastSuccessAt(): number | null
  counters(): UploadCounters
  overdue(): readonly unknown[]
}

/** Whoever started the daemon and watches over it. */
export interface Supervisor {
  /** Feeds are taken from now on. */
  ready(): void
  /** Not heard before `ready` and after `stopping`, like its end. */
  reloading(): void
  reloaded(): void
  /** Resolves once it was told. */
  stopping(): Promise<void>
}
