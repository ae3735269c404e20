// SendGate decides what may be sent now. `tryStart` begins the delivery of a version, or says why and until when it
// waits. `withBreaker` decides about each request. Both use the places of upload.concurrency, the breakers of the
// origins, the accounts on hold and the bandwidth.

import { type Failure, failureOf, RULES } from '../domain/decision-table.ts'
import type { Clock } from '../lib/clock.ts'
import { type Account, AccountHolds } from './account-holds.ts'
import { Bandwidth } from './bandwidth.ts'
import type { Breaker, BreakerResult } from './breaker.ts'
import { Origins, type WaitingAccounts } from './origins.ts'

/** Permit allows the delivery of one version of a feed. Dispose of it when the delivery has ended. */
export interface Permit extends Disposable {
  kind: 'permit'
  /** stored frees the place of a stored file before its record is written. */
  stored(): void
}

export type Wait =
  /** Until any attempt ends. */
  | { kind: 'wait'; for: 'place' }
  /** Until another attempt shows whether the account and the origins answer. */
  | { kind: 'wait'; for: 'turn'; accounts: WaitingAccounts }
  /** `until`: wall ms. */
  | {
      kind: 'wait'
      for: 'origin' | 'account'
      accounts: WaitingAccounts
      until: number
      failure: Failure
    }

export type NotSent = { kind: 'failed'; failure: Failure } | { kind: 'aborted' }

interface Applicant {
  feed: string
  account: Account
  /** See `Parcel`. */
  isForced: boolean
}

interface RunningDelivery {
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

export class SendGate {
  readonly accounts: AccountHolds
  readonly bandwidth: Bandwidth | null
  readonly origins: Origins
  readonly #clock: Clock
  readonly #concurrency: number
  #breakersClosed = 0
  /** The running deliveries, by feed. */
  readonly #sending = new Map<string, RunningDelivery>()

  constructor({
    clock,
    concurrency,
    maxRate,
    serviceOrigin,
  }: {
    clock: Clock
    concurrency: number
    /** The limit of all uploads together, in bytes a second; null means no limit. */
    maxRate: number | null
    serviceOrigin: string
  }) {
    this.#clock = clock
    this.#concurrency = concurrency
    this.origins = new Origins(clock, serviceOrigin)
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
    const concurrency = this.#concurrency
    const sending = this.#sending.values().reduce((n, { isSending }) => n + Number(isSending), 0)
    return Math.max(0, Math.min(concurrency - sending, 2 * concurrency - this.#sending.size))
  }

  /** released counts the ended account holds and outages: the versions that waited for them are due. */
  get released(): number {
    return this.accounts.released + this.#breakersClosed
  }

  /** tryStart takes a place for the delivery and returns its permit, or returns why the version waits. */
  tryStart({ account, feed, isForced }: Applicant): Permit | Wait {
    if (this.places === 0 || this.#sending.has(feed)) return { kind: 'wait', for: 'place' }
    const origins = this.origins.of(account)
    const isProbe = origins.some((origin) => this.origins.breaker(origin).isOpen)
    if (!isForced) {
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
    const closed = this.origins.closed(origins, account)
    if (closed !== null) {
      const { isOwn, failure } = closed
      const until = this.origins.opensAt(failure.origin, account) ?? this.#clock.now()
      const accounts = isOwn ? [account] : this.origins.accountsOf(failure.origin)
      return { kind: 'wait', for: 'origin', accounts, until, failure }
    }
    const hold = this.accounts.holdOf(account)
    if (hold !== null) {
      const { failure, until } = hold
      return { kind: 'wait', for: 'account', accounts: [account], until, failure }
    }
    const others = [...this.#sending.values()]
    const down = origins.find((origin) => this.origins.breaker(origin).isOpen)
    if (down !== undefined && others.some((other) => other.isProbe))
      return { kind: 'wait', for: 'turn', accounts: this.origins.accountsOf(down) }
    // The account might be why the last probe failed, so the others probe first.
    if (down !== undefined && this.origins.breaker(down).hasProbed(account))
      return { kind: 'wait', for: 'turn', accounts: [account] }
    const isAsked = others.some((other) => other.awaitsService && other.account === account)
    if (isAsked && !this.accounts.isVerified(account))
      return { kind: 'wait', for: 'turn', accounts: [account] }
    return null
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
    const breaker = this.origins.breaker(origin)
    const own = this.origins.breakerOf(origin, account)
    const pass = isForced ? breaker.force() : breaker.enter()
    if (pass === null) return { kind: 'failed', failure: this.origins.waiting(origin, breaker) }
    const ownPass = isForced ? own.force() : own.enter()
    if (ownPass === null) {
      breaker.leave(pass, 'nothing')
      return { kind: 'failed', failure: this.origins.waiting(origin, own) }
    }
    const sending = this.#sending.get(feed)
    if (sending !== undefined) {
      sending.awaitsService = this.origins.isService(origin)
      // A delivery with a form probes only the storage of that form, which might be up.
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
    for (const breaker of breakers) breaker.forgetRejected()
    return result
  }
  const { failure } = result
  if (failure.class !== 'broken' || failure.origin === null) return result
  // A file that might be stored is not sent again without end.
  if (failure.ambiguous) return result
  // Each breaker counts the refusal.
  const isOfAll = breakers.map((breaker) => breaker.countRejected(feed, account)).includes(true)
  if (!isOfAll) return result
  const { class: kind, hint } = RULES.originRejectsAll
  const reason = `several feeds in a row were refused: ${failure.reason}`
  return {
    kind: 'failed',
    failure: failureOf(RULES.originRejectsAll, { ...failure, class: kind, hint, reason }),
  }
}
