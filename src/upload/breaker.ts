// Owns what an origin may be asked at once, shared by all feeds: after five transient failures in a row one
// probe at a time, and after it asked for less, half of what ran and one more each minute
//. Pure state on the clocks it is given.

import { type Clock, MINUTE, SECOND } from '../lib/clock.ts'
import type { UploadHealth } from './port.ts'
import { Throttle } from './throttle.ts'

const OPENS_AFTER = 5
const FIRST_PROBE = 5 * SECOND
const LONGEST_PAUSE = 10 * MINUTE

/** Until a place may be free among the requests that a throttled origin takes. */
const FULL_WAIT = 2 * SECOND

const UNKNOWN: UploadHealth = { state: 'unknown', reason: null, since: null, nextProbeAt: null }

/** Leave to send one request; give it back with what came of it. */
export interface Permit {
  readonly probe: boolean
  /** Monotonic ms. */
  readonly at: number
}

/** `up`: the origin answered, be it with a refusal. `nothing`: the request ended for a reason of ours. */
export type Lesson =
  | { kind: 'up' }
  /** `retryAfterMs`: what it asked for; no probe comes before that. `throttled`: it wants less at once. */
  | { kind: 'down'; reason: string; retryAfterMs: number | null; throttled?: boolean }
  | { kind: 'nothing' }

type State =
  | { kind: 'closed'; failures: number }
  /** Times on the monotonic clock. */
  | { kind: 'open'; probeAt: number; pauseMs: number; probing: boolean }

export class Breaker {
  readonly #clock: Clock
  readonly #throttle: Throttle
  #state: State = { kind: 'closed', failures: 0 }
  #inFlight = 0
  #used = false
  #reason: string | null = null
  #since: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
    this.#throttle = new Throttle(clock)
  }

  /** Whole ms until a request would be let through, as the history takes them; 0: now. */
  waitMs(): number {
    if (this.#state.kind === 'closed') return this.#free() > 0 ? 0 : FULL_WAIT
    // A running probe ends soon: look again after the shortest pause.
    if (this.#state.probing) return FIRST_PROBE
    return Math.max(0, Math.ceil(this.#state.probeAt - this.#clock.monotonic()))
  }

  /** How many requests would be let through now. */
  openings(): number {
    if (this.#state.kind === 'closed') return Math.max(0, this.#free())
    return this.waitMs() > 0 ? 0 : 1
  }

  /** Null while nothing may be sent. */
  enter(): Permit | null {
    if (this.waitMs() > 0) return null
    this.#inFlight += 1
    const at = this.#clock.monotonic()
    if (this.#state.kind === 'closed') return { probe: false, at }
    this.#state = { ...this.#state, probing: true }
    return { probe: true, at }
  }

  /** A person wants to know: the next probe is due now. */
  probeNow(): void {
    if (this.#state.kind !== 'open') return
    this.#state = { ...this.#state, probeAt: this.#clock.monotonic() }
  }

  leave(permit: Permit, lesson: Lesson): void {
    if (lesson.kind === 'down' && lesson.throttled) this.#throttle.slow(permit.at, this.#inFlight)
    this.#inFlight -= 1
    switch (lesson.kind) {
      case 'up':
        this.#used = true
        this.#state = { kind: 'closed', failures: 0 }
        this.#reason = null
        this.#since = null
        return
      case 'down':
        this.#used = true
        this.#reason = lesson.reason
        this.#since ??= this.#clock.now()
        this.#count(permit, lesson.retryAfterMs ?? 0)
        return
      case 'nothing':
        if (permit.probe && this.#state.kind === 'open')
          this.#state = { ...this.#state, probing: false }
        return
      default:
        lesson satisfies never
    }
  }

  health(): UploadHealth {
    const since = this.#since
    const reason = this.#reason
    if (!this.#used) return UNKNOWN
    if (this.#state.kind === 'open')
      return {
        state: 'down',
        reason,
        since,
        nextProbeAt: this.#state.probing ? null : this.#clock.now() + this.waitMs(),
      }
    const state = this.#state.failures === 0 ? 'ok' : 'degraded'
    return { state, reason, since, nextProbeAt: null }
  }

  #free(): number {
    return this.#throttle.limit() - this.#inFlight
  }

  #count(permit: Permit, leastMs: number): void {
    const state = this.#state
    if (state.kind === 'closed') {
      const failures = state.failures + 1
      this.#state =
        failures < OPENS_AFTER ? { kind: 'closed', failures } : this.#opened(FIRST_PROBE, leastMs)
    } else if (permit.probe) {
      // What was under way when the breaker opened says nothing new.
      this.#state = this.#opened(Math.min(state.pauseMs * 2, LONGEST_PAUSE), leastMs)
    }
  }

  #opened(pauseMs: number, leastMs: number): State {
    const probeAt = this.#clock.monotonic() + Math.max(pauseMs, leastMs)
    return { kind: 'open', probeAt, pauseMs, probing: false }
  }
}

export class Breakers {
  readonly #clock: Clock
  readonly #byOrigin = new Map<string, Breaker>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  of(origin: string): Breaker {
    const known = this.#byOrigin.get(origin)
    if (known !== undefined) return known
    const breaker = new Breaker(this.#clock)
    this.#byOrigin.set(origin, breaker)
    return breaker
  }

  /** A request to all of these origins passes every one of their breakers. */
  openings(origins: readonly string[]): number {
    return Math.min(...origins.map((origin) => this.of(origin).openings()))
  }

  probeNow(origins: readonly string[]): void {
    for (const origin of origins) this.of(origin).probeNow()
  }

  /** The worst of these origins: those in use, not one that a form named last month. */
  health(origins: readonly string[]): UploadHealth {
    const order = ['unknown', 'ok', 'degraded', 'down']
    return origins
      .map((origin) => this.of(origin).health())
      .reduce((a, b) => (order.indexOf(b.state) > order.indexOf(a.state) ? b : a), UNKNOWN)
  }
}
