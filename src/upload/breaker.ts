// Owns what one origin may be asked, shared by all feeds: after five transient failures in a row one probe at
// a time, and its refusals of one feed after the other. Pure state on the clocks that it is given.

import { type Clock, MINUTE, SECOND } from '../lib/clock.ts'
import type { Failure, UploadHealth } from './port.ts'

const OPENS_AFTER = 5
const FIRST_PROBE = 5 * SECOND
const LONGEST_PAUSE = 10 * MINUTE
/** After that long a probe says nothing of the origin: it may be a large file on a slow line. Another one follows. */
const LONGEST_PROBE = MINUTE

/** An origin that refuses so many feeds, and accepts none between them, has a fault of its own. */
const REJECTS_ALL_FROM = 3

/** Permission to send one request; `leave` takes it back with the result. */
export interface Pass {
  readonly isProbe: boolean
}

/**
 * `up`: the origin answered, even if it refused. `nothing`: the request ended for a reason on this side. Otherwise
 * why it is down; `retryAfterMs`: what it asked for, no probe comes before that.
 */
export type BreakerResult = 'up' | 'nothing' | Pick<Failure, 'reason' | 'retryAfterMs'>

type State =
  | { kind: 'closed'; failures: number }
  /** `probeAt`: monotonic ms, also of the probe that runs; `shownAt`: the same in wall ms. */
  | { kind: 'open'; probeAt: number; shownAt: number; pauseMs: number; isProbing: boolean }

export class Breaker {
  readonly #clock: Clock
  #state: State = { kind: 'closed', failures: 0 }
  #isUsed = false
  /** Of the last failure; null while it is up. */
  #reason: string | null = null
  /** The feeds that it has refused since it last accepted one. */
  readonly #rejected = new Set<string>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isOpen(): boolean {
    return this.#state.kind === 'open'
  }

  /** It is down, and somebody asks it when its probes are due: nobody waits for it otherwise. */
  get isAwaited(): boolean {
    if (this.#state.kind === 'closed') return false
    const { isProbing, probeAt } = this.#state
    return isProbing || this.#clock.monotonic() < probeAt + LONGEST_PAUSE
  }

  /** Whole ms until a request would be let through, as the history takes them; 0: now. */
  waitMs(): number {
    if (this.#state.kind === 'closed') return 0
    const { isProbing, probeAt } = this.#state
    const from = isProbing ? probeAt + LONGEST_PROBE : probeAt
    const left = Math.max(0, Math.ceil(from - this.#clock.monotonic()))
    // A running probe ends soon: look again after the shortest pause.
    return isProbing ? Math.min(left, FIRST_PROBE) : left
  }

  /** Null while nothing may be sent. `isForced`: a person asked for it, so that this request is a probe. */
  enter(isForced = false): Pass | null {
    if (!isForced && this.waitMs() > 0) return null
    if (this.#state.kind === 'closed') return { isProbe: false }
    this.#state = { ...this.#state, isProbing: true, probeAt: this.#clock.monotonic() }
    return { isProbe: true }
  }

  leave({ isProbe }: Pass, result: BreakerResult): void {
    if (result === 'nothing') {
      if (isProbe && this.#state.kind === 'open') this.#state = { ...this.#state, isProbing: false }
      return
    }
    this.#isUsed = true
    this.#reason = result === 'up' ? null : result.reason
    if (result === 'up') this.#state = { kind: 'closed', failures: 0 }
    else this.#count(isProbe, result.retryAfterMs ?? 0)
  }

  /** It refused a correct request of this feed. True: it refuses all feeds. */
  rejectsAll(feed: string): boolean {
    if (this.#rejected.size < REJECTS_ALL_FROM) this.#rejected.add(feed)
    return this.#rejected.size >= REJECTS_ALL_FROM
  }

  accepts(): void {
    this.#rejected.clear()
  }

  health(): UploadHealth {
    const why = { reason: this.#reason, nextProbeAt: null }
    if (!this.#isUsed) return { state: 'unknown', ...why }
    if (this.#state.kind === 'closed')
      return { state: this.#state.failures === 0 ? 'ok' : 'degraded', ...why }
    const { isProbing, shownAt } = this.#state
    return { state: 'down', ...why, nextProbeAt: isProbing ? null : shownAt }
  }

  #count(isProbe: boolean, leastMs: number): void {
    const state = this.#state
    if (state.kind === 'closed') {
      const failures = state.failures + 1
      this.#state =
        failures < OPENS_AFTER ? { kind: 'closed', failures } : this.#opened(FIRST_PROBE, leastMs)
    } else if (isProbe) {
      // A request that was sent before the breaker opened says nothing new.
      this.#state = this.#opened(Math.min(state.pauseMs * 2, LONGEST_PAUSE), leastMs)
    }
  }

  #opened(pauseMs: number, leastMs: number): State {
    const waitMs = Math.max(pauseMs, leastMs)
    const probeAt = this.#clock.monotonic() + waitMs
    const shownAt = this.#clock.now() + waitMs
    return { kind: 'open', probeAt, shownAt, pauseMs, isProbing: false }
  }
}
