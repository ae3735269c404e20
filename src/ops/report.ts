// The documented JSON of `status` and `show`, built from history rows. Fields may be added but never renamed. Times are
// ISO 8601 UTC or null.

import type { CampaignRun } from '../campaigns/port.ts'
import type {
  Attempts,
  Expectation,
  Files,
  InForce,
  ListFilter,
  Pause,
  Version,
  VersionReads,
} from '../history/port.ts'
import { ENDPOINT_DOWN, PAUSED } from '../history/reason-codes.ts'
import { OPEN } from '../history/states.ts'
import { isoTime } from '../lib/clock.ts'
import type { Condition } from '../lib/conditions.ts'
import type { Progress } from '../lib/units.ts'
import type { DaemonState, NameList } from './port.ts'

type Expect = (version: Version) => Expectation

/** NO_EXPECTATION is for commands that do not check whether a feed is late. */
export const NO_EXPECTATION: Expectation = { expectedBy: null, overdue: false }

const NOT_PAUSED: InForce = { all: [], of: () => null }

export type StatusReport = ReturnType<typeof statusReport> & {
  /** The daemon's last campaign run; null if there was none or there is no campaigns file. */
  campaigns?: CampaignRun | null
}

export type ConditionReport = Omit<Condition, 'since'> & { since: string | null }

export function conditionReport({ since, ...rest }: Condition): ConditionReport {
  return { ...rest, since: isoTime(since) }
}

/** Reported is the part of the history that a report about a version reads. */
export type Reported = VersionReads & Pick<Files, 'datedPaths' | 'missingSince'>

export type UploadReport = ReturnType<ReturnType<typeof uploadReports>>

/** uploadReports returns a function that reports one version. It reads the facts that all versions share only once. */
export function uploadReports(
  history: Reported,
  expect: Expect = () => NO_EXPECTATION,
  pauses: InForce = NOT_PAUSED,
) {
  let left: ReadonlyMap<number, number> | null = null
  let joined: ReadonlyMap<string, string[]> | null = null
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
    ...versionReport(withPause(version, pauses)),
    onService: onService(history, version.feed),
    /** For a feed whose file names have dates: its files in the folder, at most 10, the last name first. */
    files: version.date === null ? null : filesOf(version),
    /** When the file of an uploaded version left the folder; null if it is still there. */
    leftAt: version.state === 'uploaded' ? isoTime(leftAt(version)) : null,
    /** Progress of the running attempt; null if none runs, or in its first second. */
    progress: null as Progress | null,
    ...expect(version),
  })
}

/** Returns the version of the feed that the service has, or null if it has none. */
function onService(history: Reported, feed: string) {
  const stored = history.onService(feed)
  return stored && { ...stored, uploadedAt: isoTime(stored.uploadedAt) }
}

/** Enough names to see their pattern. */
const MOST_FILES = 10

/** versionReport reports the columns of a version's own row. */
export function versionReport(version: Version) {
  const { id, feed, path, account, sha256, bytes, postings, changes, state, guard } = version
  const { reason, reasonCode, hint, line, column } = version
  return {
    id,
    feed,
    path,
    account,
    sha256,
    bytes,
    postings,
    changes,
    state,
    reason,
    reasonCode,
    hint,
    line,
    column,
    guard,
    attempts: version.attempts,
    nextAttemptAt: isoTime(version.nextAttemptAt),
    incompleteSince: isoTime(version.incompleteSince),
    detectedAt: isoTime(version.detectedAt),
    uploadedAt: isoTime(version.uploadedAt),
    fileUrl: version.fileUrl,
    etagVerified: version.etagVerified,
    warnings: version.warnings,
  }
}

/** withPause adds the reason of a pause to a queued version. Rows do not store it: thousands may wait. */
export function withPause(version: Version, pauses: InForce = NOT_PAUSED): Version {
  const pause = version.state === 'queued' ? pauses.of(version.feed) : null
  if (pause === null) return version
  const nextAttemptAt = pause.until && Math.max(pause.until, version.nextAttemptAt ?? 0)
  const reason = `paused by ${pause.by}`
  return { ...version, reason, reasonCode: PAUSED, hint: null, nextAttemptAt }
}

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

/**
 * statusReport builds the JSON of `status`. `history` is null before the first start. `state` is the last state that the
 * daemon wrote, perhaps long ago. `expect` returns whether a version's feed is late; see expected-feeds.ts.
 */
export function statusReport(
  history: Reported | null,
  { running, state }: { running: boolean; state: DaemonState | null },
  baseUrl: string,
  filter: ListFilter,
  expect: Expect = () => NO_EXPECTATION,
  pauses: InForce = NOT_PAUSED,
) {
  const live = running ? state : null
  const reportOf = history && uploadReports(history, expect, pauses)
  const reports = (versions: readonly Version[]) =>
    versions.flatMap((version) => reportOf?.(withProbeTime(version, live)) ?? [])
  return {
    daemon: {
      running,
      pid: live?.pid ?? null,
      startedAt: isoTime(live?.startedAt ?? null),
      lastScanAt: isoTime(state?.lastScanAt ?? null),
      mode: state?.mode ?? null,
      /** Why the folder is polled; null with events. */
      modeReason: state?.modeReason ?? null,
      /** The critical ones first. */
      conditions: (state?.conditions ?? []).map(conditionReport),
      /** Old files with temporary names in the last listing: the 10 oldest. */
      unfinished: (state?.unfinished ?? []).map(({ path, modifiedAt }) => ({
        path,
        modifiedAt: isoTime(modifiedAt),
      })),
      /** Files that match no pattern of `inbox.include`: their number, and the first 10 by name. */
      ignored: state?.ignored ?? NONE,
    },
    service: {
      baseUrl,
      state: live?.service ?? 'unknown',
      reason: live?.serviceReason ?? null,
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

/** Adds the probe's time to a queued version while the service is down. Rows do not store it: thousands may wait. */
function withProbeTime(version: Version, live: DaemonState | null): Version {
  const { nextAttemptAt, reason, reasonCode, state } = version
  const probeAt = live?.nextProbeAt ?? null
  if (state !== 'queued' || probeAt === null || (nextAttemptAt ?? 0) >= probeAt) return version
  const told = reason ?? live?.serviceReason ?? null
  return {
    ...version,
    reason: told,
    reasonCode: reasonCode ?? ENDPOINT_DOWN,
    nextAttemptAt: probeAt,
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
  expect: Expect = () => NO_EXPECTATION,
  most?: number,
  pauses: InForce = NOT_PAUSED,
) {
  const versions = history.list({ feed, all: true, ...(most !== undefined && { limit: most }) })
  if (versions.length === 0) return null
  return {
    feed,
    onService: onService(history, feed),
    uploads: versions.map(uploadReports(history, expect, pauses)),
  }
}

export type FeedReport = NonNullable<ReturnType<typeof feedReport>>

/** showReport returns all facts of one version, with its newest `most` events and attempts; null for an unknown id. */
export function showReport(
  history: Reported & Pick<Attempts, 'attempts'>,
  id: number,
  expect: Expect = () => NO_EXPECTATION,
  most?: number,
  pauses: InForce = NOT_PAUSED,
) {
  const version = history.version(id)
  if (version === null) return null
  const attempts = history.attempts(id, most)
  const events = history.events(id, most)
  return {
    ...uploadReports(history, expect, pauses)(version),
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
