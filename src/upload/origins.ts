// Origins are the service and the storages that the forms name. Each origin has a breaker for all accounts, and another
// breaker for each account, so that the failures of one account stop no other account. Pure state on the given clock.

import { type Failure, failureOf, RULES } from '../domain/decision-table.ts'
import { type Clock, SECOND } from '../lib/clock.ts'
import type { Account } from './account-holds.ts'
import { Breaker } from './breaker.ts'
import type { UploadHealth } from './port.ts'

/** WaitingAccounts are the accounts whose versions wait for an origin; `all` if they wait for the service. */
export type WaitingAccounts = readonly Account[] | 'all'

const HEALTH = ['unknown', 'ok', 'degraded', 'down'] as const

export class Origins {
  readonly #clock: Clock
  readonly #service: string
  readonly #breakers = new Map<string, Breaker>()
  /** The breakers of single accounts, by origin and account. */
  readonly #ofAccount = new Map<string, Breaker>()
  /** By account, the storage that its newest form names. The account with the newest form of all is the last. */
  readonly #storageOf = new Map<Account, string>()

  constructor(clock: Clock, service: string) {
    this.#clock = clock
    this.#service = service
  }

  isService(origin: string): boolean {
    return origin === this.#service
  }

  /** startProbeRound lets all accounts probe the origins again that are down. Returns whether any had probed. */
  startProbeRound(): boolean {
    const hadProbed = [...this.#breakers.values()].map((breaker) => breaker.startProbeRound())
    return hadProbed.includes(true)
  }

  /** accountsOf returns the accounts whose newest forms name this storage; `all` if the origin is the service. */
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

  /**
   * whyClosed returns why an attempt of this account must wait for an origin; null if it may start. An attempt that has
   * a form needs only the storage of that form (`formOrigin`).
   */
  whyClosed(account: Account, formOrigin: string | null): Failure | null {
    const origins = formOrigin === null ? this.originsOf(account) : [formOrigin]
    return this.firstClosed(origins, account)?.failure ?? null
  }

  /**
   * opensAt returns the wall ms of the next probe of an origin that is down for this account; null if requests are
   * allowed. The time is a whole second, so that all waiting versions are due together and the version with the fewest
   * attempts goes first.
   */
  opensAt(origin: string | null, account: Account): number | null {
    const waitMs = origin === null ? 0 : this.#waitMs(origin, account)
    return waitMs > 0 ? Math.ceil((this.#clock.now() + waitMs) / SECOND) * SECOND : null
  }

  /**
   * health returns the worse state of the service and of the newest storage that is up. If neither is down, it is
   * `degraded` while feeds wait for another storage, or for an origin that is down only for their account.
   */
  health(): UploadHealth {
    const worst = (all: Iterable<Breaker>) =>
      [...all]
        .map((breaker) => breaker.health())
        .reduce((a, b) => (HEALTH.indexOf(b.state) > HEALTH.indexOf(a.state) ? b : a))
    const forAll = worst(this.#decidingOrigins.map((origin) => this.breakerOf(origin)))
    const inUse = new Set([this.#service, ...this.#storageOf.values()])
    const ofOrigins = [...inUse].map((origin) => this.breakerOf(origin))
    const awaited = [...ofOrigins, ...this.#ofAccount.values()].filter((each) => each.isAwaited)
    if (forAll.state === 'down' || awaited.length === 0) return forAll
    return { ...worst(awaited), state: 'degraded', nextProbeAt: null }
  }

  /** #decidingOrigins are the service and the newest storage that is up, or the newest storage if none is up. */
  get #decidingOrigins(): string[] {
    const service = this.#service
    const storages = [...this.#storageOf.values()]
    const storage = storages.findLast((origin) => !this.breakerOf(origin).isOpen) ?? storages.at(-1)
    return storage === undefined ? [service] : [service, storage]
  }

  /** originsOf returns the service and, once the account has had a form, the storage that its newest form names. */
  originsOf(account: Account): string[] {
    const storage = this.#storageOf.get(account)
    const service = this.#service
    return storage === undefined ? [service] : [service, storage]
  }

  /** breakerOf returns the breaker of an origin for all accounts. */
  breakerOf(origin: string): Breaker {
    const breaker = this.#breakers.get(origin) ?? new Breaker(this.#clock)
    this.#breakers.set(origin, breaker)
    return breaker
  }

  /** accountBreakerOf returns the breaker that stops only the requests of this account to the origin. */
  accountBreakerOf(origin: string, account: Account): Breaker {
    const key = JSON.stringify([origin, account])
    const breaker = this.#ofAccount.get(key) ?? new Breaker(this.#clock)
    this.#ofAccount.set(key, breaker)
    return breaker
  }

  #waitMs(origin: string, account: Account): number {
    const breakers = [this.breakerOf(origin), this.accountBreakerOf(origin, account)]
    return Math.max(...breakers.map((breaker) => breaker.waitMs()))
  }

  /**
   * firstClosed returns why the first of these origins that is down for this account gets no request now; null if all
   * are up. `isOwn` is true if the origin is down only for this account.
   */
  firstClosed(
    origins: readonly string[],
    account: Account,
  ): { failure: Failure; isOwn: boolean } | null {
    const closed = origins.find((origin) => this.#waitMs(origin, account) > 0)
    if (closed === undefined) return null
    const breaker = this.breakerOf(closed)
    const isOwn = breaker.waitMs() === 0
    const closedBy = isOwn ? this.accountBreakerOf(closed, account) : breaker
    return { failure: this.waitingFor(closed, closedBy), isOwn }
  }

  /** waitingFor returns the failure of a request that the breaker of the origin does not allow now. */
  waitingFor(origin: string, breaker: Breaker): Failure {
    const { reason } = breaker.health()
    return failureOf(RULES.waiting, {
      code: 'endpoint-down',
      reason: `${origin} is not contacted until its next probe${reason === null ? '' : `: ${reason}`}`,
      origin,
      retryAfterMs: breaker.waitMs(),
    })
  }
}
