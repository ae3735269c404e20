// Origins are the service and the storages that the forms name. Each has a breaker for all accounts, and one for each
// account, so that the failures of one account stop no other. Pure state on the given clock.

import { type Failure, failureOf, RULES } from '../domain/decision-table.ts'
import { type Clock, SECOND } from '../lib/clock.ts'
import type { Account } from './account-holds.ts'
import { Breaker } from './breaker.ts'
import type { UploadHealth } from './port.ts'

/** WaitingAccounts are the accounts that a wait is about; `all`: it is about the service. */
export type WaitingAccounts = readonly Account[] | 'all'

const HEALTH = ['unknown', 'ok', 'degraded', 'down'] as const

export class Origins {
  readonly #clock: Clock
  readonly #service: string
  readonly #breakers = new Map<string, Breaker>()
  /** The breakers of single accounts, by origin and account. */
  readonly #ofAccount = new Map<string, Breaker>()
  /** The storage that the newest form of each account names, the newest last: an account can have its own storage. */
  readonly #storageOf = new Map<Account, string>()

  constructor(clock: Clock, service: string) {
    this.#clock = clock
    this.#service = service
  }

  isService(origin: string): boolean {
    return origin === this.#service
  }

  /** nextRound lets all accounts probe the origins that are down again. Returns whether any had probed. */
  nextRound(): boolean {
    return [...this.#breakers.values()].filter((breaker) => breaker.nextRound()).length > 0
  }

  /** accountsOf returns the accounts whose files go to an origin. */
  accountsOf(origin: string | null): WaitingAccounts {
    if (origin === this.#service) return 'all'
    return [...this.#storageOf].flatMap(([account, storage]) =>
      storage === origin ? [account] : [],
    )
  }

  /** setStorageOf records the storage that the newest form of the account names. */
  setStorageOf(account: Account, origin: string): void {
    this.#storageOf.delete(account)
    this.#storageOf.set(account, origin)
  }

  /** closedFor returns why no attempt can succeed now, or null. An attempt that has a form needs only its storage. */
  closedFor(account: Account, formOrigin: string | null): Failure | null {
    const origins = formOrigin === null ? this.of(account) : [formOrigin]
    return this.closed(origins, account)?.failure ?? null
  }

  /**
   * opensAt returns the wall ms of the next probe of an origin that is down for this account; null if requests are
   * allowed. The time is a whole second, so that all waiting versions are due together and the one with the fewest
   * attempts goes first.
   */
  opensAt(origin: string | null, account: Account): number | null {
    const waitMs = origin === null ? 0 : this.#waitMs(origin, account)
    return waitMs > 0 ? Math.ceil((this.#clock.now() + waitMs) / SECOND) * SECOND : null
  }

  /**
   * health returns the worse state of the service and the newest storage; `degraded` if neither is down, but another
   * storage is, or an origin for single accounts.
   */
  health(): UploadHealth {
    const worst = (all: Iterable<Breaker>) =>
      [...all]
        .map((breaker) => breaker.health())
        .reduce((a, b) => (HEALTH.indexOf(b.state) > HEALTH.indexOf(a.state) ? b : a))
    const forAll = worst(this.#decidingOrigins.map((origin) => this.breaker(origin)))
    const inUse = new Set([this.#service, ...this.#storageOf.values()])
    const ofOrigins = [...inUse].map((origin) => this.breaker(origin))
    const awaited = [...ofOrigins, ...this.#ofAccount.values()].filter((each) => each.isAwaited)
    if (forAll.state === 'down' || awaited.length === 0) return forAll
    return { ...worst(awaited), state: 'degraded', nextProbeAt: null }
  }

  /** #decidingOrigins are the origins that decide the health: the service, and the newest storage that is up. */
  get #decidingOrigins(): string[] {
    const service = this.#service
    const storages = [...this.#storageOf.values()]
    const storage = storages.findLast((origin) => !this.breaker(origin).isOpen) ?? storages.at(-1)
    return storage === undefined ? [service] : [service, storage]
  }

  /** of returns the origins that a file of the account goes to. */
  of(account: Account): string[] {
    const storage = this.#storageOf.get(account)
    const service = this.#service
    return storage === undefined ? [service] : [service, storage]
  }

  breaker(origin: string): Breaker {
    const breaker = this.#breakers.get(origin) ?? new Breaker(this.#clock)
    this.#breakers.set(origin, breaker)
    return breaker
  }

  breakerOf(origin: string, account: Account): Breaker {
    const key = JSON.stringify([origin, account])
    const breaker = this.#ofAccount.get(key) ?? new Breaker(this.#clock)
    this.#ofAccount.set(key, breaker)
    return breaker
  }

  #waitMs(origin: string, account: Account): number {
    return Math.max(this.breaker(origin).waitMs(), this.breakerOf(origin, account).waitMs())
  }

  /** closed returns why an origin gets no request of this account now; `isOwn`: only this account waits. */
  closed(
    origins: readonly string[],
    account: Account,
  ): { failure: Failure; isOwn: boolean } | null {
    const closed = origins.find((origin) => this.#waitMs(origin, account) > 0)
    if (closed === undefined) return null
    const breaker = this.breaker(closed)
    const isOwn = breaker.waitMs() === 0
    const by = isOwn ? this.breakerOf(closed, account) : breaker
    return { failure: this.waiting(closed, by), isOwn }
  }

  /** waiting is the failure of a request that the breaker did not let through. */
  waiting(origin: string, breaker: Breaker): Failure {
    const { reason } = breaker.health()
    return failureOf(RULES.waiting, {
      code: 'endpoint-down',
      reason: `${origin} is not contacted until its next probe${reason === null ? '' : `: ${reason}`}`,
      origin,
      retryAfterMs: breaker.waitMs(),
    })
  }
}
