// Owns whether something may be sent now: `mayStart` answers for a version whether it may start, and otherwise until
// when it waits and why; `withBreaker` decides about each request. The places of upload.concurrency, the breakers of
// the origins, the accounts on hold and the bandwidth are behind it.

import { type Clock, SECOND } from '../lib/clock.ts'
import { failureOf, RULES } from '../lib/decision-table.ts'
import { type Account, AccountHolds } from './account-holds.ts'
import { Bandwidth } from './bandwidth.ts'
import { Breaker, type BreakerResult } from './breaker.ts'
import type { Failure, UploadHealth } from './port.ts'

export interface SendGateOptions {
  clock: Clock
  serviceOrigin: string
  /** Deliveries at once. */
  concurrency: number
  /** Bytes a second of all uploads together; null: no limit. */
  maxRate: number | null
}

/** Permission to deliver one version of a feed; dispose of it when the delivery has ended. */
export interface Permit extends Disposable {
  kind: 'permit'
  /** Its file is stored: its place is free, although its record is not written yet. */
  stored(): void
}

export type Wait =
  /** `place`: until any delivery ends. `turn`: until another version has learned whether its account and origins answer. */
  | { kind: 'wait'; for: 'place' | 'turn' }
  /** `until`: wall ms. */
  | { kind: 'wait'; for: 'origin' | 'account'; until: number; failure: Failure }

export type NotSent = { kind: 'failed'; failure: Failure } | { kind: 'aborted' }

/** A version that may be sent. */
type Asking = { feed: string; account: Account }

interface Sending {
  account: Account
  /** Its file is not stored yet. */
  isSending: boolean
  /** The service has not answered what it asked last: nobody knows whether it accepts the account. */
  isAsking: boolean
  /** It shall probe an origin that is down, and has not done so yet. */
  isProbe: boolean
}

/** These end with another form, and say nothing about the health of the origin. */
const ABOUT_THE_FORM: readonly unknown[] = [RULES.policyExpired, RULES.formTokenGone]

const HEALTH = ['unknown', 'ok', 'degraded', 'down'] as const

export class SendGate {
  readonly accounts: AccountHolds
  readonly bandwidth: Bandwidth | null
  readonly #options: SendGateOptions
  readonly #breakers = new Map<string, Breaker>()
  /** Where the newest form of each account leads, the newest last: they may have storage of their own. */
  readonly #storageOf = new Map<Account, string>()
  #breakersClosed = 0
  /** By feed. */
  readonly #sending = new Map<string, Sending>()

  constructor(options: SendGateOptions) {
    const { clock, maxRate } = options
    this.#options = options
    this.accounts = new AccountHolds(clock)
    this.bandwidth = maxRate === null ? null : new Bandwidth(clock, maxRate)
  }

  /** Feeds of which a version is being delivered. */
  get feeds(): Pick<ReadonlySet<string>, 'has' | 'size'> {
    return this.#sending
  }

  /**
   * How many deliveries may start. A stored file gives back its place before its record is written, but only as many
   * records may wait as there are places.
   */
  get places(): number {
    const { concurrency } = this.#options
    const sending = this.#sending.values().reduce((n, { isSending }) => n + Number(isSending), 0)
    return Math.max(0, Math.min(concurrency - sending, 2 * concurrency - this.#sending.size))
  }

  /** Counts what ended that versions wait for: they are due. */
  get released(): number {
    return this.accounts.released + this.#breakersClosed
  }

  /** `isRetried`: a person wants it to be tried now, whatever its account and origins are up to. */
  mayStart({ feed, account }: Asking, isRetried: boolean): Permit | Wait {
    if (this.places === 0 || this.#sending.has(feed)) return { kind: 'wait', for: 'place' }
    const origins = this.#originsOf(account)
    const isProbe = origins.some((origin) => this.#breaker(origin).isOpen)
    if (!isRetried) {
      const wait = this.#waitFor(account, origins, isProbe)
      if (wait !== null) return wait
    }
    const mine = { account, isSending: true, isAsking: true, isProbe }
    this.#sending.set(feed, mine)
    return {
      kind: 'permit',
      stored: () => {
        mine.isSending = false
      },
      [Symbol.dispose]: () => void this.#sending.delete(feed),
    }
  }

  #waitFor(account: Account, origins: readonly string[], isProbe: boolean): Wait | null {
    const closed = this.#closed(origins)
    if (closed !== null) {
      const until = this.opensAt(closed.origin) ?? this.#options.clock.now()
      return { kind: 'wait', for: 'origin', until, failure: closed }
    }
    const hold = this.accounts.holdOf(account)
    if (hold !== null)
      return { kind: 'wait', for: 'account', until: hold.until, failure: hold.failure }
    const others = [...this.#sending.values()]
    const isAsked = others.some((other) => other.isAsking && other.account === account)
    const isOthersTurn =
      (isProbe && others.some((other) => other.isProbe)) ||
      (isAsked && !this.accounts.isVerified(account))
    return isOthersTurn ? { kind: 'wait', for: 'turn' } : null
  }

  /** A form of the account leads there. */
  setStorageOf(account: Account, origin: string): void {
    this.#storageOf.delete(account)
    this.#storageOf.set(account, origin)
  }

  /** Why no attempt can succeed now; null: it can. An attempt that has a form asks its storage alone. */
  closedFor(account: Account, formOrigin: string | null): Failure | null {
    return this.#closed(formOrigin === null ? this.#originsOf(account) : [formOrigin])
  }

  /**
   * Wall ms of the next probe of an origin that is down; null: it may be asked. A whole second, so that all versions
   * that wait for it are due together and the one with the fewest attempts goes first.
   */
  opensAt(origin: string | null): number | null {
    const waitMs = origin === null ? 0 : this.#breaker(origin).waitMs()
    return waitMs > 0 ? Math.ceil((this.#options.clock.now() + waitMs) / SECOND) * SECOND : null
  }

  /**
   * Sends a request if the breaker of the origin lets it through, or a person wants it (`isForced`), and tells the breaker
   * the result.
   */
  async withBreaker<T extends { kind: string }>(
    origin: string,
    { feed, isForced }: { feed: string; isForced: boolean },
    send: () => Promise<T | NotSent>,
  ): Promise<T | NotSent> {
    const breaker = this.#breaker(origin)
    const pass = breaker.enter(isForced)
    if (pass === null) return { kind: 'failed', failure: this.#waiting(origin) }
    const mine = this.#sending.get(feed)
    if (mine !== undefined) {
      mine.isAsking = origin === this.#options.serviceOrigin
      // Whoever has a form probes no storage but that one, which may be up.
      mine.isProbe &&= mine.isAsking && !pass.isProbe
    }
    let result: BreakerResult = 'nothing'
    try {
      const sent = unlessAllAreRejected(await send(), breaker, feed)
      result = classify(sent)
      if (mine !== undefined && !('failure' in sent)) mine.isAsking = false
      return sent
    } finally {
      const wasOpen = breaker.isOpen
      breaker.leave(pass, result)
      if (wasOpen && !breaker.isOpen) this.#breakersClosed++
    }
  }

  /** The worst of the origins in use. Storage of single accounts that is down is not all of the service. */
  health(): UploadHealth {
    const worst = (all: Iterable<string>) =>
      [...all]
        .map((origin) => this.#breaker(origin).health())
        .reduce((a, b) => (HEALTH.indexOf(b.state) > HEALTH.indexOf(a.state) ? b : a))
    const ofAll = worst(this.#origins)
    const others = [...this.#all].filter((origin) => this.#breaker(origin).isAwaited)
    if (ofAll.state === 'down' || others.length === 0) return ofAll
    return { ...worst(others), state: 'degraded', nextProbeAt: null }
  }

  /** What the health of the service is told by: its origin, and the newest storage that is up. */
  get #origins(): string[] {
    const { serviceOrigin } = this.#options
    const storages = [...this.#storageOf.values()]
    const storage = storages.findLast((origin) => !this.#breaker(origin).isOpen) ?? storages.at(-1)
    return storage === undefined ? [serviceOrigin] : [serviceOrigin, storage]
  }

  /** With those that are in use by single accounts. */
  get #all(): Set<string> {
    return new Set([...this.#origins, ...this.#storageOf.values()])
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

  #closed(origins: readonly string[]): Failure | null {
    const closed = origins.find((origin) => this.#breaker(origin).waitMs() > 0)
    return closed === undefined ? null : this.#waiting(closed)
  }

  #waiting(origin: string): Failure {
    const breaker = this.#breaker(origin)
    const { reason } = breaker.health()
    return failureOf(RULES.waiting, {
      code: 'endpoint-down',
      reason: `${origin} is not contacted until its next probe${reason === null ? '' : `: ${reason}`}`,
      origin,
      retryAfterMs: breaker.waitMs(),
    })
  }
}

/** What a result says of the health of its origin. */
function classify(result: { kind: string } | NotSent): BreakerResult {
  if (result.kind === 'aborted') return 'nothing'
  if (!('failure' in result)) return 'up'
  const { failure } = result
  if (failure.origin === null) return 'nothing'
  return failure.class === 'transient' && !ABOUT_THE_FORM.includes(failure.rule) ? failure : 'up'
}

/** A refusal that every feed meets is not the fault of this one: nobody should have to retry thousands of feeds. */
function unlessAllAreRejected<T extends { kind: string }>(
  result: T | NotSent,
  breaker: Breaker,
  feed: string,
): T | NotSent {
  if (result.kind === 'aborted') return result
  if (!('failure' in result)) {
    breaker.accepts()
    return result
  }
  const { failure } = result
  if (failure.class !== 'broken' || failure.origin === null || !breaker.rejectsAll(feed))
    return result
  const { class: kind, hint } = RULES.originRejectsAll
  const reason = `one feed after the other is refused: ${failure.reason}`
  return {
    kind: 'failed',
    failure: failureOf(RULES.originRejectsAll, { ...failure, class: kind, hint, reason }),
  }
}
