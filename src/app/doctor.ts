// `doctor` shows what the running daemon found on its host, and what the user of the command finds. It uploads nothing
// and changes nothing.

import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { feedFor } from '../config/feeds.ts'
import { lockFile } from '../history/connection.ts'
import { isLocked } from '../history/instance-lock.ts'
import { openReader } from '../history/migrations.ts'
import { tables } from '../history/tables.ts'
import type { Clock } from '../lib/clock.ts'
import type { Condition } from '../lib/conditions.ts'
import { EXIT, errorCode } from '../lib/errors.ts'
import { createHttpClient, type HttpClient } from '../lib/http.ts'
import { formatBytes } from '../lib/units.ts'
import { userName } from '../lib/user.ts'
import { VERSION } from '../lib/version.ts'
import { readDaemonFile } from '../ops/daemon-file.ts'
import { checkNames } from '../ops/doctor/dated-names.ts'
import {
  type Answer,
  check,
  type Finding,
  failed,
  ok,
  problem,
  skipped,
  warning,
} from '../ops/doctor/finding.ts'
import type { DaemonState } from '../ops/port.ts'
import { readCampaignsFile } from './campaigns.ts'
import { type CheckParts, checkHost, checkKey } from './checks.ts'
import { askService } from './doctor-service.ts'
import { historyFile } from './queries.ts'

export interface DoctorOptions {
  clock: Clock
  env: NodeJS.ProcessEnv
  configFile: string
  /** True if no request may be sent. */
  offline: boolean
}

/** DoctorFinding is a finding with its origin: the daemon, which ran the check itself, or this command. */
export interface DoctorFinding extends Finding {
  by: 'daemon' | 'command'
  /** The user who ran the check. */
  user: string
  /** Wall-clock time of the check in ms. */
  at: number
}

const ROOT = 'this is root, who may read and write files that the daemon’s user may not'
const BIG_WAL = 256 * 2 ** 20
const BIG_HISTORY = 4 * 2 ** 30

export async function* diagnose(
  config: Config,
  options: DoctorOptions,
): AsyncGenerator<DoctorFinding> {
  const { clock, env } = options
  const state = readDaemonFile(config.state.directory, env)
  const daemon = state?.alive ? state : null
  if (daemon !== null) yield* daemonFindings(daemon, clock.now())
  const who = { by: 'command', user: userName() } as const
  for await (const finding of commandFindings(config, options, daemon !== null))
    yield { ...finding, ...who, at: clock.now() }
}

/** daemonFindings returns the daemon's own findings, and its conditions in the words of `status`. */
function* daemonFindings(
  { checks, conditions, mode, modeReason, user }: DaemonState,
  now: number,
): Generator<DoctorFinding> {
  const who = { by: 'daemon', user } as const
  for (const finding of checks?.findings ?? []) yield { ...finding, ...who, at: checks?.at ?? now }
  if (checks === null)
    yield { check: 'host', ...skipped('the first check has not ended yet'), ...who, at: now }
  if (mode === 'poll')
    yield { check: 'events', ...ok(`the folder is polled: ${modeReason}`), ...who, at: now }
  for (const each of conditions) yield { check: 'condition', ...answerOf(each), ...who, at: now }
}

function answerOf({ hint, message, severity }: Condition): Answer {
  const fix = hint ?? 'feedsyncd status'
  return severity === 'critical' ? problem(message, fix) : warning(message, fix)
}

/** commandFindings runs the checks of this command. `isDaemon`: a daemon runs and checks its host itself. */
async function* commandFindings(
  config: Config,
  { clock, configFile, env, offline }: DoctorOptions,
  isDaemon: boolean,
): AsyncGenerator<Finding> {
  yield* check('runtime', () => ok(`feedsyncd ${VERSION} on Node ${process.versions.node}`))
  if (!isDaemon && process.getuid?.() === 0)
    yield* check('user', () =>
      warning(ROOT, 'start the daemon, which runs these checks itself, then run doctor again'),
    )
  yield* check('configuration', () => ok(resolve(configFile)))
  yield* check('daemon', () => {
    const start = 'systemctl start feedsyncd, or: feedsyncd run'
    const isRunning = isDaemon || isLocked(config.state.directory)
    return isRunning ? ok('it runs') : warning('it does not run', start)
  })
  yield* check('history', () => history(config))
  yield* check('feeds', () => feedNames(config))
  yield* check('campaigns', () => campaigns(config))
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
  yield* check('proxy', () => proxy(env))
  const parts = { clock, env, http, offline, signal: new AbortController().signal }
  const found: Finding[] = []
  const checks = isDaemon
    ? check('key', () => keyOfDaemon(config, parts))
    : checkHost(config, parts)
  for await (const finding of checks) {
    found.push(finding)
    yield finding
  }
  const preventsRequests = ({ check, verdict }: Finding) =>
    (check === 'key' || check === 'address') && (verdict === 'problem' || verdict === 'skipped')
  if (!offline && !found.some(preventsRequests)) yield* askService(config, parts)
}

/** keyOfDaemon checks the key. A key that only root may read is correct, because systemd hands it to the daemon. */
async function keyOfDaemon(config: Config, parts: Omit<CheckParts, 'signal'>): Promise<Answer> {
  try {
    return await checkKey(config, parts)
  } catch (error) {
    if (errorCode(error) !== 'EACCES') throw error
    const { keyFile } = config.service.auth
    return skipped(`this user may not read ${keyFile}: only root can check it at the service`)
  }
}

function history(config: Config): Answer {
  const file = historyFile(config)
  using found = openReader(file, (connection) => ({
    integrity: String(connection.pragma('quick_check(1)')),
    bytes: connection.usedBytes(),
  }))
  if (found === null && existsSync(lockFile(config.state.directory))) {
    const fix =
      'restore state.directory from your backup, or go on without it: each feed is held once. To accept all: feedsyncd release --lost-history'
    return problem(`${file} is gone or empty, although a daemon ran here`, fix)
  }
  if (found === null) return skipped('there is no history yet: the daemon never ran')
  const { integrity, bytes } = found
  if (integrity !== 'ok') {
    const fix = 'stop the daemon and restore state.directory from your backup'
    return problem(`${file} is damaged: ${integrity}`, fix)
  }
  const journal = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (journal > BIG_WAL) {
    const says = `${file} is sound, but its journal has grown to ${formatBytes(journal)}`
    return warning(says, 'end every program that keeps the history open, then restart the daemon')
  }
  return bytes > BIG_HISTORY
    ? warning(`${file} is sound, and very large`, 'shorten state.historyFor')
    : ok(`${file} is sound`)
}

function feedNames(config: Config): Answer {
  using found = openReader(historyFile(config), (connection) => ({
    names: connection.values<string>('SELECT name FROM feeds'),
    joined: tables(connection).datedPaths(),
  }))
  const names = found?.names ?? []
  const byPath = names.filter((name) => feedFor(name, config.feeds).feed === name)
  return checkNames(byPath, found?.joined ?? new Map())
}

/** campaigns checks the campaigns file as the daemon does, without a request to the service. */
function campaigns(config: Config): Answer {
  const read = readCampaignsFile(config)
  if (read.kind === 'off') return skipped(`off: there is no campaigns file at ${read.file}`)
  if (read.kind === 'unusable') {
    const says = `no campaign is written: ${read.lines.join('; ')}`
    return problem(says, 'correct the file, then: feedsyncd campaigns plan', EXIT.config)
  }
  return ok(`${read.file} has ${read.entries.length} entries, and can be read`)
}

/** proxy names only the variable, because its value may hold a password. */
function proxy(env: DoctorOptions['env']): Answer {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']
  const set = names.filter((name) => env[name])
  const says = set.length === 0 ? 'none: connections are direct' : `set by ${set.join(', ')}`
  return ok(says)
}
