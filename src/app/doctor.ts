// `doctor` shows what the running daemon found on its host, and what the user of the command finds. It uploads nothing
// and changes nothing.

import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { readCampaignsFile } from '../campaigns/campaigns-file.ts'
import { type Config, historyFile } from '../config/config.ts'
import { feedFor } from '../config/feeds.ts'
import { commandFor, hintWith } from '../domain/command.ts'
import { lockFile } from '../history/connection.ts'
import { openReader } from '../history/migrations.ts'
import { openHistoryReader, tables } from '../history/tables.ts'
import type { Clock } from '../lib/clock.ts'
import { EXIT, errorCode } from '../lib/errors.ts'
import { createHttpClient, type HttpClient } from '../lib/http.ts'
import { formatBytes } from '../lib/units.ts'
import { userName } from '../lib/user.ts'
import { VERSION } from '../lib/version.ts'
import { stepText } from '../ops/advice.ts'
import { readDaemonFile } from '../ops/daemon-file.ts'
import { checkNames } from '../ops/doctor/feed-names.ts'
import {
  type CheckAnswer,
  type CheckFinding,
  check,
  failed,
  ok,
  problem,
  skipped,
  warning,
} from '../ops/doctor/finding.ts'
import { checkAccounts } from '../ops/doctor/shared-accounts.ts'
import type { CommandLine, DaemonState } from '../ops/port.ts'
import { firstLine, type Problem } from '../ops/problem.ts'
import { KINDS } from '../ops/problem-kinds.ts'
import { type CheckParts, checkHost, checkKey } from './checks.ts'
import { askService } from './doctor-service.ts'
import { openStatus } from './open-status.ts'
import { ownAccountOf } from './rules.ts'

interface DoctorOptions {
  clock: Clock
  env: NodeJS.ProcessEnv
  configFile: string
  commandLine: CommandLine
  /** True if no request may be sent. */
  offline: boolean
}

/** DoctorFinding is a finding with its origin: the daemon, which ran the check itself, or this command. */
export interface DoctorFinding extends CheckFinding {
  by: 'daemon' | 'command'
  /** The user who ran the check. */
  user: string
  /** Wall-clock time of the check in ms. */
  at: number
}

const ROOT = 'this is root, who may read and write files that the daemon’s user may not'
const BIG_JOURNAL_BYTES = 256 * 2 ** 20
const BIG_HISTORY_BYTES = 4 * 2 ** 30

/** diagnose yields what a running daemon found on its host, and then what the checks of this command find. */
export async function* diagnose(
  config: Config,
  options: DoctorOptions,
): AsyncGenerator<DoctorFinding> {
  const { clock, env } = options
  const state = readDaemonFile(config.state.directory, env)
  const daemon = state?.alive ? state : null
  if (daemon !== null) yield* daemonFindings(daemon, clock.now())
  const who = { by: 'command', user: userName() } as const
  for await (const finding of commandFindings(config, { ...options, hasDaemon: daemon !== null }))
    yield { ...finding, ...who, at: clock.now() }
}

/** daemonFindings yields what the daemon found on its host, and whether it polls the folder. */
function* daemonFindings(
  { checks, mode, modeReason, user }: DaemonState,
  now: number,
): Generator<DoctorFinding> {
  const who = { by: 'daemon', user } as const
  for (const finding of checks?.findings ?? []) yield { ...finding, ...who, at: checks?.at ?? now }
  if (checks === null)
    yield { check: 'host', ...skipped('the first check has not ended yet'), ...who, at: now }
  if (mode === 'poll')
    yield { check: 'events', ...ok(`the folder is polled: ${modeReason}`), ...who, at: now }
}

/** problemsOfHost returns the problems of daemon and service; none if the history fails, which checkHistory reports. */
function problemsOfHost(config: Config, { clock, commandLine, env }: DoctorOptions): Problem[] {
  try {
    using status = openStatus(config, { clock, commandLine, env })
    const isOfHost = ({ subject }: Problem) => ['daemon', 'service'].includes(subject.kind)
    return status.report({}).problems.filter(isOfHost)
  } catch {
    return []
  }
}

/** findingOf words a problem as `status` does. `doctor` can exit 0 without a daemon: its checks do not need one. */
export function findingOf(found: Problem): CheckFinding {
  const { code, next, severity, subject } = found
  const [reason, hint] = [firstLine(found), stepText(next) ?? hintWith(null, commandFor('status'))]
  if (severity !== 'critical') return { check: subject.kind, ...warning(reason, hint) }
  const exitCode = code === 'daemon-down' ? EXIT.ok : KINDS[code].exit || EXIT.failed
  return { check: subject.kind, ...problem(reason, hint, exitCode) }
}

/** commandFindings yields what this command's checks find. With `hasDaemon`, a daemon checks its host itself. */
async function* commandFindings(
  config: Config,
  options: DoctorOptions & { hasDaemon: boolean },
): AsyncGenerator<CheckFinding> {
  const { clock, configFile, env, hasDaemon, offline } = options
  yield* check('runtime', () => ok(`feedsyncd ${VERSION} on Node ${process.versions.node}`))
  if (!hasDaemon && process.getuid?.() === 0)
    yield* check('user', () =>
      warning(ROOT, 'start the daemon, which runs these checks itself, then run doctor again'),
    )
  yield* check('configuration', () => ok(resolve(configFile)))
  const problems = problemsOfHost(config, options)
  if (problems.every(({ subject }) => subject.kind !== 'daemon'))
    yield* check('daemon', () => ok('it runs'))
  for (const one of problems) yield findingOf(one)
  yield* check('history', () => checkHistory(config))
  yield* check('feeds', () => checkFeedNames(config))
  yield* check('accounts', () => checkSharing(config))
  yield* check('campaigns', () => checkCampaignsFile(config))
  if (config.alerts.length === 0)
    yield* check('alerts', () => skipped('problems are not reported: alerts is empty'))
  await using owned = new AsyncDisposableStack()
  let http: HttpClient
  try {
    http = owned.use(createHttpClient({ clock, env }))
  } catch (error) {
    yield { check: 'proxy', ...failed(error) }
    return
  }
  yield* check('proxy', () => proxyVariables(env))
  const parts = { clock, env, http, offline }
  // Nothing aborts this signal: Ctrl-C ends the whole process.
  const { signal } = new AbortController()
  const found: CheckFinding[] = []
  const checks = hasDaemon
    ? check('key', () => keyOfDaemon(config, parts))
    : checkHost(config, parts, signal)
  for await (const finding of checks) {
    found.push(finding)
    yield finding
  }
  const preventsRequests = ({ check, verdict }: CheckFinding) =>
    (check === 'key' || check === 'address') && (verdict === 'problem' || verdict === 'skipped')
  if (!offline && !found.some(preventsRequests)) yield* askService(config, { clock, http }, signal)
}

/** keyOfDaemon checks the key. A key that only root may read is correct, because systemd hands it to the daemon. */
async function keyOfDaemon(config: Config, parts: CheckParts): Promise<CheckAnswer> {
  try {
    return await checkKey(config, parts)
  } catch (error) {
    if (errorCode(error) !== 'EACCES') throw error
    const { keyFile } = config.service.auth
    return skipped(`this user may not read ${keyFile}: only root can check it at the service`)
  }
}

function checkHistory(config: Config): CheckAnswer {
  const file = historyFile(config)
  using found = openReader(file, (connection) => ({
    integrity: String(connection.pragma('quick_check(1)')),
    bytes: connection.usedBytes(),
  }))
  if (found === null && existsSync(lockFile(config.state.directory))) {
    const hint =
      'restore state.directory from your backup, or go on without it: each feed is then held once, and status says how to decide'
    return problem(`${file} is gone or empty, although a daemon ran here`, hint)
  }
  if (found === null) return skipped('there is no history yet: the daemon never ran')
  const { integrity, bytes } = found
  if (integrity !== 'ok') {
    const hint = 'stop the daemon and restore state.directory from your backup'
    return problem(`${file} is damaged: ${integrity}`, hint)
  }
  const journal = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (journal > BIG_JOURNAL_BYTES) {
    const reason = `${file} is sound, but its journal has grown to ${formatBytes(journal)}`
    return warning(reason, 'end every program that keeps the history open, then restart the daemon')
  }
  return bytes > BIG_HISTORY_BYTES
    ? warning(`${file} is sound, and very large`, 'shorten state.historyFor')
    : ok(`${file} is sound`)
}

function checkFeedNames(config: Config): CheckAnswer {
  using found = openReader(historyFile(config), (connection) => ({
    names: connection.values<string>('SELECT name FROM feeds'),
    joined: tables(connection).datedPaths(),
  }))
  const names = found?.names ?? []
  const byPath = names.filter((name) => feedFor(name, config.feeds).feed === name)
  return checkNames(byPath, found?.joined ?? new Map())
}

/** checkSharing names the feeds that share an account, by the newest version of each feed. */
function checkSharing(config: Config): CheckAnswer {
  using history = openHistoryReader({ file: historyFile(config) })
  const states = ['held', 'queued', 'uploading', 'uploaded'] as const
  const newest = history?.list({ states }) ?? []
  const shared = [...Map.groupBy(newest, ({ account }) => account)].map(([account, versions]) => {
    const word = history?.whoSaidKeepsAll(account) ?? null
    const keepsAll =
      config.guards.secondFeed === 'pass'
        ? 'guards.secondFeed is pass'
        : word && `${word.by} said that it keeps all`
    const feeds = versions.map(({ feed }) => feed)
    return { account: account ?? ownAccountOf(config), feeds, keepsAll }
  })
  return checkAccounts(shared)
}

/** checkCampaignsFile checks the campaigns file as the daemon does, without a request to the service. */
function checkCampaignsFile(config: Config): CheckAnswer {
  const read = readCampaignsFile(config)
  if (read.kind === 'off') return skipped(`off: there is no campaigns file at ${read.file}`)
  if (read.kind === 'unusable') {
    const reason = `no campaign is written: ${read.lines.join('; ')}`
    return problem(
      reason,
      hintWith('correct the file, then', commandFor('campaigns plan')),
      EXIT.config,
    )
  }
  return ok(`${read.file} has ${read.entries.length} entries, and can be read`)
}

/** proxyVariables names only the variables that set a proxy, because their values can hold a password. */
function proxyVariables(env: DoctorOptions['env']): CheckAnswer {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']
  const set = names.filter((name) => env[name])
  const reason = set.length === 0 ? 'none: connections are direct' : `set by ${set.join(', ')}`
  return ok(reason)
}
