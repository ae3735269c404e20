// Builds what commands need with or without a daemon. It is separate from app.ts, so that `status` loads no network,
// watcher or checker.

import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { isAbsolute, join, normalize, relative, resolve, sep } from 'node:path'
import type { CampaignRun } from '../campaigns/port.ts'
import type { Config } from '../config/config.ts'
import { feedFor, type RuleFor } from '../config/feeds.ts'
import { type CampaignReader, openCampaignReader } from '../history/campaign-store.ts'
import { expectations } from '../history/expected-feeds.ts'
import { isLocked } from '../history/instance-lock.ts'
import type { Attempts, ListFilter, Pauses, Version, VersionReads } from '../history/port.ts'
import { openHistoryReader } from '../history/tables.ts'
import { type Clock, isoTime, systemClock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import { limited } from '../lib/limited.ts'
import { silentLog } from '../lib/log.ts'
import { pauseLines } from '../ops/advice.ts'
import { readDaemonFile } from '../ops/daemon-file.ts'
import { fullDisk } from '../ops/disk.ts'
import type { DaemonState } from '../ops/port.ts'
import {
  conditionReport,
  feedReport,
  pauseReports,
  type Reported,
  type ShowReport,
  type StatusReport,
  showReport,
  statusReport,
} from '../ops/report.ts'
import { accountOf } from './campaign-account.ts'
import type { FileReport } from './file-report.ts'

export const historyFile = (config: Config) => join(config.state.directory, 'feedsyncd.db')

export const rulesOf =
  ({ feeds }: Pick<Config, 'feeds'>): RuleFor =>
  (path, named) =>
    feedFor(path, feeds, named)

/** The search for late feeds takes at most this share of the time. */
const OVERDUE_SHARE = 0.01

/** overdueFeeds returns a function that lists the late feeds. Without a rule with `expectEvery` it reads no feeds. */
export function overdueFeeds(
  { feeds }: Pick<Config, 'feeds'>,
  history: VersionReads,
  clock: Clock,
): () => { version: Version; expectedBy: number }[] {
  let known: { version: Version; expectedBy: number }[] = []
  let validUntil = Number.NEGATIVE_INFINITY
  return () => {
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

/** statusLine describes the daemon in one line for `systemctl status`. Its conditions come first. */
export function statusLine(
  history: VersionReads & Pick<Pauses, 'pauses'>,
  { conditions, service }: Pick<DaemonState, 'conditions' | 'service'>,
  now: number,
): string {
  const words = conditions.map(({ message }) => message)
  try {
    return [...words, countsLine(history, service, now)].join('; ')
  } catch (error) {
    return (words.length > 0 ? words : [messageOf(error)]).join('; ')
  }
}

function countsLine(
  history: VersionReads & Pick<Pauses, 'pauses'>,
  service: DaemonState['service'],
  now: number,
): string {
  const count = history.count()
  const pauses = pauseLines(pauseReports(history.pauses(now)), now, (command) => command)
  const waiting = count.settling + count.incomplete + count.checking + count.queued
  const last = isoTime(history.lastSuccessAt(now))
  return [
    ...limited(
      pauses.map(({ says }) => says),
      1,
    ),
    `${waiting} waiting, ${count.uploading} uploading, ${count.held} held, ${count.failed} failed`,
    last === null ? 'nothing uploaded yet' : `last upload ${last}`,
    `service ${service}`,
  ].join('; ')
}

/** statusOf returns the document of `status --json` and of the endpoint. */
export function statusOf(
  history: (Reported & Pick<Pauses, 'pauses'>) | null,
  config: Config,
  clock: Clock,
  filter: ListFilter,
  daemon: { running: boolean; state: DaemonState | null },
): StatusReport {
  const expect = history === null ? undefined : expectations(history, rulesOf(config), clock.now())
  const pauses = history?.pauses(clock.now())
  const report = statusReport(history, daemon, config.service.baseUrl, filter, expect, pauses)
  const running = daemon.state?.uploads ?? {}
  for (const upload of report.uploads) upload.progress = progressOf(upload, running)
  const isAsked = ({ path }: { path: string }) =>
    filter.feed === undefined || rulesOf(config)(path).feed === filter.feed
  const skipped = report.skipped.filter(isAsked)
  const pausedFeeds = report.pausedFeeds.filter(
    ({ feed }) => filter.feed === undefined || feed === filter.feed,
  )
  return { ...report, pausedFeeds, skipped, campaigns: lastCampaignRun(config) }
}

/** progressOf returns null unless the version is uploading: the daemon's file may still hold an old attempt. */
function progressOf({ id, state }: Pick<Version, 'id' | 'state'>, uploads: DaemonState['uploads']) {
  return (state === 'uploading' && uploads[id]) || null
}

function lastCampaignRun(config: Config): CampaignRun | null {
  const { file, explicit } = config.campaigns
  // If the file is missing while its campaigns run, the last look says so.
  const isOn = explicit || existsSync(file)
  const read = (known: CampaignReader) =>
    isOn || known.bindings().length > 0 ? known.lastRun() : null
  return readCampaigns(config, read, null)
}

/** readCampaigns reads what the history knows of the campaigns; without a history it returns `none`. */
export function readCampaigns<T>(config: Config, read: (known: CampaignReader) => T, none: T): T {
  using known = openCampaignReader({ file: historyFile(config), account: accountOf(config) })
  return known === null ? none : read(known)
}

/** versionOf returns the document of `show --json`, with at most `most` events and attempts; null for an unknown id. */
export function versionOf(
  history: Reported & Pick<Attempts, 'attempts'> & Pick<Pauses, 'pauses'>,
  config: Config,
  clock: Clock,
  id: number,
  most?: number,
  uploads: DaemonState['uploads'] = {},
): ShowReport | null {
  const expect = expectations(history, rulesOf(config), clock.now())
  const report = showReport(history, id, expect, most, history.pauses(clock.now()))
  return report && { ...report, progress: progressOf(report, uploads) }
}

/**
 * openStatus opens the history for reading and reads the daemon's file. It throws `FeedsyncError` if this user may not
 * read the lock.
 */
export function openStatus(config: Config, clock: Clock, env: NodeJS.ProcessEnv) {
  const { directory } = config.state
  const reader = openHistoryReader({ file: historyFile(config) })
  const state = readDaemonFile(directory, env)
  // A daemon whose lock file was deleted still runs.
  const running = state?.alive || isLocked(directory)
  return {
    report: (filter: ListFilter) => {
      const report = statusOf(reader, config, clock, filter, { running, state })
      const { conditions } = report.daemon
      // The command looks too: there may be no daemon, or the daemon has not looked yet.
      const full = conditions.some(({ code }) => code === 'state-full') ? null : fullDisk(directory)
      const condition = { code: 'state-full', severity: 'critical', since: clock.now() } as const
      if (full !== null) conditions.unshift(conditionReport({ ...condition, ...full }))
      return report
    },
    show: (id: number, most?: number) =>
      reader === null ? null : versionOf(reader, config, clock, id, most, state?.uploads),
    /** Returns the version of a feed on the service and its newest `most` versions; null if no feed has this name. */
    feed: (name: string, most?: number) => {
      if (reader === null) return null
      const expect = expectations(reader, rulesOf(config), clock.now())
      const report = feedReport(reader, name, expect, most, reader.pauses(clock.now()))
      for (const upload of report?.uploads ?? [])
        upload.progress = progressOf(upload, state?.uploads ?? {})
      return report
    },
    newestId: () => reader?.list({ all: true, limit: 1 })[0]?.id ?? null,
    feeds: () => reader?.list({}).map(({ feed }) => feed) ?? [],
    /** Says why a path, relative to the inbox or absolute, is where it is; null if nothing is or ever was there. */
    path: async (named: string) => {
      const given = normalize(named).replace(/(?<=.)\/$/, '')
      const isOutside = given === '.' || isAbsolute(given)
      const { Inbox } = await import('../inbox/folder.ts')
      const { pathReport } = await import('../ops/path-report.ts')
      const { nonUtf8Path } = await import('../lib/non-utf8-names.ts')
      await using inbox = new Inbox({ ...config.inbox, clock, log: silentLog })
      const found = isOutside ? null : ((await inbox.look([given])).get(given) ?? null)
      // Only the daemon knows if its own user may read the path, and which names are not valid UTF-8.
      const skipped = state?.skipped.find(({ path }) =>
        found === null
          ? path === nonUtf8Path(given)
          : `${given}/`.startsWith(path.replace(/\/?$/, '/')),
      )
      const look = skipped ?? found
      const isNamed = look !== null && [`${given}/`, nonUtf8Path(given)].includes(look.path)
      const path = isNamed ? look.path : given
      return pathReport({
        path,
        feed: feedFor(path, config.feeds).feed,
        ignored: isOutside ? null : inbox.ignored(given),
        look,
        history: reader,
        running,
        quietPeriodMs: config.inbox.quietPeriodMs,
        now: clock.now(),
      })
    },
    [Symbol.dispose]: () => reader?.[Symbol.dispose](),
  }
}

/** sendTestAlerts sends a test message to every alert receiver, one after the other. */
export async function sendTestAlerts(
  config: Config,
  { clock, env }: { clock: Clock; env: NodeJS.ProcessEnv },
): Promise<{ to: string; on: string[]; ok: boolean; reason: string | null }[]> {
  const { createHttpClient } = await import('../lib/http.ts')
  const { sendAlert, targetName } = await import('../ops/alerts/senders.ts')
  const { testMessage } = await import('../ops/alerts/message.ts')
  await using http = createHttpClient({ clock, env })
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

/**
 * checkFiles checks files offline, one after the other, and judges them as the daemon would. Without `config`, records
 * and fields are detected and no earlier versions are known. `named` is the feed that a person named; null if the rules
 * name it.
 */
export async function* checkFiles(
  files: readonly string[],
  config: Config | null,
  named: string | null,
): AsyncGenerator<FileReport> {
  const { createFeedChecker } = await import('../feed/worker-checker.ts')
  const { fileReport } = await import('./file-report.ts')
  const { heldReason } = await import('./held-reason.ts')
  using history = config && openHistoryReader({ file: historyFile(config) })
  const now = systemClock.now()
  await using checker = createFeedChecker()
  for (const file of files) {
    const source = resolve(file)
    const path = config === null ? file : pathInInbox(config, source)
    const rule = feedFor(path, config?.feeds ?? [], named)
    const { mapping } = rule
    const root = config === null || isAbsolute(path) ? undefined : config.inbox.directory
    const job = { source, root, expected: null, copyTo: null, indexTo: null, mapping }
    const result = await checker.check(job)
    yield fileReport(file, result, heldReason(result, { path, rule }, config, { history, now }))
  }
}

/** pathInInbox returns the path as the history names it: relative to the inbox, or absolute outside of it. */
export function pathInInbox(config: Config, source: string): string {
  const inside = relative(config.inbox.directory, source)
  return inside.startsWith('..') || isAbsolute(inside) ? source : inside.split(sep).join('/')
}

/** noVersion says that a version does not exist. `newest` is the id of the newest version, or null without versions. */
export function noVersion(id: number, newest: number | null): string {
  return `there is no version ${id}${newest === null ? '' : `; the newest is ${newest}`}`
}
