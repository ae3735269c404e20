// The types that other rooms use of operations: alerts, the endpoint, metrics, systemd. Operations read the committed
// history and the daemon's state; they decide nothing about feeds.

import type { Command } from '../domain/command.ts'
import type { Condition } from '../domain/conditions.ts'
import type { HistoryReader } from '../history/port.ts'
import type { SkippedPath } from '../inbox/port.ts'
import type { Clock } from '../lib/clock.ts'
import type { Progress } from '../lib/units.ts'
import type { CampaignRun } from './campaigns/run.ts'
import type { CheckFinding } from './doctor/finding.ts'
import type { Problem } from './problem.ts'

/** CommandLine turns `release 9` into a command to paste: it adds the program's name and, if needed, --config. */
export type CommandLine = (command: Command) => string

/** AlertFacts is what the daemon knows and the history does not. */
export interface AlertFacts {
  /** What is wrong now, the worst first. */
  problems(): readonly Problem[]
  service(): DaemonState['service']
  /** Whether the credentials worked at their last use; false before the first use. */
  trusted(): boolean
}

/** Pulse is the progress of the daemon's loop, for the watchdog and the health checks. */
export interface Pulse {
  stage: 'starting' | 'running' | 'stopping'
  /** Ms since the loop's last round began. */
  sinceRoundMs: number
}

/** DaemonState is the daemon's report about itself: in its file, on its page and in its metrics. Times are wall ms. */
export interface DaemonState {
  pid: number
  /** Name of the user that the daemon runs as. */
  user: string
  /** The command that starts this daemon again; null means its unit, or `feedsyncd run`. */
  startWith: string | null
  /** The file that takes the log; null means stdout. */
  logFile: string | null
  startedAt: number
  /** When the loop's last round began; updated at least every 30 s. */
  heartbeatAt: number
  lastScanAt: number | null
  /** How the daemon learns of changes in the folder; null until it watches the folder. */
  mode: 'events' | 'poll' | null
  /** Why the folder is polled; null if the daemon gets events. */
  modeReason: string | null
  service: 'ok' | 'degraded' | 'down' | 'credentials' | 'unknown'
  /** Why the service is not `ok`; null if it is `ok` or was not asked yet. */
  serviceReason: string | null
  /** When the service got into this state. */
  serviceSince: number
  /** Nothing is sent before this time; null if sending is allowed now. */
  nextProbeAt: number | null
  clockSkewMs: number | null
  /** The conditions that last; the oldest comes first. */
  conditions: readonly Condition[]
  /** What the last checks of the host found; null until the first checks have ended. */
  checks: { at: number; findings: readonly CheckFinding[] } | null
  /** Running uploads, by id of the version. */
  uploads: Readonly<Record<number, Progress>>
  /** Old files with temporary names in the last listing: the oldest files, oldest first. */
  unfinished: readonly { path: string; modifiedAt: number | null }[]
  /** Files in the last listing that match no pattern of `inbox.include`. */
  ignored: NameList
  /** Skipped paths, sorted by path. */
  skipped: readonly SkippedPath[]
}

/** NameList counts all names and holds the first ones in alphabetical order. */
export interface NameList {
  count: number
  paths: readonly string[]
}

/** MetricsSource is what the metrics read at each scrape. They count the events that they observe themselves. */
export interface MetricsSource {
  /** The last campaign run, kept over a restart; null if there was none or there is no campaigns file. */
  campaigns(): CampaignRun | null
  /** What is wrong now, the worst first. */
  problems(): readonly Problem[]
  readonly history: HistoryReader
  daemon(): DaemonState
  readonly clock: Clock
}
