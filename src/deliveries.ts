// The way out: accepted versions are delivered as they fall due, one of a feed at a time, up to the
// limit. The queue is the history itself, so that a decision of another process or a restart needs
// nothing else. Refused credentials pause everything, since no feed can succeed with them.

import type { DaemonRecord, History, Version } from './history/port.ts'
import { type Clock, MINUTE } from './lib/clock.ts'
import { FeedsyncError } from './lib/errors.ts'
import type { Log } from './lib/log.ts'
import type { Pipeline } from './pipeline.ts'
import type { Failure, Uploader } from './upload/port.ts'

export interface DeliveriesParts {
  clock: Clock
  log: Log
  /** Says to a person what hinders the daemon as a whole. */
  tell: (message: string, hint: string | null) => void
  history: History
  pipeline: Pipeline
  uploader: Uploader
  /** Reads the service key again; true when it is another one than before. */
  reloadKey: () => boolean
  clockSkewMs: () => number | null
  concurrency: number
}

/** Design section 4: credentials are tried again this often when nothing else says so. */
const CREDENTIALS_RETRY_MS = 15 * MINUTE

export class Deliveries {
  readonly #parts: DeliveriesParts
  readonly #running = new Map<string, Promise<void>>()
  #paused: { failure: Failure; until: number } | null = null
  #hasStored = false

  constructor(parts: DeliveriesParts) {
    this.#parts = parts
  }

  get running(): readonly Promise<void>[] {
    return [...this.#running.values()]
  }

  /** The refusal that pauses all deliveries; null when none does. */
  get refusal(): Failure | null {
    return this.#paused?.failure ?? null
  }

  /** Whether the credentials were last seen to work: that they are tried again proves nothing. */
  get isTrusted(): boolean {
    return this.#paused === null && this.#hasStored
  }

  /** Starts what is due and fits; `ended` is called after each, with the error that it met. */
  start(signal: AbortSignal, ended: (error?: unknown) => void): void {
    const { clock, concurrency, history, uploader } = this.#parts
    // An endpoint that is down gets one probe: the other versions stay as they are.
    let openings = this.#isPaused() ? 0 : uploader.openings()
    if (openings === 0) return
    // Thousands may wait after an outage: no more of them are read than could be started.
    for (const version of history.due(clock.now(), concurrency + this.#running.size)) {
      if (this.#running.size >= concurrency || openings === 0) return
      const { feed } = version
      if (this.#running.has(feed)) continue
      openings -= 1
      const delivery = this.#deliver(version, signal)
        .then(() => ended(), ended)
        .finally(() => this.#running.delete(feed))
      this.#running.set(feed, delivery)
    }
  }

  /** Tries refused credentials again now (SIGHUP). */
  resume(): void {
    this.#hasNewKey()
    this.#paused = null
  }

  /** True when something is due that could be started. */
  get due(): boolean {
    const { clock, history, uploader } = this.#parts
    const open = this.#paused === null && uploader.openings() > 0
    return open && history.due(clock.now(), 1).length > 0
  }

  /** What `status` tells of the service. */
  health(): Pick<DaemonRecord, 'service' | 'serviceReason' | 'clockSkewMs'> {
    const { clockSkewMs, uploader } = this.#parts
    const { state, reason } = uploader.health()
    return {
      service: this.#paused === null ? state : 'credentials',
      serviceReason: this.#paused?.failure.reason ?? reason,
      clockSkewMs: clockSkewMs(),
    }
  }

  async #deliver(version: Version, signal: AbortSignal): Promise<void> {
    const { clock, log, pipeline, tell } = this.#parts
    const result = await pipeline.deliver(version, signal)
    if (result.kind === 'stored') this.#hasStored = true
    if (result.kind !== 'credentials') return
    this.#hasStored = false
    const { failure } = result
    if (this.#paused === null) {
      log.error({ reason: failure.reason, hint: failure.hint }, 'credentials refused')
      tell(failure.reason, failure.hint)
    }
    this.#paused = { failure, until: clock.monotonic() + CREDENTIALS_RETRY_MS }
  }

  #isPaused(): boolean {
    if (this.#paused === null) return false
    if (this.#parts.clock.monotonic() < this.#paused.until && !this.#hasNewKey()) return true
    this.#paused = null
    return false
  }

  /** A key that cannot be used is said; the one in use stays, and the file is read again when it changes. */
  #hasNewKey(): boolean {
    const { log, reloadKey, tell } = this.#parts
    try {
      return reloadKey()
    } catch (error) {
      if (!(error instanceof FeedsyncError)) throw error
      log.error({ problem: error.message, hint: error.hint }, 'key not read')
      tell(error.message, error.hint)
      return false
    }
  }
}
