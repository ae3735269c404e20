// The composition root: the only place that builds adapters and knows which parts a command needs.
// What the parts do with each other is daemon.ts and pipeline.ts.

import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { feedFor } from '../config/feeds.ts'
import { keysForRestart } from '../config/reload.ts'
import { Daemon } from '../daemon/daemon.ts'
import { Deliveries } from '../daemon/deliveries.ts'
import { Intake, laneOf } from '../daemon/intake.ts'
import { noteExpected, resume } from '../daemon/recovery.ts'
import { Upkeep } from '../daemon/upkeep.ts'
import type { FileIdentity } from '../feed/port.ts'
import { createFeedChecker } from '../feed/worker-checker.ts'
import { acquireLock } from '../history/instance-lock.ts'
import { Ledger } from '../history/ledger.ts'
import type { History, Version } from '../history/port.ts'
import { openHistory } from '../history/sqlite-history.ts'
import { createDispositions } from '../inbox/dispositions.ts'
import { Settler } from '../inbox/settling.ts'
import { createWatchedInbox } from '../inbox/watched-listing.ts'
import type { Clock } from '../lib/clock.ts'
import type { Conditions } from '../lib/conditions.ts'
import { FeedsyncError, messageOf } from '../lib/errors.ts'
import { createHttpClient } from '../lib/http.ts'
import { createLog, type Log } from '../lib/log.ts'
import { VERSION } from '../lib/version.ts'
import { AlertDesk } from '../ops/alerts/desk.ts'
import { sendAlert } from '../ops/alerts/senders.ts'
import { observedChecker } from '../ops/metrics/observed-checker.ts'
import { observed } from '../ops/metrics/observed-history.ts'
import type { CampaignRun, CommandLine, EndpointSource } from '../ops/port.ts'
import { createNotifier } from '../ops/systemd/notifier.ts'
import { createSupervisor } from '../ops/systemd/supervisor.ts'
import type { Endpoint } from '../ops/web/endpoint.ts'
import { Guard } from '../pipeline/guard.ts'
import { Pipeline } from '../pipeline/pipeline.ts'
import { Aftercare } from '../pipeline/post-delivery.ts'
import { createFormSource } from '../service/form-source.ts'
import { keyReloader } from '../service/key-file.ts'
import { createSpool } from '../spool/spool.ts'
import type { Failure } from '../upload/port.ts'
import { createUploader } from '../upload/uploader.ts'
import { conditionsOf, watchConditions } from './conditions.ts'
import { reconcilingOf } from './reconcile.ts'
import {
  historyFile,
  overdueFeeds,
  planOf,
  serviceOptions,
  statusLine,
  statusOf,
  versionOf,
} from './tools.ts'

export interface AppOptions {
  clock: Clock
  env: Record<string, string | undefined>
  /** Of a daemon: absolute path of its configuration. */
  configFile?: string | null
  /** How a person calls a command, for the page and the alerts. */
  commandLine?: CommandLine
  /** Says to a person at the terminal what happened, and what to do. */
  tell: (message: string, hint: string | null) => void
  /** Hears of every new state of a version. */
  onMove?: (version: Version) => void
  /** Bytes of a version handed to the network so far. */
  onProgress?: (sent: number, total: number) => void
}

export interface App extends AsyncDisposable {
  readonly daemon: Daemon
  readonly history: History
  readonly pipeline: Pipeline
  readonly log: Log
  readonly conditions: Conditions
  /** Why the credentials were refused, if they were. */
  refusal(): Failure | null
  /** How the last look at the campaigns ended; null: there was none, or there is no file. */
  campaigns(): CampaignRun | null
  /** Opens `http.listen`, where there is one. Throws `FeedsyncError` when it cannot be used. */
  serve(): Promise<Endpoint | null>
  /** SIGHUP: takes up another configuration, or none of it; refused credentials are tried again. */
  reload(read: () => Reread): void
}

/** The configuration file, read again: all of it, or its mistakes. */
export type Reread = { kind: 'ok'; config: Config } | { kind: 'problems'; lines: string[] }

/** Events and attempts of a version that its page shows. */
const MOST_EVENTS = 200
/** A transaction of a command takes less; nothing else is attended to meanwhile. */
const BUSY_MS = 20

/**
 * Builds everything that delivers, under the lock of the state directory. Throws `FeedsyncError` when
 * another process holds it, the key cannot be read, or the state cannot be written.
 */
export async function openApp(config: Config, options: AppOptions): Promise<App> {
  /** What of it may change is read from here, whenever it is needed. */
  let current = config
  const inForce = () => ({ ...config, feeds: current.feeds })
  const { clock, env, tell, onMove = () => {}, onProgress = () => {} } = options
  const { configFile = null, commandLine = (command) => `feedsyncd ${command}` } = options
  await using parts = new AsyncDisposableStack()
  parts.use(lockOf(config))
  const log = createLog(config.log)
  const { directory: stateDirectory } = config.state
  const conditions = conditionsOf({ clock, configFile, env, log, stateDirectory, tell })
  const stored = parts.use(
    openHistory({ file: historyFile(config), log, clock, busyTimeoutMs: BUSY_MS }),
  )
  // Only where somebody can ask for them: a library less in memory.
  const metrics =
    config.http.listen &&
    (await import('../ops/metrics/metrics.ts')).createMetrics(
      {
        record: () => stored.daemon(),
        count: () => stored.count(),
        oldest: (states) => stored.oldest(states),
        lastSuccessAt: () => stored.lastSuccessAt(clock.now()),
        counters: () => uploader.counters(),
        overdue: () => overdue(),
        campaigns: () => reconciling.last,
      },
      { version: VERSION, startedAt: clock.now() },
    )
  const history = metrics === null ? stored : observed(stored, metrics)
  const http = parts.use(createHttpClient({ clock, env, userAgent: `feedsyncd/${VERSION}` }))
  const forms = createFormSource({ http, clock, log, ...serviceOptions(config) })
  const uploader = parts.use(
    createUploader({ http, forms, clock, log, options: { maxRate: config.upload.maxRate } }),
  )
  const inbox = parts.use(createWatchedInbox({ ...config.inbox, clock, conditions, log }))
  const lanes = { small: parts.use(createFeedChecker()), large: parts.use(createFeedChecker()) }
  const checkerFor = (file: Pick<FileIdentity, 'size'> | null) => {
    const checker = lanes[laneOf(file)]
    return metrics === null ? checker : observedChecker(checker, metrics)
  }
  const spool = createSpool({ directory: join(config.state.directory, 'spool'), clock })
  const settler = new Settler(config.inbox.quietPeriodMs)
  const ruleFor = (path: string) => feedFor(path, current.feeds)
  const overdue = overdueFeeds(() => current.feeds, history, ruleFor, clock)
  const alerts = new AlertDesk({
    ...{ clock, commandLine, conditions, log, history, host: hostname(), targets: config.alerts },
    facts: {
      overdue,
      refusal: () => deliveries.refusal,
      conditions: () => conditions.current(),
      trusted: () => deliveries.isTrusted,
      campaigns: () => reconciling.last,
    },
    send: (target, message, signal) => sendAlert(target, message, { clock, http, env }, signal),
  })
  const moved = (version: Version) => {
    alerts.moved()
    metrics?.moved(version.state)
    onMove(version)
  }
  const ledger = new Ledger(history, clock, log, moved, (version) => aftercare.owe(version))

  const aftercare = new Aftercare({
    ...{ clock, conditions, log, history, ledger, spool },
    dispositions: createDispositions({ ...config.inbox, clock }),
    get settings() {
      return { ...current.inbox, keepVersions: current.upload.keepVersions }
    },
  })
  const reconciling = reconcilingOf(config, { clock, env, log, tell, history: stored })
  const guard = new Guard({
    ...{ history, ledger, spool, checkerFor },
    get limits() {
      return current.guards
    },
  })
  const pipeline = new Pipeline({
    reconcile: () => reconciling.uploaded(),
    ...{ clock, log, history, ledger, checkerFor, spool, uploader, aftercare, ruleFor, onProgress },
    guard,
    get incompleteAfterMs() {
      return current.inbox.incompleteAfterMs
    },
  })
  const deliveries = new Deliveries({
    ...{ clock, conditions, log, history, pipeline, uploader },
    reloadKey: keyReloader(forms, config.service.auth.keyFile),
    clockSkewMs: () => forms.clockSkewMs(),
    accepted: () => forms.accepted(),
    get concurrency() {
      return current.upload.concurrency
    },
  })
  const intake = new Intake({
    ...{ clock, conditions, log, tell, history, ledger, inbox, spool, settler, pipeline },
    ...{ aftercare, ruleFor },
    get rescanMs() {
      return current.inbox.rescanMs
    },
    get incompleteAfterMs() {
      return current.inbox.incompleteAfterMs
    },
  })
  const historyForMs = () => current.state.historyForMs
  const upkeep = new Upkeep({ clock, log, history, deliveries, historyForMs })
  const { pid } = process
  const supervisor = createSupervisor({
    ...{ clock, env, pid, notifier: createNotifier({ env, log, pid }) },
    pulse: () => daemon.pulse(),
    status: () => statusLine(history, conditions.current(), clock.now()),
  })
  const daemon = new Daemon({
    ...{ clock, conditions, log, history, inbox, intake, deliveries, reconciling },
    ...{ alerts, supervisor, upkeep },
    watch: (signal) => watchConditions({ clock, stateDirectory }, conditions, alerts, signal),
    get incompleteAfterMs() {
      return current.inbox.incompleteAfterMs
    },
  })

  conditions.onChange(() => {
    alerts.moved()
    daemon.conditionsChanged()
    supervisor.changed()
  })

  const resuming = { aftercare, clock, history, log, ruleFor, spool }
  await resume(resuming, current.feeds)
  const disposal = parts.move()
  return {
    ...{ conditions, daemon, history, pipeline, log },
    campaigns: () => reconciling.last,
    refusal: () => deliveries.refusal,
    reload: (read) => {
      supervisor.reloading()
      const reread = taken(read(), ({ alerts: targets }) => alerts.retarget(targets))
      if (reread.kind === 'ok') {
        const waiting = keysForRestart(config, reread.config)
        current = reread.config
        void noteExpected(resuming, current.feeds)
        log.level = current.log.level
        log.info({ waiting }, 'configuration reloaded')
        conditions.clear('reload-failed')
        if (waiting.length === 0) conditions.clear('restart-needed')
        else {
          const message = `restart needed for ${waiting.join(', ')}`
          conditions.set('restart-needed', { message, hint: 'systemctl restart feedsyncd' })
        }
      } else {
        log.error({ problems: reread.lines }, 'configuration not reloaded; the one in force stays')
        const message = `configuration not reloaded: ${reread.lines[0]}`
        conditions.set('reload-failed', { message, hint: 'feedsyncd config check' })
      }
      metrics?.reloaded(reread.kind === 'ok', clock.now())
      daemon.wake()
      supervisor.reloaded()
    },
    serve: async () => {
      const { listen } = config.http
      if (listen === null || metrics === null) return null
      const { openEndpoint } = await import('../ops/web/endpoint.ts')
      const source: EndpointSource = {
        pulse: () => daemon.pulse(),
        record: () => history.daemon(),
        status: () => statusOf(history, inForce(), clock, {}),
        versions: (feed, limit) =>
          statusOf(history, inForce(), clock, { feed, limit, all: true }).uploads,
        postings: (feed, limit) => history.postings(feed, limit),
        version: (id) => versionOf(history, inForce(), clock, id, MOST_EVENTS),
        metrics: () => metrics.text(),
        plan: (id) => planOf(config, id),
        lastSuccessAt: () => history.lastSuccessAt(clock.now()),
        ...{ host: hostname(), inbox: config.inbox.directory, commandLine },
      }
      return openEndpoint({ listen, source, clock, log })
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  }
}

/** The step of a reload that can fail comes first: then all of it is taken, or nothing. */
function taken(reread: Reread, take: (config: Config) => void): Reread {
  if (reread.kind === 'problems') return reread
  try {
    take(reread.config)
    return reread
  } catch (error) {
    return { kind: 'problems', lines: [messageOf(error)] }
  }
}

function lockOf(config: Config): Disposable {
  const { directory } = config.state
  const lock = acquireLock(directory)
  if (lock !== null) return lock
  throw new FeedsyncError(`another feedsyncd runs with the state directory ${directory}`, {
    hint: 'stop it first, or give this one another state.directory',
  })
}
