// The documented JSON of versions: their rows in `status`, the versions of one feed, and all facts of one version.
// Fields may be added but never renamed. Times are ISO 8601 UTC or null.

import type { Attempt, HistoryEvent, HistoryReader, Version } from '../history/port.ts'
import { isoTime } from '../lib/clock.ts'
import type { Progress } from '../lib/units.ts'
import type { NameList } from './port.ts'
import {
  type Circumstances,
  factsOf,
  type MaybeStored,
  type VersionFacts,
} from './version-report.ts'

/** UploadReport is a version with what belongs to its feed and its file. */
export interface UploadReport extends VersionFacts {
  onService: OnService | null
  /** For a feed whose file names have dates: its files in the folder, at most 10, the last name first. */
  files: NameList | null
  /** When the file of an uploaded version left the folder; null if it is still there. */
  leftAt: string | null
  /** Progress of the running attempt; null if none runs, or in its first second. */
  progress: Progress | null
}

/** OnService is the version of a feed that the service has. */
export interface OnService {
  id: number
  postings: number | null
  uploadedAt: string | null
}

/** uploadReports returns a function that reports one version. It reads the facts that all versions share only once. */
export function uploadReports(
  history: HistoryReader,
  circumstances: Circumstances = {},
): (version: Version) => UploadReport {
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
    files: version.date === null ? null : filesOf(version),
    leftAt: version.state === 'uploaded' ? isoTime(leftAt(version)) : null,
    progress: null,
  })
}

/** onService returns the version of the feed that the service has, or null if it has none. */
function onService(history: HistoryReader, feed: string): OnService | null {
  const stored = history.onService(feed)
  return stored && { ...stored, uploadedAt: isoTime(stored.uploadedAt) }
}

/** How many files of a dated feed are named: enough to see the pattern of their names. */
const MOST_FILES = 10

/** FeedReport is what is known of one feed. */
export interface FeedReport {
  feed: string
  onService: OnService | null
  maybeOnService: MaybeStored | null
  /** The versions of the feed; the newest comes first. */
  uploads: UploadReport[]
}

/** Length limits lists in a report of one feed or version; undefined means no limit. */
type Length = { most?: number | undefined }

/** feedReport returns a feed's version on the service and its versions, newest first; null for an unknown feed. */
export function feedReport(
  history: HistoryReader,
  feed: string,
  { most, ...circumstances }: Circumstances & Length = {},
): FeedReport | null {
  const versions = history.list({ feed, all: true, ...(most !== undefined && { limit: most }) })
  if (versions.length === 0) return null
  return {
    feed,
    onService: onService(history, feed),
    maybeOnService: history.maybeOnService(feed),
    uploads: versions.map(uploadReports(history, circumstances)),
  }
}

/** ShowReport has all facts of one version. */
export interface ShowReport extends Omit<UploadReport, 'attempts'> {
  md5: string | null
  encoding: string | null
  root: string | null
  records: string | null
  requisitionIds: number | null
  externalCampaignIds: Readonly<Record<string, number>> | null
  attempts: AttemptReport[]
  events: EventReport[]
  /** How many older events and attempts are left out. */
  earlierEvents: number
  earlierAttempts: number
}

interface AttemptReport extends Omit<Attempt, 'startedAt' | 'endedAt'> {
  startedAt: string | null
  endedAt: string | null
}

export interface EventReport extends Omit<HistoryEvent, 'at' | 'firstAt'> {
  at: string | null
  firstAt?: string | null
}

/** showReport returns all facts of one version, with its newest `most` events and attempts; null for an unknown id. */
export function showReport(
  history: HistoryReader,
  id: number,
  { most, ...circumstances }: Circumstances & Length = {},
): ShowReport | null {
  const version = history.version(id)
  if (version === null) return null
  const attempts = history.attempts(id, most)
  const events = history.events(id, most)
  return {
    ...uploadReports(history, circumstances)(version),
    // `uploadReports` shows the difference only while a version is held.
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
    earlierEvents: history.eventCount(id) - events.length,
    earlierAttempts: version.attempts - attempts.length,
  }
}
