// The documented JSON of `status` and `show`, built from history rows. Fields may be added but never renamed. Times are
// ISO 8601 UTC or null.

import type { Condition } from '../domain/conditions.ts'
import { OPEN } from '../domain/states.ts'
import type { Files, InForce, ListFilter, Pause, Version, VersionReads } from '../history/port.ts'
import { isoTime } from '../lib/clock.ts'
import type { Progress } from '../lib/units.ts'
import type { CampaignRun } from './campaigns/run.ts'
import type { DaemonState, NameList } from './port.ts'
import type { Problem } from './problem.ts'
import {
  type Circumstances,
  factsOf,
  type Known,
  NOT_PAUSED,
  withProbeTime,
} from './version-report.ts'

export type StatusReport = ReturnType<typeof statusReport> & {
  /** What is wrong or waits for a person, the worst first. */
  problems: Problem[]
  /** The daemon's last campaign run; null if there was none or there is no campaigns file. */
  campaigns: CampaignRun | null
}

export type ConditionReport = Omit<Condition, 'since'> & { since: string | null }

export function conditionReport({ since, ...rest }: Condition): ConditionReport {
  return { ...rest, since: isoTime(since) }
}

/** Reported is the part of the history that a report about a version reads. */
export type Reported = VersionReads & Pick<Files, 'datedPaths' | 'missingSince'> & Known

export type UploadReport = ReturnType<ReturnType<typeof uploadReports>>

/** uploadReports returns a function that reports one version. It reads the facts that all versions share only once. */
export function uploadReports(history: Reported, circumstances: Circumstances = {}) {
  let left: ReadonlyMap<number, number> | null = null
  let joined: ReadonlyMap<string, string[]> | null = null
  const factsOfVersion = factsOf(history, circumstances)
  const leftAt = ({ id }: Version) => {
    left ??= history.missingSince()
    return left.get(id) ?? null
  }
  const filesOf = ({ feed }: Version): NameList => {
    joined ??= history.datedPaths()
    const paths = joined.get(feed) ?? []
    return { count: paths.length, paths: paths.slice(0, MOST_FILES) }
  }
  return (version: Version) => ({
    ...factsOfVersion(version),
    onService: onService(history, version.feed),
    /** For a feed whose file names have dates: its files in the folder, at most 10, the last name first. */
    files: version.date === null ? null : filesOf(version),
    /** When the file of an uploaded version left the folder; null if it is still there. */
    leftAt: version.state === 'uploaded' ? isoTime(leftAt(version)) : null,
    /** Progress of the running attempt; null if none runs, or in its first second. */
    progress: null as Progress | null,
  })
}

/** Returns the version of the feed that the service has, or null if it has none. */
function onService(history: Reported, feed: string) {
  const stored = history.onService(feed)
  return stored && { ...stored, uploadedAt: isoTime(stored.uploadedAt) }
}

/** Enough names to see their pattern. */
const MOST_FILES = 10

function pauseReport({ by, since, until }: Pause) {
  return { since: isoTime(since), until: isoTime(until), by }
}

/** pauseReports separates the pause of all feeds from those of single feeds. */
export function pauseReports({ all }: InForce) {
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
  /** The systemd unit of the configuration, and how it ended last; null: no unit has it, or systemd does not say. */
  unit: UnitState | null
  /** A listing of the folder that is older is late, ms. */
  staleAfterMs: number
  /** Address of the page if other hosts may reach it; null: they may not. */
  exposedAt: string | null
}

export interface UnitState {
  name: string
  /** `success`, or why it ended, in systemd's word; null: systemd does not know the unit. */
  result: string | null
  exitStatus: number | null
}

export interface Asking extends Circumstances {
  baseUrl: string
  filter: ListFilter
  host?: Partial<HostFacts> | undefined
}

/** Snapshot is whether the daemon runs, and the last state that it wrote, perhaps long ago. */
export interface Snapshot {
  running: boolean
  state: DaemonState | null
}

/** statusReport builds the JSON of `status` without its problems. `history` is null before the first start. */
export function statusReport(
  history: Reported | null,
  { running, state }: Snapshot,
  { baseUrl, filter, host = {}, ...circumstances }: Asking,
) {
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
      /** The daemon's last sign of life. */
      heartbeatAt: isoTime(state?.heartbeatAt || null),
      lastScanAt: isoTime(state?.lastScanAt ?? null),
      mode: state?.mode ?? null,
      /** Why the folder is polled; null with events. */
      modeReason: state?.modeReason ?? null,
      /** The oldest first. */
      conditions: (state?.conditions ?? []).map(conditionReport),
      /** Old files with temporary names in the last listing: the 10 oldest. */
      unfinished: (state?.unfinished ?? []).map(({ path, modifiedAt }) => ({
        path,
        modifiedAt: isoTime(modifiedAt),
      })),
      /** Files that match no pattern of `inbox.include`: their number, and the first 10 by name. */
      ignored: state?.ignored ?? NONE,
      /** The command that starts this daemon again; null: its unit, or `feedsyncd run`. */
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
      /** When it got into this state. */
      since: isoTime(live?.serviceSince ?? null),
      clockSkewMs: state?.clockSkewMs ?? null,
    },
    ...pauseReports(pauses),
    /** Paths that cannot be read now, sorted by path. */
    skipped: (state?.skipped ?? []).map(({ since, ...one }) => ({ ...one, since: isoTime(since) })),
    uploads: history === null ? [] : reports(history.list(filter)),
    /** Unfinished versions that are not the newest of their feed. */
    owed: history === null ? [] : reports(owedOlderVersions(history, filter)),
  }
}

/** Empty if the filter asks for all versions or for a state, because `uploads` has these versions then. */
function owedOlderVersions(history: VersionReads, { limit: _, ...filter }: ListFilter): Version[] {
  if (filter.all || filter.states !== undefined) return []
  const owed = history.list({ ...filter, states: OPEN, all: true })
  return owed.filter((version) => history.newest(version.feed)?.id !== version.id)
}

/** feedReport returns a feed's version on the service and its versions, newest first; null for an unknown feed. */
export function feedReport(
  history: Reported,
  feed: string,
  { most, ...circumstances }: Circumstances & { most?: number | undefined } = {},
) {
  const versions = history.list({ feed, all: true, ...(most !== undefined && { limit: most }) })
  if (versions.length === 0) return null
  return {
    feed,
    onService: onService(history, feed),
    maybeOnService: history.maybeOnService(feed),
    uploads: versions.map(uploadReports(history, circumstances)),
  }
}

export type FeedReport = NonNullable<ReturnType<typeof feedReport>>

/** showReport returns all facts of one version, with its newest `most` events and attempts; null for an unknown id. */
export function showReport(
  history: Reported,
  id: number,
  { most, ...circumstances }: Circumstances & { most?: number | undefined } = {},
) {
  const version = history.version(id)
  if (version === null) return null
  const attempts = history.attempts(id, most)
  const events = history.events(id, most)
  return {
    ...uploadReports(history, circumstances)(version),
    /** Also of a version that was held once. */
    difference: history.difference(id),
    md5: version.md5,
    encoding: version.encoding,
    root: version.root,
    records: version.records,
    requisitionIds: version.requisitionIds,
    externalCampaignIds: version.externalCampaignIds,
    attempts: attempts.map(({ startedAt, endedAt, n, ...rest }) => ({
      n,
      startedAt: isoTime(startedAt),
      endedAt: isoTime(endedAt),
      ...rest,
    })),
    events: events.map(({ at, firstAt, ...rest }) => ({
      at: isoTime(at),
      ...rest,
      ...(firstAt !== undefined && { firstAt: isoTime(firstAt) }),
    })),
    /** How many older events and attempts `most` leaves out. */
    earlierEvents: history.eventCount(id) - events.length,
    earlierAttempts: version.attempts - attempts.length,
  }
}

export type ShowReport = NonNullable<ReturnType<typeof showReport>>
