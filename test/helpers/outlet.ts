// The sending half of the daemon in the test's process: real files, check, history, uploader, HTTP client and sandbox,
// and the queue that daemon.ts drives. Only the clock is the test's own (fault-clock.ts). At its end, the outlet checks
// for every test that no secret leaked, no delivery threw, and the sandbox had no bug.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { carryOut, type Deed } from '../../src/app/decisions.ts'
import type { Config, FeedConfig } from '../../src/config/config.ts'
import { feedFor } from '../../src/config/feeds.ts'
import { SendConditions } from '../../src/daemon/send-conditions.ts'
import { SendQueue } from '../../src/daemon/send-queue.ts'
import { Sending } from '../../src/daemon/sending.ts'
import { Conditions } from '../../src/domain/conditions.ts'
import { createFeedChecker } from '../../src/feed/worker-checker.ts'
import type { Attempt, History, Version } from '../../src/history/port.ts'
import { openHistory } from '../../src/history/sqlite-history.ts'
import { Dispositions } from '../../src/inbox/dispositions.ts'
import { MINUTE, SECOND, systemClock } from '../../src/lib/clock.ts'
import { createHttpClient, type HttpClient } from '../../src/lib/http.ts'
import { createLog, type Log } from '../../src/lib/log.ts'
import { AttemptRunner } from '../../src/pipeline/attempt.ts'
import { Comparisons } from '../../src/pipeline/baselines.ts'
import { Departures } from '../../src/pipeline/departures.ts'
import { Ledger } from '../../src/pipeline/ledger.ts'
import { Pipeline } from '../../src/pipeline/pipeline.ts'
import { PostDelivery } from '../../src/pipeline/post-delivery.ts'
import { Receipts } from '../../src/pipeline/receipts.ts'
import type { FaultRule } from '../../src/sandbox/faults/fault-types.ts'
import type { SeenRequest } from '../../src/sandbox/records.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts'
import { createFormSource } from '../../src/service/form-source.ts'
import type { FormSource, UploadForm } from '../../src/service/port.ts'
import { createSpool } from '../../src/spool/spool.ts'
import { SendGate } from '../../src/upload/send-gate.ts'
import { StorageSender } from '../../src/upload/sender.ts'
import { FaultClock } from './fault-clock.ts'
import { feedOf } from './feed.ts'

export const SECRET = 'the/secret+of the outlet=='
/** Fields of a form that are not secrets. */
const OPEN_FIELDS = new Set(['key', 'success_action_status', 'x-store-algorithm', 'x-store-date'])

/** All outlets share the checker, because the start of its thread takes longer than a whole delivery. */
const checker = createFeedChecker()

export interface OutletOptions {
  sandbox?: Partial<SandboxOptions>
  feeds?: FeedConfig[]
  concurrency?: number
  /** Replaces the service address of the sandbox. */
  baseUrl?: string
  /** Changes a form before the uploader gets it, such as its address. */
  form?: (form: UploadForm) => UploadForm
  connectTimeoutMs?: number
  random?: () => number
}

const NO_RECEIPTS = { inbox: { receipts: false } } as Config

export class Outlet implements AsyncDisposable {
  readonly clock: FaultClock
  readonly sandbox: Sandbox
  readonly history: History
  readonly root: string
  readonly conditions: Conditions
  /** The messages of all conditions that were set, in order. */
  readonly reported: string[] = []
  readonly #pipeline: Pipeline
  readonly #sending: Sending
  readonly #forms: FormSource
  readonly #feeds: FeedConfig[]
  readonly #stop = new AbortController()
  readonly #owned: AsyncDisposableStack
  readonly #secrets: Set<string>
  readonly #lines: string[]
  /** Errors that an attempt threw; no attempt may throw. */
  readonly #thrown: unknown[] = []
  #changed = Promise.withResolvers<void>()

  private constructor(
    parts: Pick<Outlet, 'clock' | 'sandbox' | 'root'> & {
      owned: AsyncDisposableStack
      http: HttpClient
      log: Log
      lines: string[]
    },
    { feeds = [], concurrency = 4, baseUrl, form, random }: OutletOptions,
  ) {
    const { clock, sandbox, root, owned, http, log, lines } = parts
    const secrets = new Set([SECRET])
    const keyFile = join(root, 'service.key')
    writeFileSync(keyFile, `${SECRET}\n`)
    const listening: HttpClient = {
      request: (request) => {
        const signature = request.headers['X-SVC-Signature']
        if (signature !== undefined) secrets.add(signature)
        return http.request(request)
      },
      [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
    }
    const real = createFormSource({
      ...{ http: listening, clock, log },
      baseUrl: baseUrl ?? sandbox.url,
      identity: { partner: 'acme', partnerAccount: '42' },
      headerPrefix: 'X-SVC-',
      presignPath: '/v1/presigned-storage-posting-post',
      auth: {
        ...{ method: 'signature', algorithm: 'hmac-sha1', keyFile },
        stringToSign: '{method}{path}?{query};{body};{date}',
      },
    })
    const forms: FormSource = {
      ...real,
      requestForm: async (account, signal) => {
        const answer = await real.requestForm(account, signal)
        if (answer.kind !== 'form') return answer
        for (const [name, value] of answer.form.fields)
          if (!OPEN_FIELDS.has(name)) secrets.add(value)
        return { kind: 'form', form: form?.(answer.form) ?? answer.form }
      },
    }
    // A commit waits a few ms for other writes, in real time and not in the time of the test.
    const patient = { ...clock, sleep: systemClock.sleep }
    const file = join(root, 'state', 'history.db')
    this.history = owned.use(openHistory({ file, clock: patient, log }))
    const gate = new SendGate({
      ...{ clock, serviceOrigin: forms.origin, maxRate: null },
      concurrency,
    })
    const sender = new StorageSender({ http: listening, forms, clock, log, gate })
    const spool = createSpool(join(root, 'state', 'spool'))
    const ledger = new Ledger({ history: this.history, clock, log, onMove: () => {} })
    const inbox = {
      ...{ directory: join(root, 'inbox'), archiveDirectory: 'archive' },
      ...{ quarantineDirectory: 'quarantine', incompleteAfterMs: 15 * MINUTE },
      ...{ include: [], exclude: [], rescanMs: 30 * SECOND, quietPeriodMs: SECOND },
      ...({ afterUpload: 'keep', afterReject: 'keep', receipts: false } as const),
    }
    const config = {
      ...{ inbox, upload: { concurrency, keepVersions: 3, maxRate: null } },
      guards: { maxDropPercent: 50, minPostings: 1, secondFeed: 'pass' },
    }
    const conditions = new Conditions(clock)
    this.conditions = conditions
    const steps = {
      ...{ clock, conditions, log, history: this.history, ledger, spool },
      checkerFor: () => checker,
      ruleFor: (path: string) => feedFor(path, feeds),
      config: config as unknown as Config,
    }
    const leaving = { ...steps, dispositions: new Dispositions({ ...inbox, clock }) }
    const postDelivery = new PostDelivery({
      ...steps,
      departures: new Departures({ ...leaving, inboxConfig: inbox, knownPaths: ledger.known }),
      keepVersions: 3,
      receipts: new Receipts({ ...leaving, rescanMs: inbox.rescanMs }),
    })
    const judging = {
      ...{ history: this.history, limits: steps.config.guards, ownAccount: '42' },
      feedOf: (path: string) => feedFor(path, feeds).feed,
      lastUnderOtherRules: 0,
    }
    const comparisons = new Comparisons({ ...steps, judging })
    const ofBoth = { ...steps, comparisons, postDelivery, observer: null }
    this.#pipeline = new Pipeline({ ...ofBoth, inboxDirectory: inbox.directory })
    const attempts = new AttemptRunner({
      ...{ ...ofBoth, sender },
      onProgress: () => {},
      random: random ?? (() => 0.5),
      reconcile: () => {},
    })
    conditions.onChange(({ kind, condition }) => {
      if (kind === 'set') this.reported.push(condition.message)
    })
    this.#sending = new Sending({
      ...{ attempts, gate, ledger, log, ruleFor: steps.ruleFor },
      sendConditions: new SendConditions({ conditions, gate, reloadKey: () => false }),
      sendQueue: new SendQueue({ clock, gate, history: this.history }),
    })
    this.clock = clock
    this.sandbox = sandbox
    this.root = root
    this.#feeds = feeds
    this.#forms = real
    this.#owned = owned
    this.#secrets = secrets
    this.#lines = lines
    clock.onSleep = () => this.#noteChange()
  }

  static async open(options: OutletOptions = {}): Promise<Outlet> {
    const root = mkdtempSync(join(tmpdir(), 'feedsyncd-outlet-'))
    const owned = new AsyncDisposableStack()
    owned.defer(() => rmSync(root, { recursive: true }))
    const clock = new FaultClock()
    mkdirSync(join(root, 'inbox'))
    const sandbox = owned.use(
      await startSandbox({
        ...{ directory: join(root, 'objects'), basePath: '/api', clock: clock.outside },
        callers: [{ partner: 'acme', secret: SECRET }],
        ...options.sandbox,
      }),
    )
    const { connectTimeoutMs = 10 * SECOND } = options
    const http = owned.use(createHttpClient({ clock, env: {}, connectTimeoutMs }))
    const lines: string[] = []
    const log = await createLog({
      level: 'trace',
      format: 'json',
      destination: { write: (line) => lines.push(line) },
    })
    return new Outlet({ clock, sandbox, root, owned, http, log, lines }, options)
  }

  fault(...rules: FaultRule[]): void {
    for (const rule of rules) this.sandbox.faults.add(rule)
  }

  /** take checks a file of the inbox, which must be accepted, or equal the feed's newest version. */
  async take(path: string, content: string | Buffer = feedOf(3)): Promise<Version> {
    const source = join(this.root, 'inbox', path)
    mkdirSync(join(source, '..'), { recursive: true })
    writeFileSync(source, content)
    const rule = feedFor(path, this.#feeds)
    const file = { path, rule, identity: null, final: false }
    const taken = await this.#pipeline.take(file, this.#stop.signal)
    if (taken.kind !== 'version' && taken.kind !== 'seen')
      throw new Error(`${path} is ${taken.kind}`)
    return taken.version
  }

  /** run delivers the queued versions until none is left or `forMs` of the test's time have passed. */
  async run(forMs = 30 * SECOND): Promise<void> {
    const until = this.clock.monotonic() + forMs
    for (;;) {
      await this.#startUntilAllSleep()
      const { running } = this.#sending
      const waiting = this.history.list({ states: ['queued'], all: true })
      const left = until - this.clock.monotonic()
      if ((running.length === 0 && waiting.length === 0) || left <= 0) return
      this.clock.pass(Math.min(this.clock.msToNext, this.#msToNextLook(waiting), left))
    }
  }

  /**
   * #msToNextLook returns the ms until the next look at the queue. The daemon looks every second; this skips looks at
   * which nothing is due, but keeps one look a minute.
   */
  #msToNextLook(waiting: readonly Version[]): number {
    const now = this.clock.now()
    const due = waiting.map(({ nextAttemptAt }) => (nextAttemptAt ?? now) - now)
    return Math.max(SECOND, Math.min(MINUTE, ...due))
  }

  /** deliver takes a file as `jobs.xml`, runs, and returns the version after that. */
  async deliver(content?: string | Buffer, forMs?: number): Promise<Version> {
    const { id } = await this.take('jobs.xml', content)
    await this.run(forMs)
    return this.version(id)
  }

  /** carryOut does what a person orders, and returns the version after it. */
  carryOut(deed: Deed, id: number): Version {
    return carryOut(
      this.history,
      { deed, id },
      { by: 'maria', now: this.clock.now(), config: NO_RECEIPTS },
    )
  }

  version(id = 1): Version {
    const version = this.history.version(id)
    if (version === null) throw new Error(`there is no version ${id}`)
    return version
  }

  attempts(id = 1): Attempt[] {
    return this.history.attempts(id)
  }

  outcomes(id = 1): Array<Attempt['outcome']> {
    return this.attempts(id).map(({ outcome }) => outcome)
  }

  get serviceState(): string {
    return this.#sending.health().service
  }

  get clockSkewMs(): number | null {
    return this.#forms.clockSkewMs()
  }

  requests(side: SeenRequest['side']): SeenRequest[] {
    return this.sandbox.requests().filter((request) => request.side === side)
  }

  /** writes returns the number of writes of each object, in the order of their first write. */
  writes(): number[] {
    return this.sandbox.objects().map(({ writes }) => writes)
  }

  /** story returns the state and attempts of a version, and the numbers of all requests and writes so far. */
  story(id = 1) {
    return {
      state: this.version(id).state,
      outcomes: this.outcomes(id),
      forms: this.requests('service').length,
      posts: this.requests('storage').length,
      writes: this.writes(),
    }
  }

  /** gaps returns the ms between the requests of a side, by the clock of the sandbox. */
  gaps(side: SeenRequest['side']): number[] {
    const starts = this.requests(side).map(({ startedAt }) => startedAt)
    return starts.slice(1).map((start, n) => start - (starts[n] ?? start))
  }

  get logged(): string {
    return this.#lines.join('')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await Promise.allSettled(this.#sending.running)
    const bugs = this.sandbox.requests().filter(({ code }) => code?.startsWith('sandbox-bug'))
    const leaks = this.#leaks()
    await this.#owned.disposeAsync()
    const thrown = this.#thrown.map(String)
    if (bugs.length + leaks.length + thrown.length > 0)
      throw new Error(`the fault also did this: ${JSON.stringify({ bugs, leaks, thrown })}`)
  }

  #leaks(): string[] {
    const state = join(this.root, 'state')
    const files = readdirSync(state, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), 'latin1')])
    const reported = this.reported.join('\n')
    const places = [['the log', this.logged], ['the conditions', reported], ...files]
    return places
      .filter(([, text]) => [...this.#secrets].some((secret) => text?.includes(secret)))
      .map(([name]) => name ?? '')
  }

  /** #startUntilAllSleep starts what is due, again and again, until every running delivery waits for time to pass. */
  async #startUntilAllSleep(): Promise<void> {
    for (;;) {
      this.#changed = Promise.withResolvers()
      this.#sending.start(this.#stop.signal, {
        ended: (error) => {
          if (error !== undefined) this.#thrown.push(error)
          this.#noteChange()
        },
      })
      if (this.#sending.running.length === this.clock.sleeping) return
      await this.#changed.promise
      // A delivery reports its end just before it leaves `running`.
      await setImmediate()
    }
  }

  #noteChange(): void {
    this.#changed.resolve()
  }
}

/** largeFeed returns a feed of at least this many bytes. It has few but long postings, which are quick to check. */
export function largeFeed(bytes: number): string {
  return feedOf(16, 'a nurse for the night '.repeat(Math.ceil(bytes / 16 / 22)))
}
