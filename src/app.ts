// The composition root: the only place that builds adapters and knows which parts a command needs.
// What the parts do with each other is daemon.ts and pipeline.ts.

import { statSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import { Aftercare } from './aftercare.ts'
import type { Config } from './config/config.ts'
import { feedFor } from './config/feeds.ts'
import { Daemon } from './daemon.ts'
import { Deliveries } from './deliveries.ts'
import { type FileReport, fileReport } from './feed/file-report.ts'
import { createFeedChecker } from './feed/worker-checker.ts'
import { type Decided, type Decision, decide, restore } from './history/decisions.ts'
import { type Explanation, explain } from './history/explain.ts'
import { acquireLock, isLocked } from './history/instance-lock.ts'
import { Ledger } from './history/ledger.ts'
import type { History, ListFilter, UploadRequest, Version } from './history/port.ts'
import { type ShowReport, type StatusReport, showReport, statusReport } from './history/report.ts'
import { openHistory, openHistoryReader } from './history/sqlite-history.ts'
import { createDispositions } from './inbox/dispositions.ts'
import { createInbox } from './inbox/folder.ts'
import { Settler } from './inbox/settling.ts'
import { createSpool } from './inbox/spool.ts'
import { Intake } from './intake.ts'
import type { Clock } from './lib/clock.ts'
import { FeedsyncError } from './lib/errors.ts'
import { createHttpClient } from './lib/http.ts'
import { createLog, type Log, silentLog } from './lib/log.ts'
import { VERSION } from './lib/version.ts'
import { Pipeline } from './pipeline.ts'
import { createFormSource } from './service/form-source.ts'
import type { FormSource } from './service/port.ts'
import type { Failure } from './upload/port.ts'
import { createUploader } from './upload/uploader.ts'

export interface AppOptions {
  clock: Clock
  env: Record<string, string | undefined>
  /** Says to a person what hinders the daemon as a whole: what, and what to do. */
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
  /** Why the credentials were refused, if they were. */
  refusal(): Failure | null
}

export const historyFile = (config: Config) => join(config.state.directory, 'feedsyncd.db')
export const spoolDirectory = (config: Config) => join(config.state.directory, 'spool')

/**
 * Builds everything that delivers, under the lock of the state directory. Throws `FeedsyncError` when
 * another process holds it, the key cannot be read, or the state cannot be written.
 */
export async function openApp(config: Config, options: AppOptions): Promise<App> {
  const { clock, env, tell, onMove = () => {}, onProgress = () => {} } = options
  await using parts = new AsyncDisposableStack()
  const log = createLog(config.log)
  parts.use(lockOf(config))
  const history = parts.use(openHistory({ file: historyFile(config), log, clock }))
  const http = parts.use(createHttpClient({ clock, env, userAgent: `feedsyncd/${VERSION}` }))
  const forms = createFormSource({ http, clock, log, ...serviceOptions(config) })
  const uploader = parts.use(
    createUploader({ http, forms, clock, log, options: { maxRate: config.upload.maxRate } }),
  )
  const inbox = parts.use(createInbox({ ...config.inbox, clock, log }))
  const checker = parts.use(createFeedChecker())
  const spool = createSpool({ directory: spoolDirectory(config) })
  const settler = new Settler(config.inbox.quietPeriodMs)
  const ledger = new Ledger(history, clock, log, onMove)
  const ruleFor = (path: string) => feedFor(path, config.feeds)

  const aftercare = new Aftercare({
    ...{ clock, log, history, ledger, spool },
    dispositions: createDispositions({ ...config.inbox, clock }),
    settings: { ...config.inbox, keepVersions: config.upload.keepVersions },
  })
  const pipeline = new Pipeline({
    ...{ clock, log, history, ledger, checker, spool, uploader, aftercare, ruleFor, onProgress },
    guards: config.guards,
    incompleteAfterMs: config.inbox.incompleteAfterMs,
  })
  const deliveries = new Deliveries({
    ...{ clock, tell, log, history, pipeline, uploader },
    reloadKey: keyReloader(forms, config.service.auth.keyFile),
    clockSkewMs: () => forms.clockSkewMs(),
    concurrency: config.upload.concurrency,
  })
  const { rescanMs, quietPeriodMs } = config.inbox
  const intake = new Intake({
    ...{ clock, log, tell, history, inbox, settler, pipeline, aftercare, ruleFor, rescanMs },
  })
  const daemon = new Daemon({
    ...{ clock, log, tell, history, inbox, settler, intake, deliveries, quietPeriodMs },
  })

  await resume(history, spool, clock, log)
  const disposal = parts.move()
  return {
    ...{ daemon, history, pipeline, log },
    refusal: () => deliveries.refusal,
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  }
}

/** What a crash left: attempts end as unknown, and bytes that no version names are removed. */
async function resume(
  history: History,
  spool: ReturnType<typeof createSpool>,
  clock: Clock,
  log: Log,
) {
  const recovered = history.recover(clock.now())
  const kept = new Set(history.spoolNames())
  const orphans = await spool.sweep(kept)
  if (recovered.checking + recovered.uploading + orphans > 0) {
    log.info({ ...recovered, orphans }, 'resumed after a crash')
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

function serviceOptions({ service }: Config) {
  const who = service.identity
  if (who.kind === 'account') return { ...service, identity: { account: who.account } }
  const { partner, partnerAccount } = who
  return { ...service, identity: { partner, ...(partnerAccount !== null && { partnerAccount }) } }
}

/** Reads the key again when its file changed, and says whether it did. */
function keyReloader(forms: FormSource, keyFile: string): () => boolean {
  const stamp = () => {
    const stats = statSync(keyFile, { bigint: true, throwIfNoEntry: false })
    return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.ctimeNs}`
  }
  let known = stamp()
  return () => {
    const now = stamp()
    if (now === known || now === '') return false
    known = now
    forms.reloadKey()
    return true
  }
}

/** Reads the history without changing it, with or without a daemon. */
export interface StatusSource extends Disposable {
  report(filter: ListFilter): StatusReport
  show(id: number): ShowReport | null
  explain(path: string): Promise<Explanation>
}

export function openStatus(config: Config, clock: Clock): StatusSource {
  const reader = openHistoryReader({ file: historyFile(config) })
  const running = isLocked(config.state.directory)
  return {
    report: (filter) => statusReport(reader, running, config.service.baseUrl, filter),
    show: (id) => (reader === null ? null : showReport(reader, id)),
    explain: async (path) => {
      await using inbox = createInbox({ ...config.inbox, clock, log: silentLog })
      const looks = await inbox.look([path])
      return explain({
        path,
        feed: feedFor(path, config.feeds).feed,
        ignored: inbox.ignored(path),
        look: looks.get(path) ?? null,
        history: reader,
        running,
      })
    },
    [Symbol.dispose]: () => reader?.[Symbol.dispose](),
  }
}

/** Writes a person's decisions, beside a running daemon or without one. */
export interface Decisions extends Disposable {
  readonly daemonRuns: boolean
  decide(id: number, decision: Decision): Decided
  restore(id: number): Decided
  /** Hands a file to the running daemon; answers the number of the request. */
  request(file: { path: string; source: string; feed: string | null }): number
  answer(request: number): UploadRequest | null
  version(id: number): Version | null
}

export function openDecisions(config: Config, clock: Clock): Decisions {
  const history = openHistory({ file: historyFile(config), clock })
  return {
    daemonRuns: isLocked(config.state.directory),
    decide: (id, decision) => decide(history, id, decision, clock.now()),
    restore: (id) => restore(history, id, clock.now()),
    request: (file) => history.addRequest({ ...file, at: clock.now() }).id,
    answer: (id) => history.request(id),
    version: (id) => history.version(id),
    [Symbol.dispose]: () => history[Symbol.dispose](),
  }
}

/** Checks files offline, one after the other. `config` null: records and fields are detected. */
export async function* checkFiles(
  files: readonly { source: string; shown: string }[],
  config: Config | null,
): AsyncGenerator<FileReport> {
  await using checker = createFeedChecker()
  for (const { source, shown } of files) {
    const path = config === null ? shown : pathInInbox(config, source)
    const { mapping } = feedFor(path, config?.feeds ?? [])
    const result = await checker.check({ source, expected: null, copyTo: null, mapping })
    yield fileReport(shown, result)
  }
}

/** How the history calls a file: relative to the inbox, or absolute when it lies elsewhere. */
export function pathInInbox(config: Config, source: string): string {
  const inside = relative(config.inbox.directory, source)
  return inside.startsWith('..') || isAbsolute(inside) ? source : inside.split(sep).join('/')
}
