// Builds the reports of `status` and `show`, and finds their problems, for commands and for the daemon itself.

import { lastCampaignRun } from '../campaigns/last-known.ts'
import type { Config } from '../config/config.ts'
import { alwaysOlder, newerThanAll } from '../history/always-older.ts'
import { expectations } from '../history/expected-feeds.ts'
import type { HistoryReader, ListFilter, Version, VersionReads } from '../history/port.ts'
import { type Clock, isoTime, MINUTE } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import { isLoopback } from '../lib/http-text.ts'
import type { CampaignRun } from '../ops/campaigns/run.ts'
import { judgedVersions } from '../ops/judged.ts'
import type { CommandLine, DaemonState } from '../ops/port.ts'
import { firstLine, type Problem } from '../ops/problem.ts'
import { problems } from '../ops/problems.ts'
import { type HostFacts, type Snapshot, type StatusReport, statusReport } from '../ops/report.ts'
import { type ShowReport, showReport } from '../ops/upload-report.ts'
import type { Circumstances } from '../ops/version-report.ts'
import { overdueFeeds } from './queries.ts'
import { rulesOf } from './rules.ts'

/** Surroundings are what a report needs beside the history. */
interface Surroundings {
  config: Config
  clock: Pick<Clock, 'now'>
  commandLine: CommandLine
  snapshot: Snapshot
  /** Facts of the host that only a command looks up, such as the state of the unit; the daemon passes none. */
  host?: Partial<HostFacts> | undefined
}

/** statusOf returns the document of `status --json` and of the endpoint. */
export function statusOf(
  history: HistoryReader | null,
  surroundings: Surroundings,
  filter: ListFilter = {},
): StatusReport {
  const { config, host, snapshot } = surroundings
  const circumstances = circumstancesOf(history, surroundings)
  const question = { baseUrl: config.service.baseUrl, filter, host: hostOf(config, host) }
  const report = statusReport(history, snapshot, { ...question, ...circumstances })
  const running = snapshot.state?.uploads ?? {}
  for (const upload of report.uploads) upload.progress = progressOf(upload, running)
  const isShown = (feed: string) => filter.feed === undefined || feed === filter.feed
  const skipped = report.skipped.filter(({ path }) => isShown(rulesOf(config)(path).feed))
  const pausedFeeds = report.pausedFeeds.filter(({ feed }) => isShown(feed))
  const shown = { ...report, pausedFeeds, skipped, campaigns: lastCampaignRun(config) }
  const judged = { ...shown, feed: filter.feed, circumstances }
  return { ...shown, problems: judge(history, surroundings, judged) }
}

/** problemsOf returns the problems of the daemon, the campaigns and all feeds, without the rest of a report. */
export function problemsOf(
  history: HistoryReader,
  surroundings: Surroundings,
  campaigns: CampaignRun | null,
): Problem[] {
  const { config, host, snapshot } = surroundings
  const circumstances = circumstancesOf(history, surroundings)
  const question = {
    baseUrl: config.service.baseUrl,
    filter: NO_VERSIONS,
    host: hostOf(config, host),
  }
  const report = statusReport(null, snapshot, { ...question, ...circumstances })
  return judge(history, surroundings, { ...report, campaigns, circumstances })
}

const NO_VERSIONS: ListFilter = { limit: 0 }

type Shown = Omit<StatusReport, 'problems'> & {
  feed?: string | undefined
  circumstances: Circumstances
}

/** judge returns the problems of a report. In the report of one feed it leaves out the problems of campaigns. */
function judge(
  history: HistoryReader | null,
  surroundings: Surroundings,
  { circumstances, feed, ...shown }: Shown,
): Problem[] {
  const { clock, commandLine, config, snapshot } = surroundings
  const versionsIn = (known: HistoryReader) => {
    const others = [...overdueFeeds(config, known, clock.now()), ...alwaysOlder(known)]
    return judgedVersions(known, snapshot.state, { ...circumstances, feed, others })
  }
  const versions = history === null ? [] : versionsIn(history)
  const campaigns = feed === undefined ? shown.campaigns : null
  return problems({ ...shown, versions, campaigns }, { now: clock.now(), commandLine })
}

/** circumstancesOf returns what the report of a version needs beside its row. */
export function circumstancesOf(
  history: HistoryReader | null,
  { clock, config }: Pick<Surroundings, 'clock' | 'config'>,
): Circumstances {
  if (history === null) return {}
  return {
    expect: expectations(history, rulesOf(config), clock.now()),
    pauses: history.pauses(clock.now()),
    incompleteAfterMs: config.inbox.incompleteAfterMs,
    kept: history.keptPostings,
    newerThanAll: (last) => newerThanAll(history, last),
  }
}

/** hostOf adds to `host` what the configuration says. The last listing is late after three times `inbox.rescan`. */
function hostOf({ http, inbox }: Config, host: Partial<HostFacts> = {}): Partial<HostFacts> {
  const { listen } = http
  const isExposed = listen?.kind === 'tcp' && !isLoopback({ hostname: listen.host })
  return {
    staleAfterMs: Math.max(MINUTE, 3 * inbox.rescanMs),
    exposedAt: isExposed ? `http://${listen.host}:${listen.port}` : null,
    ...host,
  }
}

/** progressOf returns null unless the version is uploading: the daemon's file can still have an attempt that ended. */
export function progressOf(
  { id, state }: Pick<Version, 'id' | 'state'>,
  uploads: DaemonState['uploads'],
) {
  return (state === 'uploading' && uploads[id]) || null
}

/** versionOf returns the document of `show --json`, with at most `most` events and attempts; null for an unknown id. */
export function versionOf(
  history: HistoryReader,
  surroundings: Pick<Surroundings, 'clock' | 'config' | 'snapshot'>,
  { id, most }: { id: number; most?: number | undefined },
): ShowReport | null {
  const report = showReport(history, id, { ...circumstancesOf(history, surroundings), most })
  const uploads = surroundings.snapshot.state?.uploads ?? {}
  return report && { ...report, progress: progressOf(report, uploads) }
}

/**
 * statusLine describes the daemon in one line for `systemctl status`: its first problem, or its counts if there is no
 * problem. An error of the history becomes the line.
 */
export function statusLine(
  history: VersionReads,
  found: () => readonly Problem[],
  { now, service }: { now: number; service: DaemonState['service'] },
): string {
  try {
    const [first, ...others] = found().filter(({ severity }) => severity !== 'info')
    if (first === undefined) return countsLine(history, service, now)
    return firstLine(first) + (others.length === 0 ? '' : `; and ${others.length} more`)
  } catch (error) {
    return messageOf(error)
  }
}

function countsLine(history: VersionReads, service: DaemonState['service'], now: number): string {
  const count = history.count()
  const waiting = count.settling + count.incomplete + count.checking + count.queued
  const last = isoTime(history.lastSuccessAt(now))
  return [
    `${waiting} waiting, ${count.uploading} uploading`,
    last === null ? 'nothing uploaded yet' : `last upload ${last}`,
    `service ${service}`,
  ].join('; ')
}
