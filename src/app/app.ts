// Builds everything that delivers feeds: the state directory, the network, the folder, the steps of a feed
// (build-pipeline.ts), the daemon (build-daemon.ts), and what people see of them. No other file builds these adapters.

import { hostname } from 'node:os'
import { join } from 'node:path'
import { campaignScheduleOf } from '../campaigns/reconcile.ts'
import { type Config, historyFile } from '../config/config.ts'
import type { Daemon } from '../daemon/daemon.ts'
import { followRules } from '../daemon/follow-rules.ts'
import { recover } from '../daemon/recovery.ts'
import { laneOf } from '../daemon/take-queue.ts'
import { WaitClock } from '../daemon/wait-clock.ts'
import { CheckingLanes } from '../feed/checking-lanes.ts'
import { acquireLock } from '../history/instance-lock.ts'
import type { History, Version } from '../history/port.ts'
import { openHistory } from '../history/sqlite-history.ts'
import { Inbox } from '../inbox/folder.ts'
import type { Clock } from '../lib/clock.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { createHttpClient } from '../lib/http.ts'
import { createLog, type LogOptions } from '../lib/log.ts'
import { becomeOwnerOf } from '../lib/user.ts'
import { VERSION } from '../lib/version.ts'
import { AlertDesk } from '../ops/alerts/desk.ts'
import { alertSender } from '../ops/alerts/senders.ts'
import { DaemonFile } from '../ops/daemon-file.ts'
import type { CommandLine, DaemonState } from '../ops/port.ts'
import type { Problem } from '../ops/problem.ts'
import { createNotifier } from '../ops/systemd/notifier.ts'
import { Supervisor } from '../ops/systemd/supervisor.ts'
import type { Endpoint } from '../ops/web/endpoint.ts'
import type { AttemptRunner } from '../pipeline/attempt.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import { createFormSource } from '../service/form-source.ts'
import { KeyReloader } from '../service/key-file.ts'
import { createSpool } from '../spool/spool.ts'
import { SendGate } from '../upload/send-gate.ts'
import { StorageSender } from '../upload/sender.ts'
import { buildDaemon } from './build-daemon.ts'
import { buildPipeline } from './build-pipeline.ts'
import { watchHost } from './checks.ts'
import { createConditions, watchConditions } from './condition-watch.ts'
import { pageSource } from './page-source.ts'
import { judgingOf, rulesOf } from './rules.ts'
import { RunningUploads } from './running-uploads.ts'
import { problemsOf, statusLine } from './status.ts'
import { reportWatchdogRestart } from './watchdog.ts'

interface AppOptions {
  clock: Clock
  env: NodeJS.ProcessEnv
  /** True if the process writes the daemon's file, which commands read. */
  isDaemon?: boolean
  /** Builds the commands that the page and alerts show. */
  commandLine?: CommandLine
  /** Takes the lines of the log; the default is stdout. */
  log?: LogOptions['destination']
  /** The file that `log` writes to, which `feedsyncd logs` reads; null if the journal has the log. */
  logFile?: string | null
  /** The command that starts this daemon again; null means its unit, or `feedsyncd run`. */
  startWith?: string | null
  /** Prints at the terminal what happened and what to do. */
  notifyOperator: (message: string, hint: string | null) => void
  /** Called with the version after each change of its state. */
  onMove?: (version: Version) => void
}

/** App is a daemon in the process of a command. */
export interface App extends AsyncDisposable {
  attempts: AttemptRunner
  daemon: Daemon
  /** daemonState returns what the daemon's file contains now, or would contain if this process wrote it. */
  daemonState: () => { running: true; state: DaemonState }
  history: History
  pipeline: Pipeline
  /** problems returns what is wrong now, the worst first, as `status` would show it. */
  problems: () => Problem[]
  uploads: RunningUploads
  /** serve opens `http.listen` if it is set. Throws `FeedsyncError` if the address cannot be used. */
  serve: () => Promise<Endpoint | null>
}

export type { Attempted } from '../pipeline/attempt.ts'

/** Longest wait in ms for a lock of the database. The daemon does nothing else meanwhile; commands hold it for less. */
const BUSY_MS = 20

/**
 * openApp builds everything that delivers feeds. For that it becomes the owner of the state directory if it is root,
 * takes the lock of the directory, recovers unfinished work and applies changed rules of feeds. It throws
 * `FeedsyncError` if another process holds the lock, the key cannot be read or the state cannot be written.
 */
export async function openApp(config: Config, options: AppOptions): Promise<App> {
  await using owned = new AsyncDisposableStack()
  const { clock, env, isDaemon = false, log: destination, notifyOperator, onMove } = options
  const { commandLine = (command) => `feedsyncd ${command}` } = options
  const { logFile = null, startWith = null } = options
  const { directory: stateDirectory } = config.state
  const ruleFor = rulesOf(config)

  const log = await createLog({ ...config.log, destination })
  const http = owned.use(createHttpClient({ clock, env }))
  const forms = createFormSource({ http, clock, log, ...config.service })
  // createFormSource has read the key, which the owner of the state directory might be unable to read.
  becomeOwnerOf(stateDirectory)
  owned.use(takeLock(stateDirectory))
  const uploads = new RunningUploads(clock)
  const conditions = createConditions({ clock, log, notifyOperator })
  const { pid } = process
  const daemonFile = new DaemonFile({
    env,
    pid,
    stateDirectory,
    writesFile: isDaemon,
    logFile,
    startWith,
    startedAt: clock.now(),
  })
  const daemonState = () => ({ running: true as const, state: daemonFile.current })
  conditions.onChange(() => daemonFile.update({ conditions: conditions.current() }))
  uploads.onChange(() => daemonFile.update({ uploads: uploads.current() }))
  if (isDaemon) reportWatchdogRestart({ clock, commandLine, env }, conditions)
  const metrics = config.http.listen === null ? null : await openMetrics(clock.now())
  const file = historyFile(config)
  const history = owned.use(
    openHistory({
      file,
      log,
      clock,
      busyTimeoutMs: BUSY_MS,
      isExpected: config.state.expectHistory,
    }),
  )
  const spool = createSpool(join(stateDirectory, 'spool'))

  const gate = new SendGate({
    clock,
    serviceOrigin: forms.origin,
    maxRate: config.upload.maxRate,
    concurrency: config.upload.concurrency,
  })
  const sender = new StorageSender({ http, forms, clock, log, gate })

  const lanes = owned.use(new CheckingLanes({ clock }))
  const checkerFor = (bytes: number | null) => lanes.readerFor(laneOf(bytes))
  const inbox = owned.use(new Inbox({ ...config.inbox, clock, conditions, log }))

  const campaigns = campaignScheduleOf(config, { clock, env, log, notifyOperator, history })
  const problemsNow = () => {
    const snapshot = daemonState()
    return problemsOf(history, { clock, commandLine, config, snapshot }, campaigns.last)
  }
  const alerts = new AlertDesk({
    clock,
    conditions,
    log,
    history,
    targets: config.alerts,
    origin: { commandLine, host: hostname(), page: pageOf(config) },
    facts: {
      problems: problemsNow,
      service: () => daemonFile.current.service,
      trusted: () => gate.accounts.isTrusted,
    },
    send: alertSender({ clock, env, http }),
  })

  const judging = judgingOf(config, history)
  const story = buildPipeline({
    checkerFor,
    clock,
    conditions,
    config,
    history,
    judging,
    log,
    observer: metrics,
    onMove: (version) => {
      onMove?.(version)
      uploads.moved(version)
      alerts.moved()
      metrics?.moved(version.state)
    },
    onProgress: (id, sent, total) => uploads.sent(id, sent, total),
    reconcile: () => campaigns.uploaded(),
    ruleFor,
    sender,
    spool,
  })

  const watched = { alerts, clock, conditions, hungReads: () => lanes.hung(), stateDirectory }
  const supervisor = new Supervisor({
    clock,
    env,
    pid,
    notify: createNotifier({ env, log, pid }),
    status: () => {
      const { service } = daemonFile.current
      return statusLine(history, problemsNow, { now: clock.now(), service })
    },
  })
  const waits = new WaitClock({ clock, history })
  const keyReloader = new KeyReloader(forms, config.service.auth.keyFile)
  const daemon = buildDaemon({
    alerts,
    campaigns,
    checkerFor,
    clock,
    clockSkewMs: forms.clockSkewMs,
    conditions,
    config,
    daemonFile,
    gate,
    history,
    inbox,
    log,
    notifyOperator,
    reloadKey: () => keyReloader.reloadIfChanged(),
    ruleFor,
    spool,
    story,
    supervisor,
    waits,
    watch: ({ abort, once }) => {
      using watches = new DisposableStack()
      watches.use(watchConditions(watched, abort))
      if (!once) watches.use(watchHost(config, { clock, daemonFile, env, http }))
      return watches.move()
    },
  })
  conditions.onChange(() => {
    alerts.moved()
    supervisor.changed()
  })
  waits.start()
  const { ledger, postDelivery } = story
  const inboxDirectory = config.inbox.directory
  const { feeds, service } = config
  await recover({ clock, history, inboxDirectory, ledger, log, postDelivery, spool }, service)
  await followRules({ feeds, history, judging, ledger, log, ruleFor })

  const disposal = owned.move()
  return {
    attempts: story.attempts,
    daemon,
    daemonState,
    history,
    pipeline: story.pipeline,
    problems: problemsNow,
    uploads,
    serve: async () => {
      const { listen } = config.http
      if (listen === null || metrics === null) return null
      const { openEndpoint } = await import('../ops/web/endpoint.ts')
      const source = pageSource({
        campaigns,
        clock,
        commandLine,
        config,
        daemon,
        daemonFile,
        history,
        metricsText: metrics.text,
        problems: problemsNow,
      })
      return openEndpoint({ listen, source, clock, log })
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  }
}

/** pageOf returns the address of the status page; null without a page, at a UNIX socket, or at a port chosen later. */
function pageOf({ http: { listen } }: Config): string | null {
  return listen?.kind === 'tcp' && listen.port !== 0
    ? `http://${listen.host}:${listen.port}/`
    : null
}

/** openMetrics loads the metrics library, which stays out of memory if `http.listen` is not set. */
async function openMetrics(startedAt: number) {
  const { createMetrics } = await import('../ops/metrics/metrics.ts')
  return createMetrics({ version: VERSION, startedAt })
}

/** takeLock locks the state directory until the lock is disposed. Throws `FeedsyncError` (75) if a process holds it. */
function takeLock(directory: string): Disposable {
  const lock = acquireLock(directory)
  if (lock !== null) return lock
  throw new FeedsyncError(`another feedsyncd runs with the state directory ${directory}`, {
    hint: 'wait until it ends or stop it, or give this one another state.directory',
    exitCode: EXIT.temporary,
  })
}
