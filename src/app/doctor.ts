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
import type { Condition } from '../lib/conditions.ts'
import { EXIT } from '../lib/errors.ts'
import { hasPlaceholder } from '../lib/glob.ts'
import { createHttpClient, type HttpClient } from '../lib/http.ts'
import { silentLog } from '../lib/log.ts'
import { formatBytes, formatDuration } from '../lib/units.ts'
import { VERSION } from '../lib/version.ts'
import { readDaemonFile } from '../ops/daemon-file.ts'
import { checkNames } from '../ops/doctor/dated-names.ts'
import { checkEndpoint } from '../ops/doctor/endpoint-check.ts'
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
import {
  checkAccount,
  checkFile,
  checkKeyMode,
  checkSystemd,
  type Runner,
} from '../ops/doctor/host-checks.ts'
import type { AlertTarget } from '../ops/port.ts'
import { accountOf, readUnit } from '../ops/systemd/unit.ts'
import { ServiceClient } from '../service/client.ts'
import { createFormSource } from '../service/form-source.ts'
import { keyAdvice } from '../service/key-file.ts'
import type { FormAnswer, FormSource } from '../service/port.ts'
import { readCampaignsFile } from './campaigns.ts'
import {
  folderChecks,
  isRootsOwnKey,
  keyAccessCheck,
  keyCheck,
  keyInUseCheck,
} from './doctor-host.ts'
import { historyFile } from './queries.ts'

export interface DoctorOptions {
  clock: Clock
  env: NodeJS.ProcessEnv
  configFile: string
  /** Without the network. */
  offline: boolean
}

const BIG_WAL = 256 * 2 ** 20
const BIG_HISTORY = 4 * 2 ** 30
/** From here on requests are dated with the service's clock; half of it is worth a word. */
const SKEW_MS = 60 * SECOND

export async function* diagnose(config: Config, options: DoctorOptions): AsyncGenerator<Finding> {
  const { env } = options
  const { keyFile } = config.service.auth
  const unit = await readUnit()
  const runner = { unit, account: unit && accountOf(unit) }
  let isRunning = false
  yield* check('runtime', () => ok(`feedsyncd ${VERSION} on Node ${process.versions.node}`))
  yield* check('account', () => checkAccount(process.getuid?.(), runner))
  yield* check('configuration', () => checkFile(resolve(options.configFile), 'read', runner))
  yield* folderChecks(config, runner)
  yield* check('history', () => history(config))
  yield* check('feeds', () => feedNames(config))
  yield* check('daemon', () => {
    isRunning = isLocked(config.state.directory)
    const start = 'systemctl start feedsyncd, or feedsyncd run'
    return isRunning ? ok('it runs') : warning('it does not run', start)
  })
  const said = readDaemonFile(config.state.directory, env)
  for (const each of said?.conditions ?? []) yield* check('condition', () => ofDaemon(each))
  yield* check('endpoint', () => checkEndpoint(config.http.listen, isRunning))
  yield* check('campaigns', () => campaigns(config, runner))
  yield* check('key mode', () => checkKeyMode(keyFile, env.CREDENTIALS_DIRECTORY))
  yield* check('key in use', () => keyInUseCheck(said?.alive ? said.pid : undefined, runner))
  if (config.alerts.length === 0)
    yield* check('alerts', () => skipped('problems are not reported: alerts is empty'))
  for (const target of config.alerts) yield* check('alerts', () => receiver(target, runner))
  yield* check('systemd', checkSystemd)
  yield* check('proxy', () => proxy(env))
  yield* check('key', () => keyAccessCheck(config, runner))
  if (await isRootsOwnKey(config, runner)) {
    yield* check('key', () =>
      ok(`${keyFile} is root's alone, and systemd hands it over to the unit`),
    )
    yield* check('service', () => skipped('only root can try this key: run doctor as root'))
  } else yield* service(config, options)
}

function history(config: Config): Answer {
  const file = historyFile(config)
  using found = openReader(file, (connection) => ({
    integrity: String(connection.pragma('quick_check(1)')),
    bytes: connection.usedBytes(),
  }))
  if (found === null && existsSync(lockFile(config.state.directory))) {
    const fix =
      'put back the copy of state.directory from your backup, or go on without: each feed is held once, and feedsyncd release --lost-history accepts them'
    return problem(`${file} is gone or empty, although a daemon ran here`, fix)
  }
  if (found === null) return skipped('there is none yet: the daemon never ran')
  const { integrity, bytes } = found
  if (integrity !== 'ok') {
    const fix = 'stop the daemon and put back the copy of state.directory from your backup'
    return problem(`${file} is damaged: ${integrity}`, fix)
  }
  const journal = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (journal > BIG_WAL) {
    const says = `${file} is sound, but its journal has grown to ${formatBytes(journal)}`
    return warning(says, 'end what reads the history for long, then restart the daemon')
  }
  return bytes > BIG_HISTORY
    ? warning(`${file} is sound, and very large`, 'shorten state.historyFor')
    : ok(`${file} is sound`)
}

function feedNames(config: Config): Answer {
  using found = openReader(historyFile(config), (connection) => ({
    names: connection.values<string>('SELECT name FROM feeds'),
  }))
  const names = found?.names ?? []
  return checkNames(names.filter((name) => feedFor(name, config.feeds).feed === name))
}

/** What the running daemon says of itself, in the words of `status`. */
function ofDaemon({ hint, message, severity }: Condition): Answer {
  const fix = hint ?? 'feedsyncd status'
  return severity === 'critical' ? problem(message, fix) : warning(message, fix)
}

/** What the daemon would say at its next look, without asking the service. */
async function campaigns(config: Config, runner: Runner): Promise<Answer> {
  const read = readCampaignsFile(config)
  if (read.kind === 'off') return skipped(`off: there is no campaigns file at ${read.file}`)
  if (read.kind === 'unusable') {
    const says = `no campaign is written: ${read.lines.join('; ')}`
    return problem(says, 'correct the file, then: feedsyncd campaigns plan', EXIT.config)
  }
  const readable = await checkFile(read.file, 'read', runner)
  if (readable.verdict !== 'ok') return readable
  return ok(`${read.file} has ${read.entries.length} entries, and can be read`)
}

async function receiver({ action }: AlertTarget, runner: Runner): Promise<Answer> {
  if (action.kind === 'exec') return checkFile(action.command[0] ?? '', 'run', runner)
  if (action.secretFile !== null) return checkFile(action.secretFile, 'read', runner)
  return ok(`${action.origin} gets alerts; try it: feedsyncd alerts test`)
}

/** Its name alone: it may hold a password. */
function proxy(env: DoctorOptions['env']): Answer {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']
  const set = names.filter((name) => env[name])
  const says = set.length === 0 ? 'none: connections are direct' : `taken from ${set.join(', ')}`
  return ok(says)
}

/** The key, and unless `offline` what the service says to it, and what its storage says. */
async function* service(
  config: Config,
  { clock, env, offline }: DoctorOptions,
): AsyncGenerator<Finding> {
  await using owned = new AsyncDisposableStack()
  const account = accountOfRules(config.feeds)
  let http: HttpClient
  let client: ServiceClient
  let forms: FormSource
  try {
    http = owned.use(createHttpClient({ clock, env }))
    const options = { http, clock, log: silentLog, ...config.service }
    client = new ServiceClient(options)
    forms = createFormSource(options)
  } catch (error) {
    yield { check: 'key', ...failed(error) }
    return
  }
  yield* check('key', () => keyCheck(config))
  if (offline) return
  const authorization = await authorized(client, account, config.service.auth.keyFile)
  yield* check('service', () => authorization)
  yield* check('clock', () => skew(client))
  if (authorization.verdict === 'problem') return
  if (client.lacksAccount(config.service.presignPath, account)) {
    const says = 'the partner account depends on the feed, so none is asked for'
    return yield* check('upload form', () => skipped(says))
  }
  // It is thrown away: nothing is stored by it.
  const answer = await forms.requestForm(account, new AbortController().signal)
  yield* check('upload form', () => formAnswer(answer))
  if (answer.kind === 'form')
    yield* check('storage', () => knock(new URL(new URL(answer.form.url).origin), http))
}

/** Changes nothing on the service (specification of the service, "Other facts"). */
async function authorized(
  client: ServiceClient,
  account: string | null,
  keyFile: string,
): Promise<Answer> {
  const path = '/v1/public-api/validate-authorization'
  if (client.lacksAccount(path, account)) {
    const says =
      'no partner account to ask for: service.partner is set, and service.partnerAccount is not'
    return problem(says, 'set service.partnerAccount', EXIT.config)
  }
  const call = { method: 'POST', path, body: null, account, maxAnswerBytes: 64 * 1024 }
  const answer = await client.call(call, new AbortController().signal)
  if (answer.kind === 'no-answer') {
    const fix =
      answer.why === 'certificate'
        ? 'check the clock of this machine (timedatectl); if a proxy of yours inspects TLS, set NODE_EXTRA_CA_CERTS to its CA; otherwise report it to the service operator'
        : 'check service.baseUrl, the name server, the firewall and HTTPS_PROXY'
    return problem(`no answer: ${answer.reason}`, fix, EXIT.temporary)
  }
  const { status } = answer
  if (status === 200) return ok(`${client.origin} takes the credentials`)
  if (status === 401 || status === 403) {
    const fix = `${keyAdvice(keyFile)}; check service.auth and the account or partner`
    return problem(`the credentials are refused with ${status}`, fix, EXIT.credentials)
  }
  if (status >= 500)
    return problem(`the service answered ${status}`, 'try again later', EXIT.temporary)
  const fix = 'check that service.baseUrl names the service, with its path prefix'
  return warning(`${client.origin} has no way to check credentials (${status})`, fix)
}

/** The first account that a rule names without looking at a path. */
function accountOfRules(feeds: Config['feeds']): string | null {
  const ruled = feeds.map(({ partnerAccount }) => partnerAccount)
  return ruled.find((name) => name !== null && !hasPlaceholder(name)) ?? null
}

function skew(client: ServiceClient): Answer {
  const ms = client.clockSkewMs()
  if (ms === null) return skipped('the service told no time')
  const says = `this clock is ${formatDuration(Math.abs(ms))} ${ms > 0 ? 'behind' : 'ahead of'} the service's`
  return Math.abs(ms) > SKEW_MS / 2
    ? warning(says, 'let it be set: timedatectl set-ntp true')
    : ok(says)
}

function formAnswer(answer: FormAnswer): Answer {
  if (answer.kind === 'form')
    return ok(`the service gives one, with ${answer.form.fields.length} fields`)
  const { class: kind, hint, reason } = answer.failure
  const exitCode =
    kind === 'credentials' ? EXIT.credentials : kind === 'transient' ? EXIT.temporary : 1
  return problem(reason, hint, exitCode)
}

/** Any answer will do: without a form there is nothing to ask for. */
async function knock(url: URL, http: HttpClient): Promise<Answer> {
  const { signal } = new AbortController()
  const answer = await http.request({
    method: 'HEAD',
    url,
    headers: {},
    body: null,
    signal,
    headersTimeoutMs: 10 * SECOND,
    bodyTimeoutMs: 10 * SECOND,
    maxAnswerBytes: 1024,
  })
  if (answer.kind === 'answer') return ok(`${url.origin} answers`)
  const fix =
    'let this host reach it as well as the service: firewall, HTTPS_PROXY, NODE_EXTRA_CA_CERTS'
  return problem(`no answer: ${answer.reason}`, fix, EXIT.temporary)
}
