// AccountHolds knows the accounts that are on hold because the service refuses them. A refusal concerns one account, so
// that a mistyped folder name delays no other account. Pure state on the given clock.

import type { Failure } from '../domain/decision-table.ts'
import { type Clock, MINUTE } from '../lib/clock.ts'
import { isDue, LONGEST_ATTEMPT_WAIT_MS } from '../lib/due.ts'

/** RETRY_MS is the time until refused credentials are tried again. */
const RETRY_MS = 5 * MINUTE

/** Account is a partner account; null means the configured identity. */
export type Account = string | null

/** Hold says why and until when the feeds of an account wait. */
export interface Hold {
  readonly failure: Failure
  /** Wall ms of the next attempt of the waiting versions. */
  readonly until: number
  /** Monotonic ms. */
  readonly beganAt: number
}

export class AccountHolds {
  readonly #clock: Clock
  /** Accounts that the service accepted with the current key and has not refused since. */
  readonly #verified = new Set<Account>()
  /** Holds by account. An expired hold stays here until the service accepts the account. */
  readonly #holds = new Map<Account, Hold>()
  /** Monotonic ms of the last change of the key: earlier requests were signed with another key. */
  #keySince = Number.NEGATIVE_INFINITY
  #released = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** first is the oldest refusal that still holds; null means no account is on hold. */
  get first(): Failure | null {
    const holds = [...this.#holds.values()]
    return holds.find((hold) => isCurrent(hold, this.#clock))?.failure ?? null
  }

  /** refusal is `first` with a `mark`, which changes only when other accounts are refused; expired holds count, too. */
  get refusal(): (Failure & { mark: string }) | null {
    const accounts = [...this.#holds.keys()].map((account) => account ?? '')
    return this.first && { ...this.first, mark: JSON.stringify(accounts.toSorted()) }
  }

  /** isOfKey is true if an account is on hold and no account is accepted: the key itself might be wrong. */
  get isOfKey(): boolean {
    return this.first !== null && this.#verified.size === 0
  }

  /**
   * isTrusted reports whether the credentials worked when they were last used. It ignores holds that expired long ago:
   * if no feed waits for the account, no attempt ever ends its hold.
   */
  get isTrusted(): boolean {
    const isPast = ({ beganAt }: Hold) => this.#clock.monotonic() >= beganAt + 2 * RETRY_MS
    return this.#verified.size > 0 && this.#holds.values().every(isPast)
  }

  /** released counts the holds that ended: the versions that waited for them are due. */
  get released(): number {
    return this.#released
  }

  /** isVerified is true if the service accepted the account last time. Other accounts send one version at a time. */
  isVerified(account: Account): boolean {
    return this.#verified.has(account)
  }

  /** holdOf returns the hold that the feeds of this account wait for; null if they may be sent. */
  holdOf(account: Account): Hold | null {
    const hold = this.#holds.get(account)
    return isCurrent(hold, this.#clock) ? hold : null
  }

  /** accept ends a hold after the service gave a form, unless the request (`askedAt`, monotonic ms) is older. */
  accept(account: Account, askedAt: number): void {
    if (askedAt < (this.#holds.get(account)?.beganAt ?? this.#keySince)) return
    this.#verified.add(account)
    if (this.#holds.delete(account)) this.#released++
  }

  /**
   * refuse puts the account on hold. It ignores a request (`askedAt`, monotonic ms) from before the current hold or the
   * current key.
   */
  refuse(account: Account, failure: Failure, askedAt: number): void {
    if (askedAt < (this.holdOf(account)?.beganAt ?? this.#keySince)) return
    this.#verified.delete(account)
    const beganAt = this.#clock.monotonic()
    this.#holds.set(account, { failure, beganAt, until: this.#clock.now() + RETRY_MS })
  }

  /** newKey ends all holds after the key changed: no account is verified with the new key. */
  newKey(): void {
    this.#keySince = this.#clock.monotonic()
    this.#verified.clear()
    this.#holds.clear()
    this.#released++
  }
}

function isCurrent(hold: Hold | undefined, clock: Clock): hold is Hold {
  if (hold === undefined || clock.monotonic() >= hold.beganAt + RETRY_MS) return false
  // Check the wall clock as well: the versions wait by it, and somebody might have set it.
  return !isDue(hold.until, clock.now(), LONGEST_ATTEMPT_WAIT_MS)
}
