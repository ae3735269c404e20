// Owns which accounts are on hold, because the service refuses them. A refusal is about one account: a mistyped folder
// name delays no other one. Pure state on the clocks that it is given.

import { type Clock, MINUTE } from '../lib/clock.ts'
import { isDue, LONGEST_ATTEMPT_WAIT_MS } from '../lib/due.ts'
import type { Failure } from './port.ts'

/** Refused credentials are tried again after this time. */
const RETRY_MS = 5 * MINUTE

/** A partner account; null: the configured identity. */
export type Account = string | null

/** Why and until when the feeds of an account wait. */
export interface Hold {
  readonly failure: Failure
  /** Wall ms: the next attempt of the waiting versions. */
  readonly until: number
  /** Monotonic ms. */
  readonly beganAt: number
}

export class AccountHolds {
  readonly #clock: Clock
  /** Accounts that were accepted with the key in use, and not refused since. */
  readonly #verified = new Set<Account>()
  /** A hold whose time is over stays here until the account is accepted. */
  readonly #holds = new Map<Account, Hold>()
  /** Monotonic ms: what was asked before was signed with another key. */
  #keySince = Number.NEGATIVE_INFINITY
  #released = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The oldest refusal that still holds; null: no account is on hold. */
  get first(): Failure | null {
    const holds = [...this.#holds.values()]
    return holds.find((hold) => isCurrent(hold, this.#clock))?.failure ?? null
  }

  /** The same; `mark` stays while the same accounts are refused, including those whose time is over. */
  get refusal(): (Failure & { mark: string }) | null {
    const accounts = [...this.#holds.keys()].map((account) => account ?? '')
    return this.first && { ...this.first, mark: JSON.stringify(accounts.toSorted()) }
  }

  /** An account is on hold and none is accepted: the key itself may be wrong. */
  get isOfKey(): boolean {
    return this.first !== null && this.#verified.size === 0
  }

  /**
   * Whether the credentials worked when they were last used. A refused account of which no feed waits any more is not
   * tried again when its time is over, so that nothing else would ever end its hold.
   */
  get isTrusted(): boolean {
    const isPast = ({ beganAt }: Hold) => this.#clock.monotonic() >= beganAt + 2 * RETRY_MS
    return this.#verified.size > 0 && this.#holds.values().every(isPast)
  }

  /** Counts the holds that were taken away: the versions that waited for them are due. */
  get released(): number {
    return this.#released
  }

  /** The service accepted it when it was last asked. An account that it did not accept yet is asked for one version at a time. */
  isVerified(account: Account): boolean {
    return this.#verified.has(account)
  }

  /** The hold that the feeds of this account wait for; null: they may be sent. */
  holdOf(account: Account): Hold | null {
    const hold = this.#holds.get(account)
    return isCurrent(hold, this.#clock) ? hold : null
  }

  /** The service gave it a form. `askedAt` (monotonic ms): a request from before the refusal does not end the hold. */
  accept(account: Account, askedAt: number): void {
    if (askedAt < (this.#holds.get(account)?.beganAt ?? this.#keySince)) return
    this.#verified.add(account)
    if (this.#holds.delete(account)) this.#released++
  }

  /**
   * The service refused it. `askedAt` (monotonic ms): a request from before the hold, or signed with the key before, is
   * no news.
   */
  refuse(account: Account, failure: Failure, askedAt: number): void {
    if (askedAt < (this.holdOf(account)?.beganAt ?? this.#keySince)) return
    this.#verified.delete(account)
    const beganAt = this.#clock.monotonic()
    this.#holds.set(account, { failure, beganAt, until: this.#clock.now() + RETRY_MS })
  }

  /** The key has changed: no account is verified with the new one. */
  newKey(): void {
    this.#keySince = this.#clock.monotonic()
    this.#verified.clear()
    this.#holds.clear()
    this.#released++
  }
}

function isCurrent(hold: Hold | undefined, clock: Clock): hold is Hold {
  if (hold === undefined || clock.monotonic() >= hold.beganAt + RETRY_MS) return false
  // By the wall clock as well, because the versions wait by it and somebody may have set it.
  return !isDue(hold.until, clock.now(), LONGEST_ATTEMPT_WAIT_MS)
}
