// The way out: accepted versions are delivered as they fall due, one of a feed at a time, up to the
// limit. The queue is the history itself, so that a decision of another process or a restart needs
// nothing else. What the service refuses waits in account-holds.ts.

import type { Settings } from '../config/config.ts'
import { takeRetried } from '../history/decisions.ts'
import type { DaemonRecord, History, Version } from '../history/port.ts'
import { type Clock, MINUTE } from '../lib/clock.ts'
import type { ConditionCode, Conditions } from '../lib/conditions.ts'
import { isDue, LONGEST_ATTEMPT_WAIT_MS } from '../lib/due.ts'
import { FeedsyncError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import type { Failure, Uploader } from '../upload/port.ts'
import { Refusals } from './account-holds.ts'

export interface DeliveriesParts {
  clock: Clock
  log: Log
  conditions: Conditions
  history: History
  pipeline: Pipeline
  uploader: Uploader
  /** Reads the service key again; true when it is another one than before. */
  reloadKey: () => boolean
  clockSkewMs: () => number | null
  /** Accounts that the service gave a form for, and when (monotonic ms). */
  accepted: () => ReadonlyMap<string | null, number>
  settings: Settings<'upload'>
}

interface Running {
  account: string | null
  /** Its file is not stored yet: it takes a place of the limit. */
  isSending: boolean
  done: Promise<void>
}

/** What is told of deliveries while they go on. */
export interface DeliveryNews {
  /** After each, with the error that it met. */
  ended: (error?: unknown) => void
  /**
   * One is stored and its record is about to be written: what starts now shares that commit, and the
   * line is not idle while the disk works. Must not throw.
   */
  freed?: () => void
}

export class Deliveries {
  readonly #parts: DeliveriesParts
  #foreignChanges: number | null = null
  /** Versions whose copies cannot be read, until they are tried again. */
  readonly #unreadable = new Map<number, ConditionCode>()
  /** What a person has retried, until it is started. */
  #retried: number[] = []
  /** The next answer is to be logged: a person asked for it. */
  #isAsked = false
  /** By feed. */
  readonly #running = new Map<string, Running>()
  readonly #refusals: Refusals

  constructor(parts: DeliveriesParts) {
    this.#parts = parts
    this.#refusals = new Refusals(parts.clock, parts.history, parts.accepted)
  }

  get running(): readonly Promise<void>[] {
    return [...this.#running.values()].map(({ done }) => done)
  }

  /** Why feeds wait for the service to accept them; `mark` changes with whom that concerns. */
  get refusal(): (Failure & { mark: string }) | null {
    const { first, mark } = this.#refusals
    return first && { ...first, mark }
  }

  /** Whether the credentials were last seen to work: that they are tried again proves nothing. */
  get isTrusted(): boolean {
    return this.#refusals.isTrusted
  }

  /** Starts what is due and fits. */
  start(signal: AbortSignal, news: DeliveryNews): void {
    const { clock, history, uploader } = this.#parts
    this.#refusals.look()
    this.#showRefusal()
    if (this.#places === 0) return
    if (this.#refusals.first !== null && this.#hasNewKey()) this.#refusals.newKey()
    // An endpoint that is down gets one probe: the other versions stay as they are.
    let openings = uploader.openings()
    if (openings === 0) return
    // Thousands may wait after an outage: no more of them are read than could be started.
    const due = () => {
      const first = this.#retriedNow()
      const others = history.due(clock.now(), this.#places, this.#running)
      return [...first, ...others.filter(({ id }) => !this.#retried.includes(id))]
    }
    for (let found = due(); found.length > 0; found = due()) {
      const sendable = this.#refusals.pass(found)
      for (const version of sendable) {
        if (this.#places === 0 || openings === 0) return
        if (!this.#mayStart(version)) continue
        openings -= 1
        this.#run(version, signal, news)
      }
      if (sendable.length === found.length) return
    }
  }

  /** Does at once what other processes asked for (`retry`), also while the service counts as down. */
  takeRequests(): void {
    const { history, uploader } = this.#parts
    const changes = history.foreignChanges()
    if (changes === this.#foreignChanges) return
    this.#foreignChanges = changes
    const retried = takeRetried(history)
    if (retried.length === 0) return
    this.#retried.push(...retried)
    this.#isAsked = true
    uploader.probeNow()
  }

  /** They go first: the one probe is for what a person waits for. */
  #retriedNow(): Version[] {
    const { clock, history } = this.#parts
    const versions = this.#retried.flatMap((id) => history.version(id) ?? [])
    const due = versions.filter(
      ({ nextAttemptAt, state }) =>
        state === 'queued' && isDue(nextAttemptAt, clock.now(), LONGEST_ATTEMPT_WAIT_MS),
    )
    this.#retried = due.map(({ id }) => id)
    return due
  }

  /** How many may start. Records that cannot be written hold up the line in the end: what is stored must be known to be. */
  get #places(): number {
    const { concurrency } = this.#parts.settings.current.upload
    const all = this.#running.size
    const sending = this.#running.values().reduce((n, { isSending }) => n + Number(isSending), 0)
    return Math.max(0, Math.min(concurrency - sending, 2 * concurrency - all))
  }

  #mayStart({ feed, account }: Version): boolean {
    if (this.#running.has(feed)) return false
    if (this.#refusals.isDoubted && this.#running.size > 0) return false
    const isTried = [...this.#running.values()].some((running) => running.account === account)
    return !(isTried && this.#refusals.doubts(account))
  }

  #run(version: Version, signal: AbortSignal, { ended, freed }: DeliveryNews): void {
    const { feed, account } = version
    const running: Running = { account, isSending: true, done: Promise.resolve() }
    this.#running.set(feed, running)
    const stored = () => {
      running.isSending = false
      freed?.()
    }
    running.done = this.#deliver(version, signal, stored)
      .then(() => ended(), ended)
      .finally(() => {
        this.#running.delete(feed)
        this.#logAnswer()
      })
  }

  #logAnswer(): void {
    if (!this.#isAsked) return
    this.#isAsked = false
    const { state: service, reason } = this.#parts.uploader.health()
    this.#parts.log.info({ service, reason }, 'asked the service again')
  }

  /** Tries all that waits again now (SIGHUP): refused credentials, and a service that counts as down. */
  resume(): void {
    const { history, uploader } = this.#parts
    if (this.#hasNewKey()) this.#refusals.newKey()
    this.#refusals.tryAgain()
    history.makeDue()
    uploader.probeNow()
    this.#isAsked = true
  }

  /** True when something is due that could be started. */
  get due(): boolean {
    const { clock, history, uploader } = this.#parts
    return uploader.openings() > 0 && history.due(clock.now(), 1).length > 0
  }

  /** What `status` tells of the service. */
  health(): Pick<DaemonRecord, 'service' | 'serviceReason' | 'clockSkewMs'> {
    const { clockSkewMs, uploader } = this.#parts
    const { state, reason } = uploader.health()
    const { first, isOfKey } = this.#refusals
    const refused = isOfKey ? 'credentials' : 'degraded'
    return {
      service: first === null || state === 'down' ? state : refused,
      serviceReason: state === 'down' ? reason : (first?.reason ?? reason),
      clockSkewMs: clockSkewMs(),
    }
  }

  async #deliver(version: Version, signal: AbortSignal, stored: () => void): Promise<void> {
    const { log, pipeline } = this.#parts
    const result = await pipeline.deliver(version, signal, stored)
    this.#showUnreadable(version, result.kind === 'later' ? result.failure : null)
    if (result.kind !== 'credentials' || !this.#refusals.refused(version, result.failure)) return
    const { reason, hint } = result.failure
    log.error({ reason, hint }, 'credentials refused')
    this.#showRefusal()
  }

  /** A copy of ours that cannot be read: nothing about the service or the feed. */
  #showUnreadable({ id }: Version, failure: Failure | null): void {
    const { conditions } = this.#parts
    const known = this.#unreadable.get(id)
    this.#unreadable.delete(id)
    if (failure?.condition !== undefined) {
      const { condition, hint, reason: message } = failure
      this.#unreadable.set(id, condition)
      // Other versions of the feed may take its place, and then nobody asks for it again.
      conditions.set(condition, { message, hint }, LONGEST_ATTEMPT_WAIT_MS + MINUTE)
    } else if (known !== undefined && ![...this.#unreadable.values()].includes(known)) {
      conditions.clear(known)
    }
  }

  /** While refused credentials are tried again, nobody knows whether they are good. */
  #showRefusal(): void {
    const { conditions } = this.#parts
    const { first, isOfKey } = this.#refusals
    if (first !== null) {
      const { reason: message, hint } = first
      const severity = isOfKey ? 'critical' : 'warning'
      conditions.set('credentials', { message, hint, severity })
    } else if (this.#refusals.isTrusted) conditions.clear('credentials')
  }

  /** A key that cannot be used is said; the one in use stays, and the file is read again when it changes. */
  #hasNewKey(): boolean {
    const { conditions, reloadKey } = this.#parts
    try {
      const isNew = reloadKey()
      if (isNew) conditions.clear('key-unreadable')
      return isNew
    } catch (error) {
      if (!(error instanceof FeedsyncError)) throw error
      conditions.set('key-unreadable', error)
      return false
    }
  }
}
