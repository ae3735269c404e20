// Builds the daemon from top to bottom: the state directory, the network, the folder, the way of a feed through them,
// and what people see of it. No other file builds its adapters.

import { hostname } from 'node:os'
import { join } from 'node:path'
import { campaignScheduleOf } from '../campaigns/reconcile.ts'
import type { Config } from '../config/config.ts'
import { historyFile } from '../config/config.ts'
import { Daemon } from '../daemon/daemon.ts'
import { Intake, laneOf } from '../daemon/intake.ts'
import { recover } from '../daemon/recovery.ts'
import { Sending } from '../daemon/sending.ts'
import { createUpkeep } from '../daemon/upkeep.ts'
import { WaitClock } from '../daemon/wait-clock.ts'
import { createFeedChecker } from '../feed/worker-checker.ts'
import { acquireLock } from '../history/instance-lock.ts'
import type { Version } from '../history/port.ts'
import { openHistory } from '../history/sqlite-history.ts'
import { Dispositions } from '../inbox/dispositions.ts'
import { Inbox } from '../inbox/folder.ts'
import { Settler } from '../inbox/settling.ts'
import { SkippedPaths } from '../inbox/skipped-paths.ts'
import type { Clock } from '../lib/clock.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { createHttpClient } from '../lib/http.ts'
import { createLog, type LogOptions } from '../lib/log.ts'
import { becomeOwnerOf } from '../lib/user.ts'
import { VERSION } from '../lib/version.ts'
import { AlertDesk } from '../ops/alerts/desk.ts'
import { alertSender } from '../ops/alerts/senders.ts'
import { DaemonFile } from '../ops/daemon-file.ts'
import type { CommandLine, MetricsSource } from '../ops/port.ts'
import { createNotifier } from '../ops/systemd/notifier.ts'
import { createSupervisor } from '../ops/systemd/supervisor.ts'
import type { Endpoint } from '../ops/web/endpoint.ts'
import type { EndpointSource } from '../ops/web/source.ts'
import { type Attempted, AttemptRunner } from '../pipeline/attempt.ts'
import { Comparisons } from '../pipeline/baselines.ts'
import { Ledger } from '../pipeline/ledger.ts'
import { Pipeline } from '../pipeline/pipeline.ts'
import { PostDelivery } from '../pipeline/post-delivery.ts'
import { markReceiptsPending } from '../pipeline/receipts.ts'
import { createFormSource } from '../service/form-source.ts'
import { keyReloader } from '../service/key-file.ts'
import { createSpool } from '../spool/spool.ts'
import { SendGate } from '../upload/send-gate.ts'
import { StorageSender } from '../upload/sender.ts'
import { watchHost } from './checks.ts'
import { conditionsOf, watchConditions } from './conditions.ts'
import { judgingOf, rulesOf } from './rules.ts'
import { RunningUploads } from './running-uploads.ts'
import { problemsOf, statusLine, statusOf, versionOf } from './status.ts'
import { noteWatchdogRestart } from './watchdog.ts'

export interface AppOptions {
  clock: Clock
  env: NodeJS.ProcessEnv
  /** True if the process writes the daemon's file, which commands read. */
  isDaemon?: boolean
  /** Builds the commands that the page and alerts show. */
  commandLine?: CommandLine
  /** Takes the lines of the log; the default is stdout. */
  log?: LogOptions['destination']
  /** The file that `log` writes to, which `feedsyncd logs` reads; null: the journal has the log. */
  logFile?: string | null
  /** The command that starts this daemon again; null: its unit, or `feedsyncd run`. */
  startWith?: string | null
  /** Prints at the terminal what happened and what to do. */
  notifyOperator: (message: string, hint: string | null) => void
  /** Called with the version after each change of its state. */
  onMove?: (version: Version) => void
}

export type App = Awaited<ReturnType<typeof openApp>>
export type { Attempted }

/** Longest wait for a lock of the database. A command holds it for less, and the daemon does nothing else meanwhile. */
const BUSY_MS = 20
/** Largest number of events and attempts on the page of a version. */
const MOST_EVENTS = 200

/**
 * openApp takes the lock of the state directory and builds all that delivers. It throws `FeedsyncError` if another
 * process holds the lock, the key cannot be read or the state cannot be written.
 */
export async function openApp(config: Config, options: AppOptions) {
  await using owned = new AsyncDisposableStack()
  const { clock, env, isDaemon = false, log: destination, notifyOperator, onMove } = options
  const { commandLine = (command) => `feedsyncd ${command}` } = options
  const { logFile = null, startWith = null } = options
  const { directory: stateDirectory } = config.state
  const ruleFor = rulesOf(config)

  const log = await createLog({ ...config.log, destination })
  const http = owned.use(createHttpClient({ clock, env }))
  const forms = createFormSource({ http, clock, log, ...config.service })
  becomeOwnerOf(stateDirectory)
  owned.use(lockOf(stateDirectory))
  const uploads = new RunningUploads(clock)
  const conditions = conditionsOf({ clock, log, notifyOperator })
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
  const daemonState = () => ({ running: true, state: daemonFile.current })
  conditions.onChange(() => daemonFile.update({ conditions: conditions.current() }))
  uploads.onChange(() => daemonFile.update({ uploads: uploads.current() }))
  if (isDaemon) noteWatchdogRestart({ clock, commandLine, env }, conditions)
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

  // Small files and large files have a thread each.
  const lanes = {
    small: owned.use(createFeedChecker({ clock })),
    large: owned.use(createFeedChecker({ clock })),
  }
  const checkerFor = (bytes: number | null) => lanes[laneOf(bytes)]
  const inbox = owned.use(new Inbox({ ...config.inbox, clock, conditions, log }))
  const settler = new Settler(config.inbox.quietPeriodMs)
  const skipped = new SkippedPaths({
    clock,
    log,
    onChange: (all) => daemonFile.update({ skipped: all }),
  })
  const dispositions = new Dispositions({ ...config.inbox, clock })

  const campaigns = campaignScheduleOf(config, { clock, env, log, notifyOperator, history })
  /** found returns what is wrong now, the worst first, as `status` would show it. */
  const found = () => {
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
      problems: found,
      service: () => daemonFile.current.service,
      trusted: () => gate.accounts.isTrusted,
    },
    send: alertSender({ clock, env, http }),
  })

  const ledger = new Ledger({
    clock,
    history,
    log,
    onMove: (version) => {
      onMove?.(version)
      uploads.moved(version)
      alerts.moved()
      metrics?.moved(version.state)
    },
    ...(config.inbox.receipts && {
      inSameTransaction: (version, path) => markReceiptsPending({ config, history }, version, path),
    }),
  })
  const parts = { checkerFor, clock, conditions, config, history, ledger, log, ruleFor, spool }
  const postDelivery = new PostDelivery({ ...parts, dispositions })
  const judging = judgingOf(config, history)
  const comparisons = new Comparisons({ ...parts, judging })
  const pipeline = new Pipeline({ ...parts, comparisons, judging, postDelivery, observer: metrics })
  const attempts = new AttemptRunner({
    ...{ clock, comparisons, history, judging, ledger, log, postDelivery, sender, spool },
    observer: metrics,
    onProgress: (id, sent, total) => uploads.sent(id, sent, total),
    random: Math.random,
    reconcile: () => campaigns.uploaded(),
  })
  const sending = new Sending({
    ...{ attempts, clock, conditions, gate, history, ledger, log, ruleFor },
    reloadKey: keyReloader(forms, config.service.auth.keyFile),
  })
  const intake = new Intake({
    ...parts,
    daemonFile,
    inbox,
    notifyOperator,
    pipeline,
    postDelivery,
    settler,
    skipped,
  })

  const hungReads = () => [...lanes.small.hung(), ...lanes.large.hung()]
  const watched = { clock, stateDirectory, hungReads }
  const supervisor = createSupervisor({
    clock,
    env,
    pid,
    notify: createNotifier({ env, log, pid }),
    status: () => {
      const { service } = daemonFile.current
      return statusLine(history, found, { now: clock.now(), service })
    },
  })
  const waits = new WaitClock({ clock, history })
  const daemon = new Daemon({
    ...parts,
    alerts,
    campaigns,
    daemonFile,
    inbox,
    intake,
    waits,
    postDelivery,
    sending,
    supervisor,
    upkeep: createUpkeep({ ...parts, clockSkewMs: forms.clockSkewMs }),
    clockSkewMs: forms.clockSkewMs,
    watch: ({ abort, once }) => {
      using watches = new DisposableStack()
      watches.use(watchConditions(watched, conditions, alerts, abort))
      if (!once) watches.use(watchHost(config, { clock, daemonFile, env, http }))
      return watches.move()
    },
  })
  conditions.onChange(() => {
    alerts.moved()
    supervisor.changed()
  })
  waits.start()
  await recover({ ...parts, judging, postDelivery }, config)

  /** sourceOf returns what the page and Prometheus read. */
  const sourceOf = (text: (of: MetricsSource) => Promise<string>): EndpointSource => {
    const shared = { history, daemon: () => daemonFile.current }
    const scraped = { ...shared, clock, campaigns: () => campaigns.last, problems: found }
    const surroundings = () => ({ clock, commandLine, config, snapshot: daemonState() })
    return {
      ...shared,
      pulse: () => daemon.pulse(),
      host: hostname(),
      inbox: config.inbox.directory,
      commandLine,
      problems: found,
      status: () => statusOf(history, surroundings()),
      versions: (feed, limit) =>
        statusOf(history, surroundings(), { feed, limit, all: true }).uploads,
      version: (id) => versionOf(history, surroundings(), { id, most: MOST_EVENTS }),
      metrics: () => text(scraped),
    }
  }

  const disposal = owned.move()
  return {
    attempts,
    daemon,
    history,
    pipeline,
    log,
    daemonState,
    uploads,
    problems: found,
    /** Opens `http.listen` if it is set. Throws `FeedsyncError` if the address cannot be used. */
    serve: async (): Promise<Endpoint | null> => {
      const { listen } = config.http
      if (listen === null || metrics === null) return null
      const { openEndpoint } = await import('../ops/web/endpoint.ts')
      return openEndpoint({ listen, source: sourceOf(metrics.text), clock, log })
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  }
}

/** pageOf returns the address of the status page; null if there is none, or nobody knows it before it is open. */
function pageOf({ http: { listen } }: Config): string | null {
  return listen?.kind === 'tcp' && listen.port !== 0
    ? `http://${listen.host}:${listen.port}/`
    : null
}

/** openMetrics loads the metrics library. Without `http.listen` nobody can read metrics, so it stays out of memory. */
async function openMetrics(startedAt: number) {
  const { createMetrics } = await import('../ops/metrics/metrics.ts')
  return createMetrics({ version: VERSION, startedAt })
}

function lockOf(directory: string): Disposable {
  const lock = acquireLock(directory)
  if (lock !== null) return lock
  throw new FeedsyncError(`another feedsyncd runs with the state directory ${directory}`, {
    hint: 'wait until it ends or stop it, or give this one another state.directory',
    exitCode: EXIT.temporary,
  })
}
