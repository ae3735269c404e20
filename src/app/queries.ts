// Answers what commands ask with or without a daemon. This file is separate from app.ts, so that `status` loads no
// network, watcher or checker.

import { hostname } from 'node:os'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { type Config, historyFile } from '../config/config.ts'
import { feedFor, type RuleFor } from '../config/feeds.ts'
import { commandFor, hintWith } from '../domain/command.ts'
import { feedWithoutRule } from '../domain/feed-name.ts'
import { expectations } from '../history/expected-feeds.ts'
import type { Version, VersionReads } from '../history/port.ts'
import { openHistoryReader } from '../history/tables.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import type { FileReport } from './file-report.ts'
import { rulesOf } from './rules.ts'

/** overdueFeeds returns the newest version of each overdue feed. It reads no feeds if no rule has `expectEvery`. */
export function overdueFeeds(
  config: Pick<Config, 'feeds' | 'service'>,
  history: VersionReads,
  now: number,
): Version[] {
  if (config.feeds.every(({ expectEveryMs }) => expectEveryMs === null)) return []
  const expected = expectations(history, rulesOf(config), now)
  return history.list({}).filter((version) => expected(version).overdue)
}

/** sendTestAlerts sends a test message to each alert receiver in turn, and returns the result of each. */
export async function sendTestAlerts(
  config: Config,
  { clock, env }: { clock: Clock; env: NodeJS.ProcessEnv },
): Promise<{ to: string; on: string[]; ok: boolean; reason: string | null }[]> {
  const { createHttpClient } = await import('../lib/http.ts')
  const { alertSender, targetName } = await import('../ops/alerts/senders.ts')
  const { testMessage } = await import('../ops/alerts/message.ts')
  await using http = createHttpClient({ clock, env })
  const send = alertSender({ clock, env, http })
  const results = []
  for (const target of config.alerts) {
    const message = testMessage({ at: clock.now(), host: hostname() })
    const { signal } = new AbortController()
    const sent = await send(target, message, signal)
    const reason = sent.kind === 'failed' ? sent.reason : null
    results.push({ to: targetName(target), on: [...target.on], ok: reason === null, reason })
  }
  return results
}

/**
 * checkFiles checks files offline, one after the other, and judges them as the daemon would. If `config` is null, it
 * detects records and fields, and compares no file with an earlier version. `named` is the feed that a person gave
 * with --feed; null if the rules name the feed.
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
  const ruleFor: RuleFor =
    config === null ? (path, named) => feedFor(path, [], named) : rulesOf(config)
  await using checker = createFeedChecker()
  for (const file of files) {
    const source = resolve(file)
    const path = pathInInbox(config, file)
    const rule = ruleFor(path, named)
    const { mapping } = rule
    const root = config === null || isAbsolute(path) ? undefined : config.inbox.directory
    const job = { source, root, expected: null, copyTo: null, indexTo: null, mapping }
    const result = await checker.check(job)
    yield fileReport(file, result, heldReason(result, { path, rule }, { config, history, now }))
  }
}

/** feedsByPath returns the feeds of these files, without feeds whose name comes from a rule. */
export function feedsByPath(files: readonly string[], config: Config | null): string[] {
  const paths = files.map((file) => pathInInbox(config, file))
  const feeds = paths.map((path) => feedFor(path, config?.feeds ?? []).feed)
  return [...new Set(feeds.filter((feed, n) => feed === feedWithoutRule(paths[n] ?? '')))]
}

/**
 * pathInInbox returns the path of a file as the history names it: relative to the inbox, or absolute outside of it. If
 * `config` is null, it returns `file` unchanged.
 */
export function pathInInbox(config: Config | null, file: string): string {
  if (config === null) return file
  const source = resolve(file)
  const inside = relative(config.inbox.directory, source)
  return inside.startsWith('..') || isAbsolute(inside) ? source : inside.split(sep).join('/')
}

/** noVersion says that a version does not exist. `newest` is the id of the newest version, or null without versions. */
export function noVersion(id: number, newest: number | null): string {
  return `there is no version ${id}${newest === null ? '' : `; the newest is ${newest}`}`
}

/** Refused is thrown when a decision or a question does not apply to a version. Nothing was written. */
export class Refused extends FeedsyncError {}

/** existingVersion returns the version `id`. Throws `Refused` (64) if the history has no version with this id. */
export function existingVersion(history: VersionReads, id: number): Version {
  const version = history.version(id)
  if (version !== null) return version
  const [newest] = history.list({ all: true, limit: 1 })
  throw new Refused(noVersion(id, newest?.id ?? null), {
    hint: hintWith(null, commandFor('status --all')),
    exitCode: EXIT.usage,
  })
}
