// Breaker stops the requests to one origin after five transient failures in a row, and then sends one probe at a time.
// The failures of one account alone do not stop the others: its own breaker does. It also counts the feeds that the
// origin refuses. Pure state on the given clock.

import type { Failure } from '../domain/decision-table.ts'
import { type Clock, MINUTE, SECOND } from '../lib/clock.ts'
import type { Account } from './account-holds.ts'
import type { UploadHealth } from './port.ts'

const OPENS_AFTER = 5
const FIRST_PROBE = 5 * SECOND
const LONGEST_PAUSE = 10 * MINUTE
/** After LONGEST_PROBE another probe may start: the running one can be a large file on a slow line. */
const LONGEST_PROBE = MINUTE

/** MOST_REJECTED limits the refused feeds that are remembered. */
const MOST_REJECTED = 100

/** REJECTS_ALL_FROM is how many feeds an origin must refuse, without accepting any, to count as faulty itself. */
const REJECTS_ALL_FROM = 3

/** Pass permits one request; `leave` returns it with the result. */
export interface Pass {
  readonly isProbe: boolean
  /**
   * Set for a request that a person asked for before the next probe was due: if it fails, that probe keeps its time.
   */
  readonly before?: { probeAt: number; shownAt: number }
}

/**
 * BreakerResult is `up` if the origin answered, even with a refusal, and `nothing` if the request ended for a reason on
 * this side. Otherwise it says why the origin is down; the next probe waits for `retryAfterMs`.
 */
export type BreakerResult = 'up' | 'nothing' | Pick<Failure, 'reason' | 'retryAfterMs'>

type BreakerState =
  | { kind: 'closed'; failures: number; accounts: ReadonlySet<Account> }
  /** `probeAt`: monotonic ms of the next or the running probe; `shownAt`: the next probe in wall ms. */
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
  /** The accounts that have probed the origin without success since it is down. */
  readonly #probed = new Set<Account>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isOpen(): boolean {
    return this.#state.kind === 'open'
  }

  /**
   * isAwaited is true while the origin is down and its probes are sent. A probe that is long due and was not sent means
   * that no feed needs the origin.
   */
  get isAwaited(): boolean {
    if (this.#state.kind === 'closed') return false
    const { isProbing, probeAt } = this.#state
    return isProbing || this.#clock.monotonic() < probeAt + LONGEST_PAUSE
  }

  /** waitMs returns the whole ms until a request may be sent; 0: now. */
  waitMs(): number {
    if (this.#state.kind === 'closed') return 0
    const { isProbing, probeAt } = this.#state
    const from = isProbing ? probeAt + LONGEST_PROBE : probeAt
    const left = Math.max(0, Math.ceil(from - this.#clock.monotonic()))
    // The running probe might end soon: look again after the shortest pause.
    return isProbing ? Math.min(left, FIRST_PROBE) : left
  }

  /** enter returns a pass, or null while nothing may be sent. */
  enter(): Pass | null {
    return this.waitMs() > 0 ? null : this.force()
  }

  /** force returns a pass at any time: a person asked, so the request may probe. */
  force(): Pass {
    const isEarly = this.waitMs() > 0
    if (this.#state.kind === 'closed') return { isProbe: false }
    const { probeAt, shownAt } = this.#state
    this.#state = { ...this.#state, isProbing: true, probeAt: this.#clock.monotonic() }
    return isEarly ? { isProbe: true, before: { probeAt, shownAt } } : { isProbe: true }
  }

  /** leave returns a pass with the result of the request, which was sent for this account. */
  leave({ before, isProbe }: Pass, result: BreakerResult, account: Account = null): void {
    if (result === 'nothing') {
      if (isProbe && this.#state.kind === 'open') this.#state = { ...this.#state, isProbing: false }
      return
    }
    this.#accounts.add(account)
    this.#reason = result === 'up' ? null : result.reason
    if (result === 'up') {
      this.#state = CLOSED
      this.#probed.clear()
      return
    }
    if (before !== undefined && this.#state.kind === 'open') {
      this.#state = { ...this.#state, ...before, isProbing: false }
      return
    }
    if (isProbe) this.#probed.add(account)
    this.#count(account, { isProbe, leastMs: result.retryAfterMs ?? 0 })
  }

  /** hasProbed returns whether this account has probed the origin without success since it is down. */
  hasProbed(account: Account): boolean {
    return this.#probed.has(account)
  }

  /** nextRound lets all accounts probe again. Returns whether any had probed. */
  nextRound(): boolean {
    const hadProbed = this.#probed.size > 0
    this.#probed.clear()
    return hadProbed
  }

  /**
   * countRejected counts a refused feed, and returns whether the origin now refuses all feeds, of more than one
   * account.
   */
  countRejected(feed: string, account: Account = null): boolean {
    this.#accounts.add(account)
    if (this.#rejected.size < MOST_REJECTED) this.#rejected.set(feed, account)
    return (
      this.#rejected.size >= REJECTS_ALL_FROM && this.#isOfAll(new Set(this.#rejected.values()))
    )
  }

  /** #isOfAll: the failures of one account say nothing about the others, unless there is no other. */
  #isOfAll(accounts: ReadonlySet<Account>): boolean {
    return accounts.size > 1 || this.#accounts.size <= 1
  }

  forgetRejected(): void {
    this.#rejected.clear()
  }

  health(): UploadHealth {
    const why = { reason: this.#reason, nextProbeAt: null }
    if (this.#accounts.size === 0) return { state: 'unknown', ...why }
    if (this.#state.kind === 'closed')
      return { state: this.#state.failures === 0 ? 'ok' : 'degraded', ...why }
    const { isProbing, shownAt } = this.#state
    return { state: 'down', ...why, nextProbeAt: isProbing ? null : shownAt }
  }

  #count(account: Account, { isProbe, leastMs }: { isProbe: boolean; leastMs: number }): void {
    const state = this.#state
    if (state.kind === 'closed') {
      const failures = state.failures + 1
      const accounts = new Set([...state.accounts, account])
      const isDown = failures >= OPENS_AFTER && this.#isOfAll(accounts)
      this.#state = isDown
        ? this.#opened(FIRST_PROBE, leastMs)
        : { kind: 'closed', failures, accounts }
    } else if (isProbe) {
      // The result of a request from before the breaker opened is not new.
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
