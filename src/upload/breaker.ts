// Breaker stops the requests to one origin after five transient failures in a row, and then allows one probe at a time.
// If several accounts use the origin and only one of them fails, this breaker stays closed. (Origins gives each account
// another breaker of its own.) Breaker also counts the feeds that the origin refuses. Pure state on the given clock.

import type { Failure } from '../domain/decision-table.ts'
import { type Clock, MINUTE, SECOND } from '../lib/clock.ts'
import type { Account } from './account-holds.ts'
import type { UploadHealth } from './port.ts'

const FAILURES_TO_OPEN = 5
const FIRST_PROBE = 5 * SECOND
const LONGEST_PAUSE = 10 * MINUTE
/** A probe can be a large file on a slow line. After LONGEST_PROBE, another probe may start beside it. */
const LONGEST_PROBE = MINUTE

/** MOST_REJECTED is how many refused feeds a breaker remembers. */
const MOST_REJECTED = 100

/** REJECTS_ALL_FROM is how many feeds an origin must refuse, without accepting any, to count as faulty itself. */
const REJECTS_ALL_FROM = 3

/** Pass permits one request. When the request has ended, give the pass back to `leave` with the result. */
export interface Pass {
  readonly isProbe: boolean
  /**
   * The next probe (see `BreakerState`), if a person asked for this request before the probe was due. If the request
   * fails or ends without a result, the probe keeps its time.
   */
  readonly nextProbe?: { probeAt: number; shownAt: number }
}

/**
 * BreakerResult is `up` if the origin answered, even with a refusal, and `nothing` if the request ended for a reason on
 * this side. Otherwise it says why the origin is down; the next probe waits for at least `retryAfterMs`.
 */
export type BreakerResult = 'up' | 'nothing' | Pick<Failure, 'reason' | 'retryAfterMs'>

type BreakerState =
  | { kind: 'closed'; failures: number; accounts: ReadonlySet<Account> }
  /**
   * `probeAt` is the monotonic ms of the running probe, or else of the next one; `shownAt` is the wall ms of the next
   * probe. `pauseMs` is the pause before the next probe without Retry-After; it doubles with each failed probe.
   */
  | { kind: 'open'; probeAt: number; shownAt: number; pauseMs: number; isProbing: boolean }

const CLOSED: BreakerState = { kind: 'closed', failures: 0, accounts: new Set() }

export class Breaker {
  readonly #clock: Clock
  #state: BreakerState = CLOSED
  /** The accounts that have used the origin. */
  readonly #accounts = new Set<Account>()
  /** The reason of the last failure; null while the origin is up. */
  #reason: string | null = null
  /** The feeds that the origin refused since it last accepted a feed, with their accounts. */
  readonly #rejected = new Map<string, Account>()
  /** The accounts that have probed the origin without success since the last call of `startProbeRound`. */
  readonly #probed = new Set<Account>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isOpen(): boolean {
    return this.#state.kind === 'open'
  }

  /**
   * isAwaited is true while the origin is down and feeds wait for it. If a probe was not sent within `LONGEST_PAUSE`
   * after it was due, no feed waits.
   */
  get isAwaited(): boolean {
    if (this.#state.kind === 'closed') return false
    const { isProbing, probeAt } = this.#state
    return isProbing || this.#clock.monotonic() < probeAt + LONGEST_PAUSE
  }

  /** waitMs returns how long a request must wait, in whole ms; 0 if it may be sent now. */
  waitMs(): number {
    if (this.#state.kind === 'closed') return 0
    const { isProbing, probeAt } = this.#state
    const from = isProbing ? probeAt + LONGEST_PROBE : probeAt
    const left = Math.max(0, Math.ceil(from - this.#clock.monotonic()))
    // The running probe might end soon, so the caller asks again after the shortest pause.
    return isProbing ? Math.min(left, FIRST_PROBE) : left
  }

  /** enter returns a pass for one request, which is the probe if the origin is down; null if none is allowed now. */
  enter(): Pass | null {
    return this.waitMs() > 0 ? null : this.force()
  }

  /** force returns a pass at any time, for a request that a person asked for. If the origin is down, it is a probe. */
  force(): Pass {
    const isEarly = this.waitMs() > 0
    if (this.#state.kind === 'closed') return { isProbe: false }
    const { probeAt, shownAt } = this.#state
    this.#state = { ...this.#state, isProbing: true, probeAt: this.#clock.monotonic() }
    return isEarly ? { isProbe: true, nextProbe: { probeAt, shownAt } } : { isProbe: true }
  }

  /**
   * leave takes back the pass of an ended request for this account. `up` closes the breaker. A failure can open the
   * breaker, and a failed probe doubles the pause before the next probe. `nothing` only ends a probe.
   */
  leave({ isProbe, nextProbe }: Pass, result: BreakerResult, account: Account = null): void {
    if (result === 'nothing') {
      if (isProbe && this.#state.kind === 'open')
        this.#state = { ...this.#state, ...nextProbe, isProbing: false }
      return
    }
    this.#accounts.add(account)
    if (result === 'up') {
      this.#state = CLOSED
      this.#reason = null
      this.#probed.clear()
      return
    }
    this.#reason = result.reason
    // A person asked for this probe before the next one was due. It failed, so the next one keeps its time.
    if (nextProbe !== undefined && this.#state.kind === 'open') {
      this.#state = { ...this.#state, ...nextProbe, isProbing: false }
      return
    }
    if (isProbe) this.#probed.add(account)
    this.#recordFailure(account, { isProbe, leastMs: result.retryAfterMs ?? 0 })
  }

  /** hasProbed returns whether this account has probed the origin without success since the last `startProbeRound`. */
  hasProbed(account: Account): boolean {
    return this.#probed.has(account)
  }

  /** startProbeRound lets all accounts probe again. Returns whether any account had probed. */
  startProbeRound(): boolean {
    const hadProbed = this.#probed.size > 0
    this.#probed.clear()
    return hadProbed
  }

  /**
   * countRejected counts a refused feed. Returns whether the origin seems to refuse all feeds: it refused several since
   * it last accepted a feed, and these belong to more than one account, unless only one account uses the origin.
   */
  countRejected(feed: string, account: Account = null): boolean {
    this.#accounts.add(account)
    if (this.#rejected.size < MOST_REJECTED) this.#rejected.set(feed, account)
    return (
      this.#rejected.size >= REJECTS_ALL_FROM && this.#concernsAll(new Set(this.#rejected.values()))
    )
  }

  /** #concernsAll returns whether the failures of these accounts concern all: two fail, or only one uses the origin. */
  #concernsAll(accounts: ReadonlySet<Account>): boolean {
    return accounts.size > 1 || this.#accounts.size <= 1
  }

  forgetRejected(): void {
    this.#rejected.clear()
  }

  health(): UploadHealth {
    const common = { reason: this.#reason, nextProbeAt: null }
    if (this.#accounts.size === 0) return { state: 'unknown', ...common }
    if (this.#state.kind === 'closed')
      return { state: this.#state.failures === 0 ? 'ok' : 'degraded', ...common }
    const { isProbing, shownAt } = this.#state
    return { state: 'down', ...common, nextProbeAt: isProbing ? null : shownAt }
  }

  /** #recordFailure opens the breaker after enough failures, or opens it anew after a failed probe. */
  #recordFailure(
    account: Account,
    { isProbe, leastMs }: { isProbe: boolean; leastMs: number },
  ): void {
    const state = this.#state
    if (state.kind === 'closed') {
      const failures = state.failures + 1
      const accounts = new Set([...state.accounts, account])
      const isDown = failures >= FAILURES_TO_OPEN && this.#concernsAll(accounts)
      this.#state = isDown
        ? this.#opened(FIRST_PROBE, leastMs)
        : { kind: 'closed', failures, accounts }
    } else if (isProbe) {
      // Other requests began before the breaker opened, so their failures prove nothing new.
      this.#state = this.#opened(Math.min(state.pauseMs * 2, LONGEST_PAUSE), leastMs)
    }
  }

  #opened(pauseMs: number, leastMs: number): BreakerState {
    const waitMs = Math.max(pauseMs, leastMs)
    const probeAt = this.#clock.monotonic() + waitMs
    const shownAt = this.#clock.now() + waitMs
    return { kind: 'open', probeAt, shownAt, pauseMs, isProbing: false }
  }
}
