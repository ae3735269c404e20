// Owns which accounts are on hold, because the service refuses them. A refusal is about one account, unless it
// shows that the key is wrong: a 401 for an account that was accepted before, or a 401 for a second account
// while none was accepted. So a mistyped folder name delays no other account, and a wrong key costs two
// requests, however many feeds wait. Pure state on the clocks that it is given.

import { type Clock, MINUTE } from '../lib/clock.ts'
import { isDue, LONGEST_ATTEMPT_WAIT_MS } from '../lib/due.ts'
import type { Failure } from './port.ts'

/** Refused credentials are tried again after this time. */
const RETRY_MS = 15 * MINUTE

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
  /** Accounts that were accepted with the key in use. */
  readonly #verified = new Set<Account>()
  /** Verified accounts that were refused once: each gets a second request before it is put on hold. */
  readonly #unverified = new Set<Account>()
  /** A hold whose time is over stays here until the account is accepted: one version at a time tries it. */
  readonly #holds = new Map<Account, Hold>()
  /** The key itself is refused. */
  #ofKey: Hold | null = null
  /** Monotonic ms: what was asked before was signed with another key. */
  #keySince = Number.NEGATIVE_INFINITY
  #released = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The oldest refusal that still holds; null: no account is on hold. */
  get first(): Failure | null {
    return this.#current()[0]?.[1].failure ?? null
  }

  /** The same; `mark` stays while the same accounts are refused, including those whose time is over. */
  get refusal(): (Failure & { mark: string }) | null {
    const accounts = [...this.#holds.keys()].map((account) => account ?? '')
    const isOfKey = isCurrent(this.#ofKey, this.#clock)
    const mark = isOfKey ? 'refused' : JSON.stringify(accounts.toSorted())
    return this.first && { ...this.first, mark }
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

  /** The hold that the feeds of this account wait for; null: they may be sent. */
  holdOf(account: Account): Hold | null {
    const hold = isCurrent(this.#ofKey, this.#clock) ? this.#ofKey : this.#holds.get(account)
    return isCurrent(hold, this.#clock) ? hold : null
  }

  /**
   * Whether one more version may be sent while versions of the accounts `asking` ask for forms. A refused account is
   * tried by one version at a time. While it is not known whether the key works, so are all accounts.
   */
  admits(account: Account, asking: readonly Account[]): boolean {
    const isKeyUnverified = this.#holds.size > 0 && this.#verified.size === 0
    if (isKeyUnverified) return asking.length === 0
    return !(this.#holds.has(account) && asking.includes(account))
  }

  /** The service gave it a form. `askedAt` (monotonic ms): a request from before the refusal does not end the hold. */
  accept(account: Account, askedAt: number): void {
    const hold = this.#ofKey ?? this.#holds.get(account)
    if (askedAt < (hold?.beganAt ?? this.#keySince)) return
    this.#verified.add(account)
    this.#unverified.delete(account)
    if (this.#ofKey !== null) this.releaseAll()
    else if (this.#holds.delete(account)) this.#released++
  }

  /**
   * The service refused it. `again`: ask once more, because it was accepted before, or was asked (`askedAt`, monotonic
   * ms) with the key before.
   */
  refuse(account: Account, failure: Failure, askedAt: number): 'again' | 'on-hold' {
    if (askedAt < this.#keySince) return 'again'
    const wasVerified = this.#verified.has(account)
    if (wasVerified && !this.#unverified.has(account)) {
      this.#unverified.add(account)
      return 'again'
    }
    const now = { beganAt: this.#clock.monotonic(), until: this.#clock.now() + RETRY_MS }
    const hold = this.holdOf(account) ?? { failure, ...now }
    this.#verified.delete(account)
    this.#unverified.delete(account)
    const isOthers = this.#current().some(
      ([other, theirs]) => other !== account && theirs.failure.status === 401,
    )
    this.#holds.set(account, hold)
    if (failure.status === 401 && (wasVerified || (isOthers && this.#verified.size === 0))) {
      this.#verified.clear()
      this.#ofKey = hold
    }
    return 'on-hold'
  }

  /** The key has changed: no account is verified with the new one. */
  newKey(): void {
    this.#keySince = this.#clock.monotonic()
    this.#verified.clear()
    this.#unverified.clear()
    this.releaseAll()
  }

  /** Every account may be tried now. */
  releaseAll(): void {
    this.#holds.clear()
    this.#ofKey = null
    this.#released++
  }

  #current(): [Account, Hold][] {
    return [...this.#holds].filter(([, hold]) => isCurrent(hold, this.#clock))
  }
}

function isCurrent(hold: Hold | null | undefined, clock: Clock): hold is Hold {
  if (hold == null || clock.monotonic() >= hold.beganAt + RETRY_MS) return false
  // By the wall clock as well, because the versions wait by it and somebody may have set it.
  return !isDue(hold.until, clock.now(), LONGEST_ATTEMPT_WAIT_MS)
}
