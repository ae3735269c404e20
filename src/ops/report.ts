// The documented JSON of `status`: the daemon, the service, pauses, and versions (upload-report.ts). Fields may be
// added but never renamed. Times are ISO 8601 UTC or null.

import type { Condition } from '../domain/conditions.ts'
import { OPEN } from '../domain/states.ts'
import type {
  HistoryReader,
  InForce,
  ListFilter,
  Pause,
  Version,
  VersionReads,
} from '../history/port.ts'
import type { Skipped } from '../inbox/port.ts'
import { isoTime } from '../lib/clock.ts'
import type { CampaignRun } from './campaigns/run.ts'
import type { DaemonState, NameList } from './port.ts'
import type { Problem } from './problem.ts'
import { type UploadReport, uploadReports } from './upload-report.ts'
import { type Circumstances, NOT_PAUSED, withProbeTime } from './version-report.ts'

export interface StatusReport extends FolderReport {
  /** What is wrong or waits for a person, the worst first. */
  problems: Problem[]
  /** The daemon's last campaign run; null if there was none or there is no campaigns file. */
  campaigns: CampaignRun | null
}

/** FolderReport is a report of `status` before its problems are judged. */
interface FolderReport extends PauseReports {
  daemon: DaemonReport
  service: ServiceReport
  /** Paths that cannot be read now, sorted by path. */
  skipped: SkippedReport[]
  /** The newest version of each feed, or the versions that the filter asks for. */
  uploads: UploadReport[]
  /** Unfinished versions that are not the newest of their feed. */
  owed: UploadReport[]
}

export interface DaemonReport extends HostFacts {
  running: boolean
  pid: number | null
  startedAt: string | null
  /** The daemon's last sign of life. */
  heartbeatAt: string | null
  lastScanAt: string | null
  mode: DaemonState['mode']
  /** Why the folder is polled; null if the daemon gets events. */
  modeReason: string | null
  /** The conditions that last; the oldest comes first. */
  conditions: ConditionReport[]
  /** Old files with temporary names in the last listing: the 10 oldest. */
  unfinished: { path: string; modifiedAt: string | null }[]
  /** Files that match no pattern of `inbox.include`: their number, and the first 10 by name. */
  ignored: NameList
  /** The command that starts this daemon again; null means its unit, or `feedsyncd run`. */
  startWith: string | null
}

export interface ServiceReport {
  baseUrl: string
  state: DaemonState['service']
  reason: string | null
  /** When the service got into this state. */
  since: string | null
  clockSkewMs: number | null
}

export interface SkippedReport extends Skipped {
  since: string | null
}

type ConditionReport = Omit<Condition, 'since'> & { since: string | null }

export function conditionReport({ since, ...rest }: Condition): ConditionReport {
  return { ...rest, since: isoTime(since) }
}

interface PauseReport {
  since: string | null
  /** The end of the pause; null if it lasts until a person ends it. */
  until: string | null
  by: string
}

export interface PauseReports {
  /** The pause of all feeds; null if nobody has paused all feeds. */
  paused: PauseReport | null
  pausedFeeds: (PauseReport & { feed: string })[]
}

function pauseReport({ by, since, until }: Pause): PauseReport {
  return { since: isoTime(since), until: isoTime(until), by }
}

/** pauseReports separates the pause of all feeds from the pauses of single feeds. */
export function pauseReports({ all }: InForce): PauseReports {
  const ofAll = all.find(({ feed }) => feed === null)
  return {
    paused: ofAll === undefined ? null : pauseReport(ofAll),
    pausedFeeds: all.flatMap((pause) =>
      pause.feed === null ? [] : [{ feed: pause.feed, ...pauseReport(pause) }],
    ),
  }
}

const NONE: NameList = { count: 0, paths: [] }

/** HostFacts is what the reader of a report knows about the daemon's host. */
export interface HostFacts {
  /** The daemon's lock exists, but its database is gone or empty. */
  historyIsMissing: boolean
  /**
   * The systemd unit of the configuration, and how it ended last; null means no unit has it, or systemd does not say.
   */
  unit: UnitState | null
  /** The age in ms from which the last listing of the folder is late. */
  staleAfterMs: number
  /** Address of the page if other hosts can reach it; null if they cannot. */
  exposedAt: string | null
}

export interface UnitState {
  name: string
  /** `success`, or systemd's word for why the unit ended; null if systemd does not know the unit. */
  result: string | null
  exitStatus: number | null
}

interface StatusQuestion extends Circumstances {
  baseUrl: string
  filter: ListFilter
  host?: Partial<HostFacts> | undefined
}

/** Snapshot says whether the daemon runs, and has the last state that it wrote, perhaps long ago. */
export interface Snapshot {
  running: boolean
  state: DaemonState | null
}

/** statusReport builds the JSON of `status` without its problems. `history` is null before the first start. */
export function statusReport(
  history: HistoryReader | null,
  { running, state }: Snapshot,
  { baseUrl, filter, host = {}, ...circumstances }: StatusQuestion,
): FolderReport {
  const live = running ? state : null
  const reportOf = history && uploadReports(history, circumstances)
  const reports = (versions: readonly Version[]) =>
    versions.flatMap((version) => reportOf?.(withProbeTime(version, live)) ?? [])
  const pauses = circumstances.pauses ?? NOT_PAUSED
  return {
    daemon: {
      running,
      pid: live?.pid ?? null,
      startedAt: isoTime(live?.startedAt ?? null),
      heartbeatAt: isoTime(state?.heartbeatAt || null),
      lastScanAt: isoTime(state?.lastScanAt ?? null),
      mode: state?.mode ?? null,
      modeReason: state?.modeReason ?? null,
      conditions: (state?.conditions ?? []).map(conditionReport),
      unfinished: (state?.unfinished ?? []).map(({ path, modifiedAt }) => ({
        path,
        modifiedAt: isoTime(modifiedAt),
      })),
      ignored: state?.ignored ?? NONE,
      startWith: state?.startWith ?? null,
      historyIsMissing: host.historyIsMissing ?? false,
      unit: host.unit ?? null,
      staleAfterMs: host.staleAfterMs ?? Number.POSITIVE_INFINITY,
      exposedAt: host.exposedAt ?? null,
    },
    service: {
      baseUrl,
      state: live?.service ?? 'unknown',
      reason: live?.serviceReason ?? null,
      since: isoTime(live?.serviceSince ?? null),
      clockSkewMs: state?.clockSkewMs ?? null,
    },
    ...pauseReports(pauses),
    skipped: (state?.skipped ?? []).map(({ since, ...one }) => ({ ...one, since: isoTime(since) })),
    uploads: history === null ? [] : reports(history.list(filter)),
    owed: history === null ? [] : reports(olderOpenVersions(history, filter)),
  }
}

/**
 * olderOpenVersions returns the open versions that are not the newest of their feed. It returns none if the filter asks
 * for all versions, which `uploads` then has, or for versions in certain states.
 */
function olderOpenVersions(history: VersionReads, { limit: _, ...filter }: ListFilter): Version[] {
  if (filter.all || filter.states !== undefined) return []
  const open = history.list({ ...filter, states: OPEN, all: true })
  return open.filter((version) => history.newest(version.feed)?.id !== version.id)
}
