// The documented JSON of `status` and `show`, made of history rows. A contract:
// fields may be added, never renamed; times are ISO 8601 UTC or null.

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
import { isDated } from '../lib/dated-name.ts'
import type { Progress } from '../lib/units.ts'
import type { DaemonState, NameList } from './port.ts'

type Expect = (version: Version) => Expectation

/** For a command that does not ask whether the feed is late. */
export const NO_EXPECTATION: Expectation = { expectedBy: null, overdue: false }

const NOT_PAUSED: InForce = { all: [], of: () => null }

export type StatusReport = ReturnType<typeof statusReport> & {
  /** The daemon's last look at the campaigns; null: none, or no campaigns file. */
  campaigns?: CampaignRun | null
}

/** As JSON has it: `since` in ISO 8601 UTC. */
export type ConditionReport = Omit<Condition, 'since'> & { since: string | null }

export function conditionReport({ since, ...rest }: Condition): ConditionReport {
  return { ...rest, since: isoTime(since) }
}

/** What a version is asked about beside its own row. */
export type Reported = VersionReads & Pick<Files, 'datedPaths' | 'missingSince'>

export type UploadReport = ReturnType<ReturnType<typeof uploadReports>>

/** Reports versions, each with what of its feed is on the service; what is the same for all is asked for once. */
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
    /** Where the names of its feed's files have dates: those in the folder, at most 10, by name from the last on. */
    files: isDated(version.feed) ? filesOf(version) : null,
    /** It was uploaded, and its file is not in the folder any more. */
    leftAt: version.state === 'uploaded' ? isoTime(leftAt(version)) : null,
    /** Of an attempt that runs; null where none does, or its first second is not over. */
    progress: null as Progress | null,
    ...expect(version),
  })
}

/** What of a feed is on the service now; null: nothing. */
function onService(history: Reported, feed: string) {
  const stored = history.onService(feed)
  return stored && { ...stored, uploadedAt: isoTime(stored.uploadedAt) }
}

/** Enough to see a pattern. */
const MOST_FILES = 10

/** What its own row says of a version. */
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

/** A version as it is while its feed is paused: thousands may wait, so that it is not on record with each of them. */
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

/** The pause of all feeds, and those of single ones. */
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
 * `history`: null before the first start. `daemon.said`: what it said last of itself, which may be long ago. `expect`:
 * whether a version's feed is late; see expected-feeds.ts.
 */
export function statusReport(
  history: Reported | null,
  { running, said }: { running: boolean; said: DaemonState | null },
  baseUrl: string,
  filter: ListFilter,
  expect: Expect = () => NO_EXPECTATION,
  pauses: InForce = NOT_PAUSED,
) {
  const live = running ? said : null
  const reportOf = history && uploadReports(history, expect, pauses)
  const reports = (versions: readonly Version[]) =>
    versions.flatMap((version) => reportOf?.(withProbeTime(version, live)) ?? [])
  return {
    daemon: {
      running,
      pid: live?.pid ?? null,
      startedAt: isoTime(live?.startedAt ?? null),
      lastScanAt: isoTime(said?.lastScanAt ?? null),
      mode: said?.mode ?? null,
      /** Why the folder is polled; null with events. */
      modeReason: said?.modeReason ?? null,
      /** What stops or slows it: the critical ones first. */
      conditions: (said?.conditions ?? []).map(conditionReport),
      /** Temporary names that their writers left behind, as the last listing found them: the oldest, at most 10. */
      unfinished: (said?.unfinished ?? []).map(({ path, modifiedAt }) => ({
        path,
        modifiedAt: isoTime(modifiedAt),
      })),
      /** Files that no pattern of `inbox.include` matches: how many, and at most 10 of them, by name. */
      ignored: said?.ignored ?? NONE,
    },
    service: {
      baseUrl,
      state: live?.service ?? 'unknown',
      reason: live?.serviceReason ?? null,
      clockSkewMs: said?.clockSkewMs ?? null,
    },
    /** Nothing new is sent meanwhile: of all feeds, of single ones. */
    ...pauseReports(pauses),
    /** Paths that are passed over until they can be read, by path. */
    skipped: (said?.skipped ?? []).map(({ since, ...one }) => ({ ...one, since: isoTime(since) })),
    uploads: history === null ? [] : reports(history.list(filter)),
    /** Versions that something still has to happen to, although they are not their feed's newest. */
    owed: history === null ? [] : reports(owedOlderVersions(history, filter)),
  }
}

/** What is due waits while the other side is down: thousands may, so that it is not on record with each of them. */
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

/** Whoever asks for all versions, or for a state, sees these among them. */
function owedOlderVersions(history: VersionReads, { limit: _, ...filter }: ListFilter): Version[] {
  if (filter.all || filter.states !== undefined) return []
  const owed = history.list({ ...filter, states: OPEN, all: true })
  return owed.filter((version) => history.newest(version.feed)?.id !== version.id)
}

/** What of a feed is on the service now, and its versions, the newest first; null where there is no such feed. */
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

/** Everything about one version, with its newest `most` events and attempts; null where there is none of this id. */
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
    /** Left out of `events` and `attempts`, the older ones. */
    earlierEvents: history.eventCount(id) - events.length,
    earlierAttempts: version.attempts - attempts.length,
  }
}

export type ShowReport = NonNullable<ReturnType<typeof showReport>>
