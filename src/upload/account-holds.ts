// Owns which accounts the service refuses. A refusal is about its account alone unless it shows that the key
// is refused: a 401 for an account that was accepted before, or a second account with a 401 while none was
// accepted. So a mistyped folder name holds up nobody else, and a wrong key costs two requests, whatever waits.
// Pure state on the clocks that it is given.

import { type Clock, MINUTE } from '../lib/clock.ts'
import { isDue, LONGEST_ATTEMPT_WAIT_MS } from '../lib/due.ts'
import type { Failure } from './port.ts'

/** Credentials are tried again this often when nothing else says so. */
const RETRY_MS = 15 * MINUTE

/** A partner account; null: the configured identity. */
export type Account = string | null

/** The feeds of an account wait. */
export interface Hold {
  readonly failure: Failure
  /** Wall ms: the next attempt of what waits for it. */
  readonly until: number
  /** Monotonic ms. */
  readonly beganAt: number
}

export class AccountHolds {
  readonly #clock: Clock
  /** Since the key is in use. */
  readonly #verified = new Set<Account>()
  /** Verified ones that were refused once: they are asked about once more. */
  readonly #doubted = new Set<Account>()
  /** Ended ones stay until the account is accepted: one request finds out. */
  readonly #holds = new Map<Account, Hold>()
  /** The key itself is refused. */
  #ofKey: Hold | null = null
  #released = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What a person has to know first; null when no account is refused, or none was so lately. */
  get first(): Failure | null {
    return this.#current()[0]?.[1].failure ?? null
  }

  /** The same text as long as the same accounts are refused, those included that are about to be tried again. */
  get mark(): string {
    const accounts = [...this.#holds.keys()].map((account) => account ?? '')
    return isCurrent(this.#ofKey, this.#clock) ? 'refused' : JSON.stringify(accounts.toSorted())
  }

  /** No account is known to be accepted: it may as well be the key. */
  get isOfKey(): boolean {
    return this.first !== null && this.#verified.size === 0
  }

  /** Whether the credentials were last seen to work: that they are tried again proves nothing. */
  get isTrusted(): boolean {
    return this.#holds.size === 0 && this.#verified.size > 0
  }

  /** Another number whenever a hold was taken away: what waited for it is due. */
  get released(): number {
    return this.#released
  }

  /** What the feeds of this account wait for; null: they may be sent. */
  holdOf(account: Account): Hold | null {
    const hold = isCurrent(this.#ofKey, this.#clock) ? this.#ofKey : this.#holds.get(account)
    return isCurrent(hold, this.#clock) ? hold : null
  }

  /**
   * Whether one more version may be tried beside those of the accounts `running`: of an account that was
   * refused one at a time, and of all accounts one at a time while nobody knows whether the key is good.
   */
  admits(account: Account, running: readonly Account[]): boolean {
    const isKeyUnverified = this.#holds.size > 0 && this.#verified.size === 0
    if (isKeyUnverified) return running.length === 0
    return !(this.#holds.has(account) && running.includes(account))
  }

  /** The service gave it a form. `askedAt` (monotonic ms): what was asked before the refusal says nothing about it. */
  accept(account: Account, askedAt: number): void {
    const hold = this.#ofKey ?? this.#holds.get(account)
    if (hold !== undefined && askedAt < hold.beganAt) return
    this.#verified.add(account)
    this.#doubted.delete(account)
    if (this.#ofKey !== null) this.releaseAll()
    else if (this.#holds.delete(account)) this.#released++
  }

  /** The service refused it. Answers `again` where it is to be asked once more, since it was accepted before. */
  refuse(account: Account, failure: Failure): 'again' | 'on-hold' {
    const wasVerified = this.#verified.has(account)
    if (wasVerified && !this.#doubted.has(account)) {
      this.#doubted.add(account)
      return 'again'
    }
    const now = { beganAt: this.#clock.monotonic(), until: this.#clock.now() + RETRY_MS }
    const hold = this.holdOf(account) ?? { failure, ...now }
    this.#verified.delete(account)
    this.#doubted.delete(account)
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

  /** The key is another one: what was accepted with the old one proves nothing. */
  newKey(): void {
    this.#verified.clear()
    this.#doubted.clear()
    this.releaseAll()
  }

  /** Whatever waits may be tried now. */
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
  // By the wall as well, since that is what the versions wait by: somebody may have set it.
  return !isDue(hold.until, clock.now(), LONGEST_ATTEMPT_WAIT_MS)
}
