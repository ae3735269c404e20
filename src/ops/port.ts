// What the rest of the program knows of operations: alerts, the endpoint, metrics, systemd. They read the
// committed history and the state of the parts; nothing here decides about feeds.

import type {
  Notes,
  ShowReport,
  StatusReport,
  UploadReport,
  Version,
  VersionReads,
} from '../history/port.ts'
import type { AlertEvent } from '../lib/alert-events.ts'
import type { Clock } from '../lib/clock.ts'
import type { Condition } from '../lib/conditions.ts'
import type { Secret } from '../lib/secret.ts'

export type { AlertDesk as Alerts } from './alerts/desk.ts'
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

export type Listen = { kind: 'tcp'; host: string; port: number } | { kind: 'unix'; path: string }

/** The part of a plan of the campaigns that the page shows. */
export interface PlanModel {
  items: readonly {
    key: string
    action: string
    spend: string
    /** Why it waits for a person; null or absent: it is done when the plan is applied. */
    held?: { reason: string } | null
    changes: readonly { path: string; before: string | null; after: string | null }[]
  }[]
}

/** What the endpoint answers from; read anew for each request. */
export interface EndpointSource {
  readonly history: VersionReads & Pick<Notes, 'daemon'>
  pulse(): Pulse
  status(): StatusReport
  /** A feed's versions, newest first. */
  versions(feed: string, limit: number): UploadReport[]
  version(id: number): ShowReport | null
  /** The campaigns that are managed, by key. */
  campaigns(): readonly CampaignSeen[]
  /** A plan of the campaigns by its number; null where it is not kept any more. */
  plan(id: number): PlanModel | null
  metrics(): Promise<string>
  /** Name of this host. */
  readonly host: string
  /** Absolute path of the folder that feeds are dropped into. */
  readonly inbox: string
  readonly commandLine: CommandLine
}

/** What metrics are made of beside what they are told. */
export interface MetricsSource extends Pick<AlertFacts, 'overdue' | 'campaigns'> {
  readonly history: VersionReads & Pick<Notes, 'daemon'>
  readonly clock: Pick<Clock, 'now'>
}

/** How a look at the campaigns ended; kept for `status`. What is optional an earlier version did not keep. */
export interface CampaignRun {
  /** ISO 8601 UTC. */
  at: string
  /** What it was done for: `start`, `file`, `upload`, `decision`, `interval`, `reload`, `once`, or a command. */
  cause: string
  mode: 'report' | 'apply'
  /**
   * `done`; `stopped`: nothing may be written; `unusable`: the file; `failed`: the service could not be
   * asked; `refused`: it refuses to be asked; `busy`: another process writes campaigns. Only `done` looked
   * at all: with the others, what is below is what the look before had found.
   */
  state: 'done' | 'stopped' | 'unusable' | 'failed' | 'refused' | 'credentials' | 'busy'
  /** The first look that ended in this state without another in between; ISO 8601 UTC. */
  since?: string
  /** Why it is not `done`, and what to do; null otherwise. */
  problem: string | null
  hint: string | null
  /** The plan that was made, for `campaigns apply`. */
  planId: number | null
  /** Changes of the plan that are not made: in `report` all of them. */
  pending: number
  /** Those, as `update NUR-Q1`. */
  planned?: string[]
  /** What was written, one sentence each. */
  done: string[]
  /** A reduction did not succeed yet, or a write that was given up may undo one: it is looked at soon. */
  owesReduction?: boolean
  /** What needs a person. */
  waiting: WaitingCampaign[]
  /** What differs from the file, or spends outside it, and is left alone. */
  findings?: CampaignFinding[]
  /** Campaigns that run on although the feeds do not carry them any more. */
  vanished?: { key: string; campaignId: string; uploads: number; pinned: number }[]
}

/** A campaign of the file, as the last look saw it; what is null is not known. */
export interface CampaignSeen {
  /** External campaign id. */
  key: string
  campaignId: string | null
  name: string | null
  /** Of the service. */
  status: string | null
  /** Decimal texts. */
  budget: string | null
  spend: string | null
}

export interface CampaignFinding {
  /** External campaign id; null: it concerns the account. */
  key: string | null
  campaignId: string | null
  code: string
  reason: string
  /** The edit or command that settles it; null: nothing has to be done. */
  needs: string | null
  /** Decimal text or `unlimited`; null: nothing beside what the file says. */
  maySpend: string | null
}

export interface WaitingCampaign {
  /** External campaign id. */
  key: string
  action: string
  /** Why, as a code: of what is held with its cause (`guard maxBudget`), of what was not done its outcome, or `approval`. */
  code: string
  reason: string | null
  /** The command or edit that moves it on. */
  needs: string | null
  /** A later look may do it automatically. */
  passes?: boolean
  /** It was to lower what may be spent, and did not succeed yet. */
  isReduction?: boolean
  /** The first look that found it so; ISO 8601 UTC. */
  since?: string
}
