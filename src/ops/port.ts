// What the rest of the program knows of operations: alerts, the endpoint, metrics, systemd. They read the
// committed history and the state of the parts; nothing here decides about feeds.

import type { CampaignRun } from '../campaigns/port.ts'
import type { Pauses, Version, VersionReads } from '../history/port.ts'
import type { SkippedPath } from '../inbox/port.ts'
import type { Clock } from '../lib/clock.ts'
import type { Condition } from '../lib/conditions.ts'
import type { Secret } from '../lib/secrets.ts'
import type { Progress } from '../lib/units.ts'
import type { AlertEvent } from './alert-events.ts'
import type { Finding } from './doctor/finding.ts'

/** `release 9` as a person can copy it: with the program and, where it is needed, the configuration. */
export type CommandLine = (command: string) => string

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
  /** Why the service refuses credentials; null when it does not. Another `mark`: another set of accounts. */
  refusal(): { reason: string; hint: string; mark: string } | null
  /** What stops or slows the daemon. */
  conditions(): readonly Condition[]
  /** Whether the credentials were last seen to work: a refusal that is merely forgotten proves nothing. */
  trusted(): boolean
  /** How the last look at the campaigns ended, also before a restart; null: none, or no campaigns file. */
  campaigns(): CampaignRun | null
}

/** How the daemon's loop is: what a watchdog and a health check go by. */
export interface Pulse {
  stage: 'starting' | 'running' | 'stopping'
  /** Ms since the loop last turned. */
  sinceRoundMs: number
  /** What stops or slows the daemon, such as a full disk; the critical ones first. */
  conditions: readonly Condition[]
}

/** What the daemon says of itself, in its file, on its page and in its metrics. Times are wall ms. */
export interface DaemonState {
  pid: number
  /** Name of the user that it runs as. */
  user: string
  startedAt: number
  /** When its loop last turned, within 30 s. */
  heartbeatAt: number
  lastScanAt: number | null
  /** null before it watches the folder. */
  mode: 'events' | 'poll' | null
  /** Why polling; null with events. */
  modeReason: string | null
  service: 'ok' | 'degraded' | 'down' | 'credentials' | 'unknown'
  /** Why the service is not `ok`; null otherwise. */
  serviceReason: string | null
  /** Nothing is sent before that; null: it may be. */
  nextProbeAt: number | null
  clockSkewMs: number | null
  /** What stops or slows it, the critical ones first. */
  conditions: readonly Condition[]
  /** What it found when it last looked at its host; null before its first look has ended. */
  checks: { at: number; findings: readonly Finding[] } | null
  /** Uploads that run, by id of the version. */
  uploads: Readonly<Record<number, Progress>>
  /** Old temporary names of the last listing, the oldest first and not all. */
  unfinished: readonly { path: string; modifiedAt: number }[]
  /** Files of the last listing that `inbox.include` leaves out. */
  ignored: NameList
  /** Paths that are passed over, by path. */
  skipped: readonly SkippedPath[]
}

/** How many, and the first by name. */
export interface NameList {
  count: number
  paths: readonly string[]
}

export type Listen = { kind: 'tcp'; host: string; port: number } | { kind: 'unix'; path: string }

/** What metrics are made of beside what they are told. */
export interface MetricsSource extends Pick<AlertFacts, 'overdue' | 'campaigns'> {
  readonly history: VersionReads & Pick<Pauses, 'pauses'>
  daemon(): DaemonState
  readonly clock: Pick<Clock, 'now'>
}
