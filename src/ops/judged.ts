// What the judgement of problems reads: the report of `status`, and the versions that are not well.

import { NOT_SENT, OPEN } from '../domain/states.ts'
import type { HistoryReader, Version } from '../history/port.ts'
import type { CampaignRun } from './campaigns/run.ts'
import type { DaemonState } from './port.ts'
import type { DaemonReport, PauseReports, ServiceReport, SkippedReport } from './report.ts'
import { type Circumstances, factsOf, type VersionFacts, withProbeTime } from './version-report.ts'

/** ProblemFacts is the part of the report of `status` that the judgement needs. */
export interface ProblemFacts extends PauseReports {
  daemon: DaemonReport
  service: ServiceReport
  skipped: readonly SkippedReport[]
  /** The versions that can be a problem, in the order of `judgedVersions`. */
  versions: readonly VersionFacts[]
  /** The daemon's last look at the campaigns; null if it has not looked at them. */
  campaigns: CampaignRun | null
}

/** The states in which the newest version of a feed, or an older version, can be a problem. */
const TROUBLED = { newest: [...OPEN, 'rejected'], older: OPEN } as const

/**
 * judgedVersions returns the versions that `problems` judges: first the newest versions of feeds that are open or
 * rejected, then the older open versions, then the newest versions that were discarded or superseded although storage
 * might have an unconfirmed version of the feed, and last the versions in `others`. With `feed` it returns only
 * versions of this feed.
 */
export function judgedVersions(
  history: HistoryReader,
  daemon: DaemonState | null,
  {
    feed,
    ...circumstances
  }: Circumstances & { feed?: string | undefined; others: readonly Version[] },
): VersionFacts[] {
  const only = feed === undefined ? {} : { feed }
  const newest = history.list({ ...only, states: TROUBLED.newest })
  const older = history.list({ ...only, states: TROUBLED.older, all: true })
  const isOf = (version: Version) => feed === undefined || version.feed === feed
  const notSent = history.list({ ...only, states: NOT_SENT })
  const doubtful = notSent.filter((version) => history.maybeOnService(version.feed) !== null)
  const all = [...newest, ...older, ...doubtful, ...circumstances.others.filter(isOf)]
  const factsOfVersion = factsOf(history, circumstances)
  return [...new Map(all.map((version) => [version.id, version])).values()].map((version) =>
    factsOfVersion(withProbeTime(version, daemon)),
  )
}
