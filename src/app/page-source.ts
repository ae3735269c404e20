// What the status page, its JSON and Prometheus read of a running daemon.

import { hostname } from 'node:os'
import type { CampaignSchedule } from '../campaigns/schedule.ts'
import type { Config } from '../config/config.ts'
import type { Daemon } from '../daemon/daemon.ts'
import type { History } from '../history/port.ts'
import type { Clock } from '../lib/clock.ts'
import type { DaemonFile } from '../ops/daemon-file.ts'
import type { CommandLine, MetricsSource } from '../ops/port.ts'
import type { Problem } from '../ops/problem.ts'
import type { EndpointSource } from '../ops/web/source.ts'
import { statusOf, versionOf } from './status.ts'

interface PageSourceParts {
  campaigns: CampaignSchedule
  clock: Clock
  commandLine: CommandLine
  config: Config
  daemon: Daemon
  daemonFile: DaemonFile
  history: History
  /** metricsText returns the metrics as Prometheus reads them. */
  metricsText: (source: MetricsSource) => Promise<string>
  /** problems returns what is wrong now, the worst first. */
  problems: () => readonly Problem[]
}

/** MOST_EVENTS is the largest number of events, and of attempts, on the page of a version. */
const MOST_EVENTS = 200

export function pageSource(parts: PageSourceParts): EndpointSource {
  const { campaigns, clock, commandLine, config, daemon, daemonFile } = parts
  const { history, metricsText, problems } = parts
  const state = () => daemonFile.current
  const surroundings = () => {
    return { clock, commandLine, config, snapshot: { running: true, state: state() } }
  }
  const metricsSource = { campaigns: () => campaigns.last, clock, daemon: state, history, problems }
  return {
    history,
    daemon: state,
    pulse: () => daemon.pulse(),
    host: hostname(),
    inbox: config.inbox.directory,
    commandLine,
    problems,
    status: () => statusOf(history, surroundings()),
    versions: (feed, limit) =>
      statusOf(history, surroundings(), { feed, limit, all: true }).uploads,
    version: (id) => versionOf(history, surroundings(), { id, most: MOST_EVENTS }),
    metrics: () => metricsText(metricsSource),
  }
}
