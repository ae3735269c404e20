// The smaller composition root: what commands need beside a daemon or without one. Apart from app.ts,
// so that `status` loads neither the network, the watcher nor the checker.

import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { isAbsolute, join, normalize, relative, sep } from 'node:path'
import type { CampaignStore } from '../campaigns/port.ts'
import type { Config, Settings } from '../config/config.ts'
import { feedFor, type RuleFor } from '../config/feeds.ts'
import { openCampaignReader } from '../history/campaign-store.ts'
import { expectations } from '../history/expected-feeds.ts'
import { isLocked } from '../history/instance-lock.ts'
import type { Attempts, ListFilter, Notes, Version, VersionReads } from '../history/port.ts'
import {
  conditionReport,
  type ShowReport,
  type StatusReport,
  showReport,
  statusReport,
} from '../history/report.ts'
import { openHistoryReader } from '../history/tables.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import type { Condition } from '../lib/conditions.ts'
import { messageOf } from '../lib/errors.ts'
import { silentLog } from '../lib/silent-log.ts'
import { VERSION } from '../lib/version.ts'
import { type DaemonFile, readDaemonFile } from '../ops/daemon-file.ts'
import type { CampaignRun } from '../ops/port.ts'
import { fullDisk } from '../ops/room.ts'
import type { FileReport } from './file-report.ts'

type Reports = VersionReads & Pick<Notes, 'daemon'>
type Environment = Readonly<Record<string, string | undefined>>

export const historyFile = (config: Config) => join(config.state.directory, 'feedsyncd.db')

export const rulesOf =
  ({ feeds }: Pick<Config, 'feeds'>): RuleFor =>
  (path, named) =>
    feedFor(path, feeds, named)

/** Looking for late feeds takes at most this share of the time. */
const OVERDUE_SHARE = 0.01

/** Asks which feeds are late. The walk over all feeds is spared where no rule expects anything. */
export function overdueFeeds(
  settings: Settings<'feeds'>,
  history: VersionReads,
  clock: Clock,
): () => { version: Version; expectedBy: number }[] {
  let known: { version: Version; expectedBy: number }[] = []
  let validUntil = Number.NEGATIVE_INFINITY
  return () => {
    const { feeds } = settings.current
    if (feeds.every(({ expectEveryMs }) => expectEveryMs === null)) return []
    const began = clock.monotonic()
    if (began < validUntil) return known
    const expected = expectations(history, rulesOf({ feeds }), clock.now())
    known = history.list({}).flatMap((version) => {
      const { expectedBy, overdue } = expected(version)
      return overdue && expectedBy !== null ? [{ version, expectedBy: Date.parse(expectedBy) }] : []
    })
    const ended = clock.monotonic()
    validUntil = ended + (ended - began) / OVERDUE_SHARE
    return known
  }
}

/** The daemon in one line, for `systemctl status`: its conditions first, also when the history cannot be read. */
export function statusLine(
  history: Reports,
  conditions: readonly Condition[],
  now: number,
): string {
  const words = conditions.map(({ message }) => message)
  try {
    return [...words, countsLine(history, now)].join('; ')
  } catch (error) {
    return (words.length > 0 ? words : [messageOf(error)]).join('; ')
  }
}

function countsLine(history: Reports, now: number): string {
  const count = history.count()
  const waiting = count.settling + count.incomplete + count.checking + count.queued
  const last = isoTime(history.lastSuccessAt(now))
  return [
    `${waiting} waiting, ${count.uploading} uploading, ${count.held} held, ${count.failed} failed`,
    last === null ? 'nothing uploaded yet' : `last upload ${last}`,
    `service ${history.daemon()?.service ?? 'unknown'}`,
  ].join('; ')
}

/** A full disk is seen here as well: without a daemon, or before it has looked. */
function withRoom(report: StatusReport, { state }: Config, clock: Clock): StatusReport {
  const { conditions } = report.daemon
  const full = conditions.some(({ code }) => code === 'state-full')
    ? null
    : fullDisk(state.directory)
  if (full === null) return report
  const condition = {
    code: 'state-full',
    severity: 'critical',
    since: clock.now(),
    ...full,
  } as const
  return {
    ...report,
    daemon: { ...report.daemon, conditions: [conditionReport(condition), ...conditions] },
  }
}

/** What another process sees of the daemon without its history. */
export interface DaemonLook {
  running: boolean
  /** null: only the history tells. */
  conditions: readonly Condition[] | null
  uploads: DaemonFile['uploads']
}

/**
 * Whether a daemon runs, and what it says of itself outside of its state directory, which may be full or lost.
 * Throws `FeedsyncError` for who may not see the lock.
 */
export function lookAtDaemon({ state }: Pick<Config, 'state'>, env: Environment): DaemonLook {
  const file = readDaemonFile(state.directory, env)
  // A daemon whose lock file was deleted still runs.
  return {
    running: file?.alive || isLocked(state.directory),
    conditions: file?.conditions ?? null,
    uploads: file?.uploads ?? {},
  }
}

/** The document that `status --json` and the endpoint give. */
export function statusOf(
  history: Reports | null,
  config: Config,
  clock: Clock,
  filter: ListFilter,
  { conditions, running, uploads }: DaemonLook = { conditions: null, running: true, uploads: {} },
): StatusReport {
  const ruleFor = rulesOf(config)
  const expect = history === null ? undefined : expectations(history, ruleFor, clock.now())
  const report = statusReport(history, running, config.service.baseUrl, filter, expect)
  for (const upload of report.uploads) upload.progress = progressOf(upload, uploads)
  if (conditions !== null) report.daemon.conditions = conditions.map(conditionReport)
  return { ...report, campaigns: lastCampaignRun(config) }
}

/** A number that is left of an attempt that is over says nothing. */
function progressOf({ id, state }: Pick<Version, 'id' | 'state'>, uploads: DaemonFile['uploads']) {
  return (state === 'uploading' && uploads[id]) || null
}

function lastCampaignRun(config: Config): CampaignRun | null {
  const { file, explicit } = config.campaigns
  using memory = openCampaignMemory(config)
  // A file that is gone while its campaigns run is the news that matters.
  const isOff = !explicit && !existsSync(file) && (memory?.records().length ?? 0) === 0
  return isOff ? null : (memory?.lastRun() ?? null)
}

/** What is known of the campaigns without asking the service; null where nothing was ever written. */
export function openCampaignMemory(config: Config) {
  return openCampaignReader({ file: historyFile(config) })
}

/** The campaigns that are managed, as the last look saw them. */
export function campaignsSeen(memory: Pick<CampaignStore, 'records' | 'lastStates'> | null) {
  const seen = new Map(memory?.lastStates().map((sight) => [sight.key, sight]))
  return (memory?.records() ?? []).map((record) => {
    const { key, campaignId, written } = record
    const sight = seen.get(key) ?? UNSEEN
    const name = sight.name ?? (written.name === undefined ? null : String(written.name))
    return { record, seen: { ...sight, key, campaignId, name } }
  })
}

const UNSEEN = {
  ...{ name: null, runs: null, status: null, budget: null, period: null },
  ...{ spend: null, endDate: null, maySpend: null },
}

/** The document that `show --json` gives, with `most` events and attempts at most; null where there is no such version. */
export function versionOf(
  history: VersionReads & Pick<Attempts, 'attempts'>,
  config: Config,
  clock: Clock,
  id: number,
  most?: number,
  uploads: DaemonFile['uploads'] = {},
): ShowReport | null {
  const ruleFor = rulesOf(config)
  const report = showReport(history, id, expectations(history, ruleFor, clock.now()), most)
  return report && { ...report, progress: progressOf(report, uploads) }
}

/** Reads the history without changing it, with or without a daemon. */
export function openStatus(config: Config, clock: Clock, env: Environment) {
  const reader = openHistoryReader({ file: historyFile(config) })
  const look = lookAtDaemon(config, env)
  const { running } = look
  return {
    report: (filter: ListFilter) =>
      withRoom(statusOf(reader, config, clock, filter, look), config, clock),
    show: (id: number, most?: number) =>
      reader === null ? null : versionOf(reader, config, clock, id, most, look.uploads),
    explain: async (named: string) => {
      const given = normalize(named).replace(/\/$/, '')
      const { Inbox } = await import('../inbox/folder.ts')
      const { explain } = await import('../history/explain.ts')
      const { oddPath } = await import('../lib/odd-names.ts')
      await using inbox = new Inbox({ ...config.inbox, clock, log: silentLog })
      const found = (await inbox.look([given])).get(given) ?? null
      const isOdd = found === null && (reader?.known(oddPath(given)) ?? null) !== null
      const isDirectory = found?.path === `${given}/`
      const path = isOdd ? oddPath(given) : isDirectory ? `${given}/` : given
      return explain({
        path,
        feed: feedFor(path, config.feeds).feed,
        ignored: inbox.ignored(given),
        look: found,
        history: reader,
        running,
        quietPeriodMs: config.inbox.quietPeriodMs,
        now: clock.now(),
      })
    },
    [Symbol.dispose]: () => reader?.[Symbol.dispose](),
  }
}

/** Sends a test message to every receiver of alerts, one after the other. */
export async function sendTestAlerts(
  config: Config,
  { clock, env }: { clock: Clock; env: Record<string, string | undefined> },
): Promise<{ to: string; on: string[]; ok: boolean; reason: string | null }[]> {
  const { createHttpClient } = await import('../lib/http.ts')
  const { sendAlert, targetName } = await import('../ops/alerts/senders.ts')
  const { testMessage } = await import('../ops/alerts/message.ts')
  await using http = createHttpClient({ clock, env, userAgent: `feedsyncd/${VERSION}` })
  const results = []
  for (const target of config.alerts) {
    const message = testMessage({ at: clock.now(), host: hostname() })
    const { signal } = new AbortController()
    const sent = await sendAlert(target, message, { clock, http, env }, signal)
    const reason = sent.kind === 'failed' ? sent.reason : null
    results.push({ to: targetName(target), on: [...target.on], ok: reason === null, reason })
  }
  return results
}

/** Checks files offline, one after the other. `config` null: records and fields are detected. */
export async function* checkFiles(
  files: readonly { source: string; shown: string }[],
  config: Config | null,
): AsyncGenerator<FileReport> {
  const { createFeedChecker } = await import('../feed/worker-checker.ts')
  const { fileReport } = await import('./file-report.ts')
  await using checker = createFeedChecker()
  for (const { source, shown } of files) {
    const path = config === null ? shown : pathInInbox(config, source)
    const { mapping } = feedFor(path, config?.feeds ?? [])
    const root = config === null || isAbsolute(path) ? undefined : config.inbox.directory
    const job = { source, root, expected: null, copyTo: null, indexTo: null, mapping }
    const result = await checker.check(job)
    yield fileReport(shown, result)
  }
}

/** How the history calls a file: relative to the inbox, or absolute when it lies elsewhere. */
export function pathInInbox(config: Config, source: string): string {
  const inside = relative(config.inbox.directory, source)
  return inside.startsWith('..') || isAbsolute(inside) ? source : inside.split(sep).join('/')
}
