// The way out: accepted versions are delivered as they fall due, one of a feed at a time. The queue is the history
// itself, so that a decision of another process or a restart needs nothing else. upload/send-gate.ts says whether one
// may start; until when it waits otherwise, and why, is on record with its version.

import { takeRetried } from '../history/decisions.ts'
import type { Version } from '../history/port.ts'
import { ENDPOINT_DOWN, ON_HOLD, RETRIED } from '../history/reason-codes.ts'
import { MINUTE } from '../lib/clock.ts'
import type { ConditionCode } from '../lib/conditions.ts'
import { isDue, LONGEST_ATTEMPT_WAIT_MS } from '../lib/due.ts'
import { FeedsyncError } from '../lib/errors.ts'
import type { DaemonState } from '../ops/port.ts'
import type { Parts } from '../pipeline/parts.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import { reasonOf } from '../pipeline/record-outcome.ts'
import type { Hold } from '../upload/account-holds.ts'
import type { Failure } from '../upload/port.ts'
import type { Permit, SendGate } from '../upload/send-gate.ts'

export interface DeliveriesParts extends Parts {
  pipeline: Pipeline
  gate: SendGate
  /** Reads the service key again; true when it is another one than before. */
  reloadKey: () => boolean
}

/** What is told of deliveries while they go on. */
export interface DeliveryNews {
  /** After each, with the error that it met. */
  ended: (error?: unknown) => void
  /**
   * One is stored and its record is about to be written: what starts now shares that commit, and the
   * line is not idle while the disk works. Must not throw.
   */
  freed?: () => void
}

export class Deliveries {
  readonly #parts: DeliveriesParts
  readonly #running = new Set<Promise<void>>()
  /** Versions whose copies cannot be read, until they are tried again. */
  readonly #unreadable = new Map<number, ConditionCode>()
  /** What a person has retried, until it is started. */
  #retried: number[] = []
  /** Up to which of them the waits that ended are on record. */
  #released = 0

  constructor(parts: DeliveriesParts) {
    this.#parts = parts
  }

  get running(): readonly Promise<void>[] {
    return [...this.#running]
  }

  /** Starts what is due and fits. */
  start(signal: AbortSignal, news: DeliveryNews): void {
    const { conditions, gate, history } = this.#parts
    const isKeyWanted = gate.accounts.first !== null || conditions.has('key-unreadable')
    if (isKeyWanted && this.#hasNewKey()) gate.accounts.newKey()
    this.#release()
    this.#showHold()
    // Thousands may wait for one account: each look reads twice as many, and puts them off in one commit.
    for (let more = 0; ; ) {
      const limit = gate.places + more
      const due = this.#due(limit).map((version) => this.#parts.pipeline.addressed(version))
      const waits: (() => void)[] = []
      let passedOver = 0
      for (const version of due) {
        const answer = gate.mayStart(version, version.reasonCode === RETRIED)
        if (answer.kind === 'permit') this.#run(version, answer, signal, news)
        else if (answer.for === 'turn') passedOver += 1
        else if ('until' in answer) {
          const code = answer.for === 'account' ? ON_HOLD : ENDPOINT_DOWN
          waits.push(() => this.#wait(version, answer, code))
        }
      }
      if (waits.length > 0) history.atomically(() => waits.forEach((wait) => void wait()))
      const isAll = due.length < limit || waits.length + passedOver === 0
      if (isAll || gate.places === 0) return
      more = 2 * more + waits.length + passedOver
    }
  }

  /** Thousands may wait after an outage: no more of them are read than `limit`, and what a person has retried. */
  #due(limit: number): Version[] {
    const { clock, gate, history } = this.#parts
    if (gate.places === 0) return []
    const pauses = history.pauses(clock.now())
    const retried = this.#retriedNow().filter(({ feed }) => pauses.of(feed) === null)
    const others = history.due(clock.now(), limit, {
      has: (feed) => gate.feeds.has(feed) || pauses.of(feed) !== null,
      size: gate.feeds.size + pauses.all.length,
    })
    return [...retried, ...others.filter(({ id }) => !this.#retried.includes(id))]
  }

  /** Does at once what other processes asked for (`retry`). */
  takeRequests(): void {
    this.#retried.push(...takeRetried(this.#parts.history))
  }

  /** They go first. */
  #retriedNow(): Version[] {
    const { clock, history } = this.#parts
    const versions = this.#retried.flatMap((id) => history.version(id) ?? [])
    const due = versions.filter(
      ({ nextAttemptAt, state }) =>
        state === 'queued' && isDue(nextAttemptAt, clock.now(), LONGEST_ATTEMPT_WAIT_MS),
    )
    this.#retried = due.map(({ id }) => id)
    return due
  }

  #run(
    version: Version,
    permit: Permit,
    signal: AbortSignal,
    { ended, freed }: DeliveryNews,
  ): void {
    const stored = () => {
      permit.stored()
      freed?.()
    }
    const done = this.#deliver(version, signal, stored)
      .finally(() => {
        permit[Symbol.dispose]()
        this.#running.delete(done)
      })
      .then(() => ended(), ended)
    this.#running.add(done)
  }

  /** True when something is due that could be started. */
  get due(): boolean {
    return this.#due(1).length > 0
  }

  /** What `status` tells of the service. */
  health(): Pick<DaemonState, 'service' | 'serviceReason' | 'nextProbeAt'> {
    const { gate } = this.#parts
    const { nextProbeAt, reason, state } = gate.health()
    const { first, isOfKey } = gate.accounts
    const refused = isOfKey ? 'credentials' : 'degraded'
    return {
      service: first === null || state === 'down' ? state : refused,
      serviceReason: state === 'down' ? reason : (first?.reason ?? reason),
      nextProbeAt,
    }
  }

  async #deliver(version: Version, signal: AbortSignal, stored: () => void): Promise<void> {
    const { gate, history, log, pipeline } = this.#parts
    const result = await pipeline.deliver(version, signal, stored)
    this.#showUnreadable(version, result.kind === 'later' ? result.failure : null)
    if (result.kind !== 'credentials') return
    const hold = gate.accounts.holdOf(version.account)
    const present = history.version(version.id)
    if (hold !== null && present?.state === 'queued') this.#wait(present, hold, ON_HOLD)
    // The refusals after the one that began the hold are no news.
    if (hold?.failure !== result.failure) return
    const { reason, hint } = result.failure
    const { id, feed } = version
    log.error({ event: 'service.credentials', id, feed, reason, hint }, 'credentials refused')
    this.#showHold()
  }

  #wait({ id }: Version, { failure, until }: Pick<Hold, 'failure' | 'until'>, code: string): void {
    const reason = { ...reasonOf(failure), code }
    this.#parts.history.update(id, { nextAttemptAt: until }, reason)
  }

  /** What waits for an account or an origin is due once one of them answers again. */
  #release(): void {
    const { gate, history } = this.#parts
    const { released } = gate
    if (released === this.#released) return
    history.makeDue([ON_HOLD, ENDPOINT_DOWN])
    this.#released = released
  }

  /** A copy of ours that cannot be read: nothing about the service or the feed. */
  #showUnreadable({ id }: Version, failure: Failure | null): void {
    const { conditions } = this.#parts
    const known = this.#unreadable.get(id)
    this.#unreadable.delete(id)
    if (failure?.condition !== undefined) {
      const { condition, hint, reason: message } = failure
      this.#unreadable.set(id, condition)
      // Other versions of the feed may take its place, and then nobody asks for it again.
      conditions.set(condition, { message, hint }, LONGEST_ATTEMPT_WAIT_MS + MINUTE)
    } else if (known !== undefined && ![...this.#unreadable.values()].includes(known)) {
      conditions.clear(known)
    }
  }

  /** While refused credentials are tried again, nobody knows whether they are good. */
  #showHold(): void {
    const { conditions, gate } = this.#parts
    const { first, isOfKey, isTrusted } = gate.accounts
    if (first !== null) {
      const { reason: message, hint } = first
      const severity = isOfKey ? 'critical' : 'warning'
      conditions.set('credentials', { message, hint, severity })
    } else if (isTrusted) conditions.clear('credentials')
  }

  /** A key that cannot be used is said; the one in use stays, and the file is read again when it changes. */
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
