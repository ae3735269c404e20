// SendGate decides what may be sent now. `mayStart` permits the delivery of a version, or says why and until when it
// waits. `withBreaker` decides about each request. Both use the places of upload.concurrency, the breakers of the
// origins, the accounts on hold and the bandwidth.

import { failureOf, RULES } from '../domain/decision-table.ts'
import { type Clock, SECOND } from '../lib/clock.ts'
import { type Account, AccountHolds } from './account-holds.ts'
import { Bandwidth } from './bandwidth.ts'
import { Breaker, type BreakerResult } from './breaker.ts'
import type { Failure, UploadHealth } from './port.ts'

export interface SendGateOptions {
  clock: Clock
  serviceOrigin: string
  concurrency: number
  /** The limit of all uploads together, in bytes a second; null: no limit. */
  maxRate: number | null
}

/** Permit allows the delivery of one version of a feed. Dispose of it when the delivery has ended. */
export interface Permit extends Disposable {
  kind: 'permit'
  /** stored frees the place of a stored file before its record is written. */
  stored(): void
}

/** Accounts are the accounts that a wait is about; `all`: it is about the service. */
export type Accounts = readonly Account[] | 'all'

export type Wait =
  /** Until any attempt ends. */
  | { kind: 'wait'; for: 'place' }
  /** Until another attempt shows whether the account and the origins answer. */
  | { kind: 'wait'; for: 'turn'; accounts: Accounts }
  /** `until`: wall ms. */
  | { kind: 'wait'; for: 'origin' | 'account'; accounts: Accounts; until: number; failure: Failure }

export type NotSent = { kind: 'failed'; failure: Failure } | { kind: 'aborted' }

type Applicant = { feed: string; account: Account }

interface Sending {
  account: Account
  /** The file is not stored yet. */
  isSending: boolean
  /** A request to the service has no answer yet, so it is unknown whether the service accepts the account. */
  awaitsService: boolean
  /** The delivery is to probe an origin that is down and has not done so yet. */
  isProbe: boolean
}

/** These failures need another form and prove nothing about the health of the origin. */
const ABOUT_THE_FORM: readonly unknown[] = [RULES.policyExpired, RULES.formTokenGone]

const HEALTH = ['unknown', 'ok', 'degraded', 'down'] as const

export class SendGate {
  readonly accounts: AccountHolds
  readonly bandwidth: Bandwidth | null
  readonly #options: SendGateOptions
  readonly #breakers = new Map<string, Breaker>()
  /** The breakers of single accounts, by origin and account: the failures of one account stop no other. */
  readonly #ofAccount = new Map<string, Breaker>()
  /** The storage that the newest form of each account names, the newest last: an account may have its own storage. */
  readonly #storageOf = new Map<Account, string>()
  #breakersClosed = 0
  /** The running deliveries, by feed. */
  readonly #sending = new Map<string, Sending>()

  constructor(options: SendGateOptions) {
    const { clock, maxRate } = options
    this.#options = options
    this.accounts = new AccountHolds(clock)
    this.bandwidth = maxRate === null ? null : new Bandwidth(clock, maxRate)
  }

  /** feeds are the feeds with a running delivery. */
  get feeds(): Pick<ReadonlySet<string>, 'has' | 'size'> {
    return this.#sending
  }

  /**
   * places is how many deliveries may start. A stored file frees its place before its record is written, but the
   * unwritten records may not outnumber the places.
   */
  get places(): number {
    const { concurrency } = this.#options
    const sending = this.#sending.values().reduce((n, { isSending }) => n + Number(isSending), 0)
    return Math.max(0, Math.min(concurrency - sending, 2 * concurrency - this.#sending.size))
  }

  /** released counts the ended account holds and outages: the versions that waited for them are due. */
  get released(): number {
    return this.accounts.released + this.#breakersClosed
  }

  /** mayStart returns a permit, or why the version waits. `isRetried`: a person asked, so ignore holds and breakers. */
  mayStart({ feed, account }: Applicant, isRetried: boolean): Permit | Wait {
    if (this.places === 0 || this.#sending.has(feed)) return { kind: 'wait', for: 'place' }
    const origins = this.#originsOf(account)
    const isProbe = origins.some((origin) => this.#breaker(origin).isOpen)
    if (!isRetried) {
      const wait = this.#waitFor(account, origins)
      if (wait !== null) return wait
    }
    const own = { account, isSending: true, awaitsService: true, isProbe }
    this.#sending.set(feed, own)
    return {
      kind: 'permit',
      stored: () => {
        own.isSending = false
      },
      [Symbol.dispose]: () => void this.#sending.delete(feed),
    }
  }

  #waitFor(account: Account, origins: readonly string[]): Wait | null {
    const closed = this.#closed(origins, account)
    if (closed !== null) {
      const { isOwn, failure } = closed
      const until = this.opensAt(failure.origin, account) ?? this.#options.clock.now()
      const accounts = isOwn ? [account] : this.#accountsOf(failure.origin)
      return { kind: 'wait', for: 'origin', accounts, until, failure }
    }
    const hold = this.accounts.holdOf(account)
    if (hold !== null) {
      const { failure, until } = hold
      return { kind: 'wait', for: 'account', accounts: [account], until, failure }
    }
    const others = [...this.#sending.values()]
    const down = origins.find((origin) => this.#breaker(origin).isOpen)
    if (down !== undefined && others.some((other) => other.isProbe))
      return { kind: 'wait', for: 'turn', accounts: this.#accountsOf(down) }
    // The account may be why the last probe failed, so the others probe first.
    if (down !== undefined && this.#breaker(down).hasProbed(account))
      return { kind: 'wait', for: 'turn', accounts: [account] }
    const isAsked = others.some((other) => other.awaitsService && other.account === account)
    if (isAsked && !this.accounts.isVerified(account))
      return { kind: 'wait', for: 'turn', accounts: [account] }
    return null
  }

  /** nextRound lets all accounts probe the origins that are down again. Returns whether any had probed. */
  nextRound(): boolean {
    return [...this.#breakers.values()].filter((breaker) => breaker.nextRound()).length > 0
  }

  /** #accountsOf returns the accounts whose files go to an origin. */
  #accountsOf(origin: string | null): Accounts {
    if (origin === this.#options.serviceOrigin) return 'all'
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
    const origins = formOrigin === null ? this.#originsOf(account) : [formOrigin]
    return this.#closed(origins, account)?.failure ?? null
  }

  /**
   * opensAt returns the wall ms of the next probe of an origin that is down for this account; null: requests are
   * allowed. The time is a whole second, so that all waiting versions are due together and the one with the fewest
   * attempts goes first.
   */
  opensAt(origin: string | null, account: Account): number | null {
    const waitMs = origin === null ? 0 : this.#waitMs(origin, account)
    return waitMs > 0 ? Math.ceil((this.#options.clock.now() + waitMs) / SECOND) * SECOND : null
  }

  /**
   * withBreaker sends a request if the breaker of the origin allows it, or if a person asked for it (`isForced`), and
   * passes the result to the breaker.
   */
  async withBreaker<T extends { kind: string }>(
    origin: string,
    { account, feed, isForced }: { account: Account; feed: string; isForced: boolean },
    send: () => Promise<T | NotSent>,
  ): Promise<T | NotSent> {
    const breaker = this.#breaker(origin)
    const own = this.#breakerOf(origin, account)
    const pass = breaker.enter(isForced)
    if (pass === null) return { kind: 'failed', failure: this.#waiting(origin, breaker) }
    const ownPass = own.enter(isForced)
    if (ownPass === null) {
      breaker.leave(pass, 'nothing')
      return { kind: 'failed', failure: this.#waiting(origin, own) }
    }
    const sending = this.#sending.get(feed)
    if (sending !== undefined) {
      sending.awaitsService = origin === this.#options.serviceOrigin
      // A delivery with a form probes only the storage of that form, which may be up.
      sending.isProbe &&= sending.awaitsService && !pass.isProbe
    }
    let result: BreakerResult = 'nothing'
    try {
      const sent = unlessAllAreRejected(await send(), [own, breaker], { account, feed })
      result = classify(sent)
      if (sending !== undefined && !('failure' in sent)) sending.awaitsService = false
      return sent
    } finally {
      const wereOpen = breaker.isOpen || own.isOpen
      breaker.leave(pass, result, account)
      own.leave(ownPass, result, account)
      if (wereOpen && !breaker.isOpen && !own.isOpen) this.#breakersClosed++
    }
  }

  /** health returns the worst state of the origins: `degraded` if only the storage of single accounts is down. */
  health(): UploadHealth {
    const worst = (all: Iterable<Breaker>) =>
      [...all]
        .map((breaker) => breaker.health())
        .reduce((a, b) => (HEALTH.indexOf(b.state) > HEALTH.indexOf(a.state) ? b : a))
    const ofAll = worst(this.#origins.map((origin) => this.#breaker(origin)))
    const others = [...this.#all].map((origin) => this.#breaker(origin))
    const awaited = [...others, ...this.#ofAccount.values()].filter((each) => each.isAwaited)
    if (ofAll.state === 'down' || awaited.length === 0) return ofAll
    return { ...worst(awaited), state: 'degraded', nextProbeAt: null }
  }

  /** The origins that decide the health: the service, and the newest storage that is up. */
  get #origins(): string[] {
    const { serviceOrigin } = this.#options
    const storages = [...this.#storageOf.values()]
    const storage = storages.findLast((origin) => !this.#breaker(origin).isOpen) ?? storages.at(-1)
    return storage === undefined ? [serviceOrigin] : [serviceOrigin, storage]
  }

  /** All origins in use, including the storages of single accounts. */
  get #all(): Set<string> {
    return new Set([this.#options.serviceOrigin, ...this.#storageOf.values()])
  }

  #originsOf(account: Account): string[] {
    const storage = this.#storageOf.get(account)
    const { serviceOrigin } = this.#options
    return storage === undefined ? [serviceOrigin] : [serviceOrigin, storage]
  }

  #breaker(origin: string): Breaker {
    const breaker = this.#breakers.get(origin) ?? new Breaker(this.#options.clock)
    this.#breakers.set(origin, breaker)
    return breaker
  }

  #breakerOf(origin: string, account: Account): Breaker {
    const key = JSON.stringify([origin, account])
    const breaker = this.#ofAccount.get(key) ?? new Breaker(this.#options.clock)
    this.#ofAccount.set(key, breaker)
    return breaker
  }

  #waitMs(origin: string, account: Account): number {
    const own = this.#ofAccount.get(JSON.stringify([origin, account]))
    return Math.max(this.#breaker(origin).waitMs(), own?.waitMs() ?? 0)
  }

  /** #closed returns why an origin gets no request of this account now; `isOwn`: only this account waits. */
  #closed(
    origins: readonly string[],
    account: Account,
  ): { failure: Failure; isOwn: boolean } | null {
    const closed = origins.find((origin) => this.#waitMs(origin, account) > 0)
    if (closed === undefined) return null
    const breaker = this.#breaker(closed)
    const isOwn = breaker.waitMs() === 0
    const by = isOwn ? this.#breakerOf(closed, account) : breaker
    return { failure: this.#waiting(closed, by), isOwn }
  }

  #waiting(origin: string, breaker: Breaker): Failure {
    const { reason } = breaker.health()
    return failureOf(RULES.waiting, {
      code: 'endpoint-down',
      reason: `${origin} is not contacted until its next probe${reason === null ? '' : `: ${reason}`}`,
      origin,
      retryAfterMs: breaker.waitMs(),
    })
  }
}

/** classify returns what a result means for the health of its origin. */
function classify(result: { kind: string } | NotSent): BreakerResult {
  if (result.kind === 'aborted') return 'nothing'
  if (!('failure' in result)) return 'up'
  const { failure } = result
  if (failure.origin === null) return 'nothing'
  return failure.class === 'transient' && !ABOUT_THE_FORM.includes(failure.rule) ? failure : 'up'
}

/** unlessAllAreRejected makes a refusal of all feeds temporary: no person should have to retry thousands of feeds. */
function unlessAllAreRejected<T extends { kind: string }>(
  result: T | NotSent,
  breakers: readonly Breaker[],
  { account, feed }: { account: Account; feed: string },
): T | NotSent {
  if (result.kind === 'aborted') return result
  if (!('failure' in result)) {
    for (const breaker of breakers) breaker.accepts()
    return result
  }
  const { failure } = result
  if (failure.class !== 'broken' || failure.origin === null) return result
  // A file that may be stored is not sent again without end.
  if (failure.ambiguous) return result
  // Each breaker counts the refusal.
  const isOfAll = breakers.map((breaker) => breaker.rejectsAll(feed, account)).includes(true)
  if (!isOfAll) return result
  const { class: kind, hint } = RULES.originRejectsAll
  const reason = `several feeds in a row were refused: ${failure.reason}`
  return {
    kind: 'failed',
    failure: failureOf(RULES.originRejectsAll, { ...failure, class: kind, hint, reason }),
  }
}
