// AccountHolds records which partner accounts the service accepts, and which are on hold because the service refused
// them. Each account has its own hold, so that a mistyped account name delays no other account. Pure state on the given
// clock.

import type { Failure } from '../domain/decision-table.ts'
import { type Clock, MINUTE } from '../lib/clock.ts'
import { isDue, LONGEST_ATTEMPT_WAIT_MS } from '../lib/due.ts'

/** RETRY_MS is how long a hold lasts; then one version of the account tries the credentials again. */
const RETRY_MS = 5 * MINUTE

/** Account is a partner account; null means the configured identity. */
export type Account = string | null

/** Hold says why and until when the feeds of an account wait. */
interface Hold {
  readonly failure: Failure
  /** Wall ms of the next attempt of the waiting versions. */
  readonly until: number
  /** Monotonic ms of the answer that refused the account. */
  readonly beganAt: number
}

export class AccountHolds {
  readonly #clock: Clock
  /** Accounts that the service accepted with the current key and has not refused since. */
  readonly #verified = new Set<Account>()
  /** Holds by account. An expired hold stays here until the service accepts the account or the key changes. */
  readonly #holds = new Map<Account, Hold>()
  /** Monotonic ms since which the current key signs the requests; minus infinity for the key of the start. */
  #keySince = Number.NEGATIVE_INFINITY
  #released = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** firstRefusal is the failure of the account on hold that was refused first; null if no account is on hold. */
  get firstRefusal(): Failure | null {
    const holds = [...this.#holds.values()]
    return holds.find((hold) => isCurrent(hold, this.#clock))?.failure ?? null
  }

  /**
   * markedRefusal is `firstRefusal` with a `mark`, a text of all accounts that are on hold or whose hold expired
   * without a success: a hold that expires and begins again does not change the mark.
   */
  get markedRefusal(): (Failure & { mark: string }) | null {
    const accounts = [...this.#holds.keys()].map((account) => account ?? '')
    const mark = JSON.stringify(accounts.toSorted())
    return this.firstRefusal && { ...this.firstRefusal, mark }
  }

  /** isKeySuspect is true if an account is on hold and no account is verified: the key itself might be wrong. */
  get isKeySuspect(): boolean {
    return this.firstRefusal !== null && this.#verified.size === 0
  }

  /**
   * isTrusted is true if an account is verified and no hold began in the last two `RETRY_MS`. An older hold does not
   * count: if no feed waits for its account, no attempt ends that hold.
   */
  get isTrusted(): boolean {
    const isPast = ({ beganAt }: Hold) => this.#clock.monotonic() >= beganAt + 2 * RETRY_MS
    return this.#verified.size > 0 && this.#holds.values().every(isPast)
  }

  /** released counts how often an accepted account or a new key ended holds; versions that waited are then due. */
  get released(): number {
    return this.#released
  }

  /**
   * isVerified returns whether the service accepted the account with the current key and has not refused it since. An
   * account that is not verified sends one version at a time.
   */
  isVerified(account: Account): boolean {
    return this.#verified.has(account)
  }

  /** holdOf returns the hold that the feeds of this account wait for; null if the account is not on hold. */
  holdOf(account: Account): Hold | null {
    const hold = this.#holds.get(account)
    return isCurrent(hold, this.#clock) ? hold : null
  }

  /**
   * accept marks the account as verified and ends its hold, after the service gave a form. It ignores the answer if the
   * request (`askedAt`, monotonic ms) is from before the account's hold or the current key.
   */
  accept(account: Account, askedAt: number): void {
    if (askedAt < (this.#holds.get(account)?.beganAt ?? this.#keySince)) return
    this.#verified.add(account)
    if (this.#holds.delete(account)) this.#released++
  }

  /**
   * refuse puts the account on hold, and the account is no longer verified. It ignores the answer if the request
   * (`askedAt`, monotonic ms) is from before the current hold or the current key.
   */
  refuse(account: Account, failure: Failure, askedAt: number): void {
    if (askedAt < (this.holdOf(account)?.beganAt ?? this.#keySince)) return
    this.#verified.delete(account)
    const beganAt = this.#clock.monotonic()
    this.#holds.set(account, { failure, beganAt, until: this.#clock.now() + RETRY_MS })
  }

  /** startWithNewKey ends all holds after the key changed. No account is verified with the new key yet. */
  startWithNewKey(): void {
    this.#keySince = this.#clock.monotonic()
    this.#verified.clear()
    this.#holds.clear()
    this.#released++
  }
}

function isCurrent(hold: Hold | undefined, clock: Clock): hold is Hold {
  if (hold === undefined || clock.monotonic() >= hold.beganAt + RETRY_MS) return false
  // The versions wait by the wall clock, and somebody might have set it.
  return !isDue(hold.until, clock.now(), LONGEST_ATTEMPT_WAIT_MS)
}
