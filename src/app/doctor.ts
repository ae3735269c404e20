// `doctor`: every part that the daemon needs, asked one after the other, each answer with its fix. Nothing
// is uploaded and nothing is changed. Composes what the features can say of themselves.

import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { feedFor } from '../config/feeds.ts'
import { lockFile } from '../history/connection.ts'
import { isLocked } from '../history/instance-lock.ts'
import { openReader } from '../history/migrations.ts'
import { type Clock, SECOND } from '../lib/clock.ts'
import { FeedsyncError, messageOf } from '../lib/errors.ts'
import { hasPlaceholder } from '../lib/glob.ts'
import { createHttpClient } from '../lib/http.ts'
import { keyAdvice } from '../lib/key-advice.ts'
import { isBulkRoute } from '../lib/service-routes.ts'
import { silentLog } from '../lib/silent-log.ts'
import { formatBytes, formatDuration } from '../lib/units.ts'
import { VERSION } from '../lib/version.ts'
import { checkNames } from '../ops/doctor/dated-names.ts'
import { checkEndpoint } from '../ops/doctor/endpoint-check.ts'
import { type Finding, ok, problem, skipped, warning } from '../ops/doctor/finding.ts'
import {
  checkAccount,
  checkFile,
  checkKeyMode,
  checkSystemd,
  type Runner,
} from '../ops/doctor/host-checks.ts'
import { accountOf, readUnit } from '../ops/systemd/unit.ts'
import { ServiceClient } from '../service/client.ts'
import { createFormSource } from '../service/form-source.ts'
import { readCampaignsFile } from './campaigns.ts'
import {
  conditionChecks,
  folderChecks,
  keyAccessCheck,
  keyCheck,
  keyInUseCheck,
  rootsOwnKey,
} from './doctor-host.ts'
import { historyFile, serviceOptions } from './queries.ts'

export interface DoctorOptions {
  clock: Clock
  env: Record<string, string | undefined>
  configFile: string
  /** Without the network. */
  offline: boolean
}

const CONFIG = 78
const CREDENTIALS = 4
const TEMPORARY = 75
const BIG_WAL = 256 * 2 ** 20
const BIG_HISTORY = 4 * 2 ** 30
/** From here on requests are dated with the service's clock; half of it is worth a word. */
const SKEW_MS = 60 * SECOND

export async function* diagnose(config: Config, options: DoctorOptions): AsyncGenerator<Finding> {
  const { env } = options
  yield ok('runtime', `feedsyncd ${VERSION} on Node ${process.versions.node}`)
  const unit = await readUnit()
  const runner = { unit, account: unit && accountOf(unit) }
  yield checkAccount(process.getuid?.(), runner)
  yield checkFile('configuration', resolve(options.configFile), 'read', runner)
  yield* folderChecks(config, runner)
  yield history(config)
  yield feedNames(config)
  const alive = daemon(config)
  yield alive
  yield* conditionChecks(config, env)
  yield checkEndpoint(config.http.listen, alive.verdict === 'ok')
  yield campaigns(config, runner)
  yield checkKeyMode(config.service.auth.keyFile, env.CREDENTIALS_DIRECTORY)
  yield* keyInUseCheck(config, runner, env)
  yield* alerts(config, runner)
  yield checkSystemd()
  yield proxy(env)
  yield* keyAccessCheck(config, runner)
  yield* rootsOwnKey(config, runner) ?? service(config, options)
}

function history(config: Config): Finding {
  const check = 'history'
  const file = historyFile(config)
  try {
    using found = openReader(file, (connection) => ({
      integrity: String(connection.pragma('quick_check(1)')),
      bytes: connection.usedBytes(),
    }))
    if (found === null && existsSync(lockFile(config.state.directory))) {
      const fix =
        'put back the copy of state.directory from your backup, or go on without: each feed is held once, and feedsyncd release --lost-history accepts them'
      return problem(check, `${file} is gone or empty, although a daemon ran here`, fix)
    }
    if (found === null) return skipped(check, 'there is none yet: the daemon never ran')
    const { integrity, bytes } = found
    if (integrity !== 'ok') {
      const fix = 'stop the daemon and put back the copy of state.directory from your backup'
      return problem(check, `${file} is damaged: ${integrity}`, fix)
    }
    const journal = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
    if (journal > BIG_WAL) {
      const says = `${file} is sound, but its journal has grown to ${formatBytes(journal)}`
      return warning(check, says, 'end what reads the history for long, then restart the daemon')
    }
    return bytes > BIG_HISTORY
      ? warning(check, `${file} is sound, and very large`, 'shorten state.historyFor')
      : ok(check, `${file} is sound`)
  } catch (error) {
    return failed(check, error)
  }
}

function feedNames(config: Config): Finding {
  try {
    using found = openReader(historyFile(config), (connection) => ({
      names: connection.query<[], { name: string }>('SELECT name FROM feeds').all(),
    }))
    const names = found?.names.map(({ name }) => name) ?? []
    return checkNames(names.filter((name) => feedFor(name, config.feeds).feed === name))
  } catch (error) {
    return failed('feeds', error)
  }
}

function daemon({ state }: Config): Finding {
  const check = 'daemon'
  try {
    return isLocked(state.directory)
      ? ok(check, 'it runs')
      : warning(check, 'it does not run', 'systemctl start feedsyncd, or feedsyncd run')
  } catch (error) {
    return failed(check, error)
  }
}

/** What the daemon would say at its next look, without asking the service. */
async function campaigns(config: Config, runner: Runner): Promise<Finding> {
  const check = 'campaigns'
  const read = readCampaignsFile(config)
  switch (read.kind) {
    case 'off':
      return skipped(check, `off: there is no campaigns file at ${read.file}`)
    case 'unusable':
      return problem(
        check,
        `no campaign is written: ${read.lines.join('; ')}`,
        'correct the file, then: feedsyncd campaigns plan',
        CONFIG,
      )
    case 'read': {
      const readable = await checkFile(check, read.file, 'read', runner)
      if (readable.verdict !== 'ok') return readable
      return ok(check, `${read.file} has ${read.desired.campaigns.length} entries, and can be read`)
    }
    default:
      return read satisfies never
  }
}

async function* alerts(config: Config, runner: Runner): AsyncGenerator<Finding> {
  if (config.alerts.length === 0)
    yield skipped('alerts', 'problems are not reported: alerts is empty')
  for (const { action } of config.alerts) {
    if (action.kind === 'exec') yield checkFile('alerts', action.command[0] ?? '', 'run', runner)
    else if (action.secretFile !== null)
      yield checkFile('alerts', action.secretFile, 'read', runner)
    else yield ok('alerts', `${action.origin} gets alerts; try it: feedsyncd alerts test`)
  }
}

/** Its name alone: it may hold a password. */
function proxy(env: DoctorOptions['env']): Finding {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']
  const set = names.filter((name) => env[name])
  const says = set.length === 0 ? 'none: connections are direct' : `taken from ${set.join(', ')}`
  return ok('proxy', says)
}

/** The key, and unless `offline` what the service says to it. */
async function* service(
  config: Config,
  { clock, env, offline }: DoctorOptions,
): AsyncGenerator<Finding> {
  await using owned = new AsyncDisposableStack()
  let parts: Parameters<typeof createFormSource>[0]
  let client: ServiceClient
  try {
    const http = owned.use(createHttpClient({ clock, env, userAgent: `feedsyncd/${VERSION}` }))
    parts = { http, clock, log: silentLog, ...serviceOptions(config) }
    client = new ServiceClient(parts)
  } catch (error) {
    yield failed('key', error)
    return
  }
  yield keyCheck(config)
  if (offline) return
  const authorization = await authorized(client, config)
  yield authorization
  yield skew(client)
  if (authorization.verdict !== 'problem') yield* form(parts, config)
}

/** Changes nothing on the service (specification of the service, "Other facts"). */
async function authorized(client: ServiceClient, { service, feeds }: Config): Promise<Finding> {
  const check = 'service'
  const path = '/v1/public-api/validate-authorization'
  const account = service.identity.kind === 'partner' ? accountOfRules(feeds) : null
  if (client.lacksAccount(path, account)) {
    const says =
      'no partner account to ask for: service.partner is set, and service.partnerAccount is not'
    return problem(check, says, 'set service.partnerAccount', CONFIG)
  }
  const call = { method: 'POST', path, body: null, account, maxAnswerBytes: 64 * 1024 }
  const answer = await client.call(call, new AbortController().signal)
  if (answer.kind === 'no-answer') {
    const fix =
      answer.why === 'certificate'
        ? 'check the clock of this machine (timedatectl); if a proxy of yours inspects TLS, set NODE_EXTRA_CA_CERTS to its CA; otherwise report it to the service operator'
        : 'check service.baseUrl, the name server, the firewall and HTTPS_PROXY'
    return problem(check, `no answer: ${answer.reason}`, fix, TEMPORARY)
  }
  const { status } = answer
  if (status === 200) return ok(check, `${client.origin} takes the credentials`)
  if (status === 401 || status === 403) {
    const fix = `${keyAdvice(service.auth.keyFile)}; check service.auth and the account or partner`
    return problem(check, `the credentials are refused with ${status}`, fix, CREDENTIALS)
  }
  if (status >= 500) {
    return problem(check, `the service answered ${status}`, 'try again later', TEMPORARY)
  }
  const fix = 'check that service.baseUrl names the service, with its path prefix'
  return warning(check, `${client.origin} has no way to check credentials (${status})`, fix)
}

/** The first account that a rule names without looking at a path. */
function accountOfRules(feeds: Config['feeds']): string | null {
  const ruled = feeds.map(({ partnerAccount }) => partnerAccount)
  return ruled.find((name) => name !== null && !hasPlaceholder(name)) ?? null
}

function skew(client: ServiceClient): Finding {
  const ms = client.clockSkewMs()
  if (ms === null) return skipped('clock', 'the service told no time')
  const says = `this clock is ${formatDuration(Math.abs(ms))} ${ms > 0 ? 'behind' : 'ahead of'} the service's`
  return Math.abs(ms) > SKEW_MS / 2
    ? warning('clock', says, 'let it be set: timedatectl set-ntp true')
    : ok('clock', says)
}

/** A form is asked for and thrown away: nothing is stored by it. Then its storage is knocked at. */
async function* form(
  parts: Parameters<typeof createFormSource>[0],
  config: Config,
): AsyncGenerator<Finding> {
  const check = 'upload form'
  const { identity, presignPath } = config.service
  const account = accountOfRules(config.feeds)
  const isLost = identity.kind === 'partner' && identity.partnerAccount === null && account === null
  if (isLost && !isBulkRoute(presignPath)) {
    yield skipped(check, 'the partner account depends on the feed, so none is asked for')
    return
  }
  const { signal } = new AbortController()
  const answer = await createFormSource(parts).requestForm(
    identity.kind === 'partner' ? account : null,
    signal,
  )
  if (answer.kind === 'failure') {
    const { class: kind, hint, reason } = answer.failure
    const exitCode = kind === 'credentials' ? CREDENTIALS : kind === 'transient' ? TEMPORARY : 1
    yield problem(check, reason, hint, exitCode)
    return
  }
  yield ok(check, `the service gives one, with ${answer.form.fields.length} fields`)
  const { origin } = new URL(answer.form.url)
  const knock = await parts.http.request({
    ...{ method: 'HEAD', url: new URL(origin), headers: {}, body: null, signal },
    ...{ headersTimeoutMs: 10 * SECOND, bodyTimeoutMs: 10 * SECOND, maxAnswerBytes: 1024 },
  })
  // Any answer will do: without a form there is nothing to ask for.
  yield knock.kind === 'answer'
    ? ok('storage', `${origin} answers`)
    : problem(
        'storage',
        `no answer: ${knock.reason}`,
        'let this host reach it as well as the service: firewall, HTTPS_PROXY, NODE_EXTRA_CA_CERTS',
        TEMPORARY,
      )
}

function failed(check: string, error: unknown): Finding {
  const { hint = null, exitCode = CONFIG } = error instanceof FeedsyncError ? error : {}
  return problem(check, messageOf(error), hint, exitCode)
}
