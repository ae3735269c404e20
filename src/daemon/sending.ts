// Owns when versions are sent: accepted versions get an attempt when they are due, one of each feed at a time. The
// history is the queue, so decisions of other processes and restarts need nothing else. upload/send-gate.ts decides
// whether an attempt may start. If not, the version records the reason and the time until which it waits.

import { isAbsolute } from 'node:path'
import type { RuleFor } from '../config/feeds.ts'
import type { ConditionCode, Conditions } from '../domain/conditions.ts'
import { ENDPOINT_DOWN, ON_HOLD, RETRIED } from '../domain/reason-codes.ts'
import type { History, Version } from '../history/port.ts'
import { takeFirst } from '../history/transitions.ts'
import { type Clock, MINUTE } from '../lib/clock.ts'
import { isDue, isSoon, LONGEST_ATTEMPT_WAIT_MS } from '../lib/due.ts'
import { FeedsyncError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { DaemonState } from '../ops/port.ts'
import type { AttemptRunner } from '../pipeline/attempt.ts'
import { withCode } from '../pipeline/decide/sending.ts'
import type { Ledger } from '../pipeline/ledger.ts'
import type { Failure } from '../upload/port.ts'
import type { Permit, SendGate, Wait } from '../upload/send-gate.ts'

export interface SendingParts {
  attempts: AttemptRunner
  clock: Clock
  conditions: Conditions
  gate: SendGate
  history: History
  ledger: Ledger
  log: Log
  ruleFor: RuleFor
  /** reloadKey reads the service key again. Returns whether it has changed. */
  reloadKey: () => boolean
}

export interface SendingNews {
  /** ended is called after each attempt, with its error if it failed. */
  ended: (error?: unknown) => void
  /**
   * freed is called when a version is stored but not recorded yet. An attempt that starts now shares the commit of that
   * record and uses the line while the disk works. It must not throw.
   */
  freed?: () => void
}

export class Sending {
  readonly #parts: SendingParts
  readonly #running = new Set<Promise<void>>()
  /** The conditions of versions with unreadable copies, until these are tried again. */
  readonly #unreadable = new Map<number, ConditionCode>()
  /** The ids of versions that a person has retried, until they start. */
  #first: number[] = []
  /** The value of `gate.released` at which the waiting versions were last made due. */
  #released = 0

  constructor(parts: SendingParts) {
    this.#parts = parts
  }

  get running(): readonly Promise<void>[] {
    return [...this.#running]
  }

  /** start starts the due attempts for which there are places. */
  start(signal: AbortSignal, news: SendingNews): void {
    const { conditions, gate } = this.#parts
    const isKeyWanted = gate.accounts.first !== null || conditions.has('key-unreadable')
    if (isKeyWanted && this.#hasNewKey()) gate.accounts.newKey()
    this.#release()
    this.#showHold()
    // When nobody else can probe an origin that is down, those who have probed it are asked again.
    if (!this.#startDue(signal, news) && gate.origins.nextRound()) this.#startDue(signal, news)
  }

  /** #startDue starts due attempts. Returns whether there was nothing to pass over, or an attempt was started. */
  #startDue(signal: AbortSignal, news: SendingNews): boolean {
    const { gate } = this.#parts
    const before = this.#running.size
    /** Accounts whose turn has not come: another attempt shows first whether the service and storage answer. */
    const passedOver = new Set<Version['account']>()
    for (;;) {
      const due = this.#due(gate.places, [...passedOver])
      const waits = due.flatMap((version) => this.#begin(version, signal, news) ?? [])
      // Started versions leave no place, or there were fewer due versions than places.
      if (waits.length === 0) return passedOver.size === 0 || this.#running.size > before
      for (const wait of waits) {
        if (wait.for !== 'turn') this.#postpone(wait)
        else if (wait.accounts === 'all') return true
        else for (const account of wait.accounts) passedOver.add(account)
      }
    }
  }

  /** #begin starts an attempt if the gate permits it, and returns why not otherwise. */
  #begin(
    due: Version,
    signal: AbortSignal,
    news: SendingNews,
  ): Exclude<Wait, { for: 'place' }> | null {
    const { gate } = this.#parts
    const version = this.#addressed(due)
    const { account, feed, reasonCode } = version
    const answer = gate.mayStart({ account, feed, isRetried: reasonCode === RETRIED })
    if (answer.kind === 'permit') this.#run(version, answer, signal, news)
    return answer.kind === 'permit' || answer.for === 'place' ? null : answer
  }

  /** #postpone writes one wait for all due versions of its accounts: thousands may wait for one origin. */
  #postpone({ accounts, failure, until, ...wait }: Extract<Wait, { until: number }>): void {
    const { clock, history } = this.#parts
    const reason = withCode(wait.for === 'account' ? ON_HOLD : ENDPOINT_DOWN, failure)
    history.atomically(() => history.postpone(accounts, { now: clock.now(), until, reason }))
  }

  /** #addressed returns the version with the account of its rule. A file from elsewhere has the rule of its feed. */
  #addressed(version: Version): Version {
    const { ledger, ruleFor } = this.#parts
    const { feed, path } = version
    const named = isAbsolute(path) ? ruleFor(path, feed) : null
    return ledger.addressed(version, named?.account ? named : ruleFor(path))
  }

  /**
   * #due returns due versions, retried ones first. Thousands may wait after an outage, so besides the retried ones it
   * reads at most `limit`.
   */
  #due(limit: number, passedOver: readonly Version['account'][]): Version[] {
    const { clock, gate, history } = this.#parts
    if (limit === 0) return []
    const pauses = history.pauses(clock.now())
    const first = this.#firstNow().filter(
      ({ account, feed }) =>
        pauses.of(feed) === null && !gate.feeds.has(feed) && !passedOver.includes(account),
    )
    const feeds = {
      has: (feed: string) => gate.feeds.has(feed) || pauses.of(feed) !== null,
      size: gate.feeds.size + pauses.all.length,
    }
    const others = history.due(clock.now(), limit, { feeds, accounts: passedOver })
    return [...first, ...others.filter(({ id }) => !this.#first.includes(id))]
  }

  /** takeRequests takes the versions that other processes asked to retry at once. */
  takeRequests(): void {
    this.#first.push(...takeFirst(this.#parts.history))
  }

  /** #firstNow returns the retried versions that are still due, and forgets the others. */
  #firstNow(): Version[] {
    const { clock, history } = this.#parts
    const versions = this.#first.flatMap((id) => history.version(id) ?? [])
    const due = versions.filter(
      ({ nextAttemptAt, state }) =>
        state === 'queued' && isDue(nextAttemptAt, clock.now(), LONGEST_ATTEMPT_WAIT_MS),
    )
    this.#first = due.map(({ id }) => id)
    return due
  }

  #run(version: Version, permit: Permit, signal: AbortSignal, { ended, freed }: SendingNews): void {
    const stored = () => {
      permit.stored()
      freed?.()
    }
    const done = this.#attempt(version, signal, stored)
      .finally(() => {
        permit[Symbol.dispose]()
        this.#running.delete(done)
      })
      .then(() => ended(), ended)
    this.#running.add(done)
  }

  /** hasDue returns whether a version waits for an attempt that is due, or will be within two seconds. */
  get hasDue(): boolean {
    const { clock, history } = this.#parts
    const now = clock.now()
    const next = history.nextDueAt(now)
    return this.#due(1, []).length > 0 || (next !== null && isSoon(next, now))
  }

  /** health returns what `status` shows about the service. */
  health(): Pick<DaemonState, 'service' | 'serviceReason' | 'nextProbeAt'> {
    const { gate } = this.#parts
    const { nextProbeAt, reason, state } = gate.origins.health()
    const { first, isOfKey } = gate.accounts
    const refused = isOfKey ? 'credentials' : 'degraded'
    return {
      service: first === null || state === 'down' ? state : refused,
      serviceReason: state === 'down' ? reason : (first?.reason ?? reason),
      nextProbeAt,
    }
  }

  async #attempt(queued: Version, signal: AbortSignal, stored: () => void): Promise<void> {
    const { attempts, gate, log } = this.#parts
    const { failure } = await attempts.run(queued, signal, stored)
    this.#showUnreadable(queued, failure)
    // Log only the refusal that began the hold.
    if (failure === null || gate.accounts.holdOf(queued.account)?.failure !== failure) return
    const { reason, hint } = failure
    const { id, feed } = queued
    log.error({ event: 'service.credentials', id, feed, reason, hint }, 'credentials refused')
    this.#showHold()
  }

  /** #release makes waiting versions due when an account or an origin answers again. */
  #release(): void {
    const { gate, history } = this.#parts
    const { released } = gate
    if (released === this.#released) return
    history.makeDue([ON_HOLD, ENDPOINT_DOWN])
    this.#released = released
  }

  /** #showUnreadable sets or clears the condition of a copy that cannot be read, which is a fault of our own disk. */
  #showUnreadable({ id }: Version, failure: Failure | null): void {
    const { conditions } = this.#parts
    const known = this.#unreadable.get(id)
    this.#unreadable.delete(id)
    if (failure?.condition !== undefined) {
      const { condition, hint, reason: message } = failure
      this.#unreadable.set(id, condition)
      // The condition expires, because a newer version may replace this one, and then nobody reads its copy again.
      conditions.set(condition, { message, hint }, LONGEST_ATTEMPT_WAIT_MS + MINUTE)
    } else if (known !== undefined && ![...this.#unreadable.values()].includes(known)) {
      conditions.clear(known)
    }
  }

  /** #showHold sets the condition of refused credentials, which stays until a try succeeds. */
  #showHold(): void {
    const { conditions, gate } = this.#parts
    const { isOfKey, isTrusted, refusal } = gate.accounts
    if (refusal !== null) {
      const { reason: message, hint, mark } = refusal
      conditions.clear(isOfKey ? 'account-refused' : 'credentials')
      conditions.set(isOfKey ? 'credentials' : 'account-refused', { message, hint, mark })
    } else if (isTrusted) {
      conditions.clear('credentials')
      conditions.clear('account-refused')
    }
  }

  /**
   * #hasNewKey returns whether the key file has a new key. An unusable key sets a condition, and the present key stays
   * in use until the file changes again.
   */
  #hasNewKey(): boolean {
    const { conditions, reloadKey } = this.#parts
    try {
      const isNew = reloadKey()
      if (isNew) conditions.clear('key-unreadable')
      return isNew
    } catch (error) {
      if (!(error instanceof FeedsyncError)) throw error
      conditions.set('key-unreadable', error)
      return false
    }
  }
}
