// What the rest of the program knows of operations: alerts, the endpoint, metrics, systemd. They read the
// committed history and the state of the parts; nothing here decides about feeds.

import type {
  ShowReport,
  StatusReport,
  UploadReport,
  Version,
  VersionReads,
} from '../history/port.ts'
import type { Clock } from '../lib/clock.ts'
import type { Condition } from '../lib/conditions.ts'
import type { Secret } from '../lib/secrets.ts'
import type { Progress } from '../lib/units.ts'
import type { AlertEvent } from './alert-events.ts'

export type { AlertDesk as Alerts } from './alerts/desk.ts'
export type { DaemonFile } from './daemon-file.ts'
export type { Supervisor } from './systemd/supervisor.ts'

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
  sinceTurnMs: number
  /** What stops or slows the daemon, such as a full disk; the critical ones first. */
  conditions: readonly Condition[]
}

/** What the daemon says of itself, in its file, on its page and in its metrics. Times are wall ms. */
export interface DaemonState {
  pid: number
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
  /** Uploads that run, by id of the version. */
  uploads: Readonly<Record<number, Progress>>
  /** Old temporary names of the last listing, the oldest first and not all. */
  unfinished: readonly { path: string; modifiedAt: number }[]
  /** Files of the last listing that `inbox.include` leaves out. */
  ignored: Named
  /** Symbolic links of the last listing that no pattern of `inbox.include` matches. */
  links: Named
}

/** How many, and the first by name. */
export interface Named {
  count: number
  paths: readonly string[]
}

export type Listen = { kind: 'tcp'; host: string; port: number } | { kind: 'unix'; path: string }

/** What the endpoint answers from; read anew for each request. */
export interface EndpointSource {
  readonly history: VersionReads
  daemon(): DaemonState
  pulse(): Pulse
  status(): StatusReport
  /** A feed's versions, newest first. */
  versions(feed: string, limit: number): UploadReport[]
  version(id: number): ShowReport | null
  metrics(): Promise<string>
  /** Name of this host. */
  readonly host: string
  /** Absolute path of the folder that feeds are dropped into. */
  readonly inbox: string
  readonly commandLine: CommandLine
}

/** What metrics are made of beside what they are told. */
export interface MetricsSource extends Pick<AlertFacts, 'overdue' | 'campaigns'> {
  readonly history: VersionReads
  daemon(): DaemonState
  readonly clock: Pick<Clock, 'now'>
}

/** How a look at the campaigns ended; kept for `status`. */
export interface CampaignRun {
  /** ISO 8601 UTC. */
  at: string
  /** What it was done for: `start`, `file`, `upload`, `interval`, `once`, or a command. */
  cause: string
  mode: 'report' | 'targeting'
  /**
   * `unusable`: the file; `failed`: the service could not be asked; `refused`: it refuses to be asked; `busy`: another
   * process writes campaigns. Only `done` looked at all: with the others, what is below is what the look before found.
   */
  state: 'done' | 'unusable' | 'failed' | 'refused' | 'credentials' | 'busy'
  /** The first look that ended in this state without another in between; ISO 8601 UTC. */
  since: string
  /** Why it is not `done`, and what to do; null otherwise. */
  problem: string | null
  hint: string | null
  /** The entries of the file, in its order. */
  entries: CampaignSeen[]
  /** What a person should know beside them. */
  findings: CampaignFinding[]
  /** Writes that did not end as they should. */
  failures: CampaignWriteFailure[]
}

/** An entry of the file, as the last look saw it; what is null is not known, or not there. */
export interface CampaignSeen {
  /** External campaign id. */
  key: string
  campaignId: string | null
  state: 'new' | 'in line' | 'differs' | 'pending' | 'unknown' | 'blocked'
  /** The first look that found it in this state; ISO 8601 UTC. */
  since: string
  /** Why it is `unknown` or `blocked`. */
  reason: string | null
  /** The one next step, as it can be pasted. */
  next: string | null
  /** What differs, a line each: `budget: 100.00 -> 150.00  [can spend more]`. */
  changes: string[]
  /** Of the campaign, as the service shows it. */
  name: string | null
  status: string | null
  /** Decimal texts. */
  budget: string | null
  spend: string | null
}

export interface CampaignFinding {
  code: string
  /** External campaign id; null: it concerns no entry. */
  key: string | null
  campaignId: string | null
  text: string
  /** The edit or command that settles it; null: nothing has to be done. */
  next: string | null
  /** Monitoring and alerts report it. */
  isReported: boolean
}

export interface CampaignWriteFailure {
  /** External campaign id. */
  key: string
  campaignId: string | null
  outcome: string
  reason: string | null
}
