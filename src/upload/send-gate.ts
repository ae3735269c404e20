// SendGate decides what may be sent now. `tryStart` begins the delivery of a version, or says what the version waits
// for: a place, an origin, its account or its turn. `withBreaker` decides about each request of a delivery.

import { type Failure, failureOf, RULES } from '../domain/decision-table.ts'
import type { Clock } from '../lib/clock.ts'
import { type Account, AccountHolds } from './account-holds.ts'
import { Bandwidth } from './bandwidth.ts'
import type { Breaker, BreakerResult } from './breaker.ts'
import { Origins, type WaitingAccounts } from './origins.ts'

/** Permit allows the delivery of one version of a feed. Dispose of it when the delivery has ended. */
export interface Permit extends Disposable {
  kind: 'permit'
  /** Call stored when storage has the file. It frees the place before the delivery is recorded and has ended. */
  stored(): void
}

export type Wait =
  /** The version waits until any attempt ends. */
  | { kind: 'wait'; for: 'place' }
  /** The version waits until another attempt shows whether the service accepts the account and the origins answer. */
  | { kind: 'wait'; for: 'turn'; accounts: WaitingAccounts }
  /** The version waits until `until` (wall ms). */
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
  /** True if a person asked for an attempt now: the delivery waits only for a place. */
  isForced: boolean
}

interface RunningDelivery {
  account: Account
  /** True until the file is stored. */
  isSending: boolean
  /** True until the service has given a form: before that, nobody knows whether the service accepts the account. */
  awaitsService: boolean
  /** True while the delivery is expected to probe an origin that is down. */
  isProbe: boolean
}

/** These failures need another form. They prove nothing against the health of the origin. */
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

  /** released counts the ended account holds and outages. When it grows, the versions that waited for these are due. */
  get released(): number {
    return this.accounts.released + this.#breakersClosed
  }

  /** tryStart takes a place for the delivery and returns its permit, or returns what the version waits for. */
  tryStart({ account, feed, isForced }: Applicant): Permit | Wait {
    if (this.places === 0 || this.#sending.has(feed)) return { kind: 'wait', for: 'place' }
    const origins = this.origins.originsOf(account)
    const isProbe = origins.some((origin) => this.origins.breakerOf(origin).isOpen)
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

  /** #waitFor returns what a version of the account, which needs these origins, waits for; null if it may start. */
  #waitFor(account: Account, origins: readonly string[]): Wait | null {
    const closed = this.origins.firstClosed(origins, account)
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
    const down = origins.find((origin) => this.origins.breakerOf(origin).isOpen)
    if (down !== undefined && others.some((other) => other.isProbe))
      return { kind: 'wait', for: 'turn', accounts: this.origins.accountsOf(down) }
    // The account might be why the last probe failed, so the others probe first.
    if (down !== undefined && this.origins.breakerOf(down).hasProbed(account))
      return { kind: 'wait', for: 'turn', accounts: [account] }
    const isTested = others.some((other) => other.awaitsService && other.account === account)
    if (isTested && !this.accounts.isVerified(account))
      return { kind: 'wait', for: 'turn', accounts: [account] }
    return null
  }

  /**
   * withBreaker calls `send` if both breakers of the origin, for all accounts and for this account, allow a request, or
   * if a person asked for it (`isForced`); otherwise it returns the failure `waiting`. The breakers learn the result. A
   * refusal of several feeds in a row becomes a temporary failure.
   */
  async withBreaker<T extends { kind: string }>(
    origin: string,
    { account, feed, isForced }: { account: Account; feed: string; isForced: boolean },
    send: () => Promise<T | NotSent>,
  ): Promise<T | NotSent> {
    const breaker = this.origins.breakerOf(origin)
    const own = this.origins.accountBreakerOf(origin, account)
    const pass = isForced ? breaker.force() : breaker.enter()
    if (pass === null) return { kind: 'failed', failure: this.origins.waitingFor(origin, breaker) }
    const ownPass = isForced ? own.force() : own.enter()
    if (ownPass === null) {
      breaker.leave(pass, 'nothing')
      return { kind: 'failed', failure: this.origins.waitingFor(origin, own) }
    }
    const delivery = this.#sending.get(feed)
    if (delivery !== undefined) {
      delivery.awaitsService = this.origins.isService(origin)
      // The breaker now counts a probe of this origin. A delivery to storage has a form, and probes no other origin.
      if (pass.isProbe || !delivery.awaitsService) delivery.isProbe = false
    }
    let result: BreakerResult = 'nothing'
    try {
      const sent = countRefusal(await send(), [own, breaker], { account, feed })
      result = breakerResultOf(sent)
      if (delivery !== undefined && !('failure' in sent)) delivery.awaitsService = false
      return sent
    } finally {
      const wereOpen = breaker.isOpen || own.isOpen
      breaker.leave(pass, result, account)
      own.leave(ownPass, result, account)
      if (wereOpen && !breaker.isOpen && !own.isOpen) this.#breakersClosed++
    }
  }
}

/** breakerResultOf returns what the result of a request means for the health of its origin. */
function breakerResultOf(result: { kind: string } | NotSent): BreakerResult {
  if (result.kind === 'aborted') return 'nothing'
  if (!('failure' in result)) return 'up'
  const { failure } = result
  if (failure.origin === null) return 'nothing'
  return failure.class === 'transient' && !ABOUT_THE_FORM.includes(failure.rule) ? failure : 'up'
}

/**
 * countRefusal counts the feed as refused in each breaker; a success forgets the refused feeds. It returns the result,
 * or a temporary failure if all feeds are refused: no person should have to retry thousands of feeds.
 */
function countRefusal<T extends { kind: string }>(
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
  // A temporary failure has no last attempt, and a file that might be stored must not be sent again without end.
  if (failure.ambiguous) return result
  // `map` instead of `some`: each breaker has to count the refusal.
  const refusesAll = breakers.map((breaker) => breaker.countRejected(feed, account)).includes(true)
  if (!refusesAll) return result
  const { class: kind, hint } = RULES.originRejectsAll
  const reason = `several feeds in a row were refused: ${failure.reason}`
  return {
    kind: 'failed',
    failure: failureOf(RULES.originRejectsAll, { ...failure, class: kind, hint, reason }),
  }
}
