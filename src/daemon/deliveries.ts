// Owns the deliveries: accepted versions are delivered when they are due, one of each feed at a time. The history is
// the queue, so decisions of other processes and restarts need nothing else. upload/send-gate.ts decides whether a
// delivery may start. If not, the version records the reason and the time until which it waits.

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
  /** reloadKey reads the service key again. Returns whether it has changed. */
  reloadKey: () => boolean
}

export interface DeliveryNews {
  /** ended is called after each delivery, with its error if it failed. */
  ended: (error?: unknown) => void
  /**
   * freed is called when a version is stored but not recorded yet. A delivery that starts now shares the commit of that
   * record and uses the line while the disk works. It must not throw.
   */
  freed?: () => void
}

export class Deliveries {
  readonly #parts: DeliveriesParts
  readonly #running = new Set<Promise<void>>()
  /** The conditions of versions with unreadable copies, until these are tried again. */
  readonly #unreadable = new Map<number, ConditionCode>()
  /** The ids of versions that a person has retried, until they start. */
  #retried: number[] = []
  /** The value of `gate.released` at which the waiting versions were last made due. */
  #released = 0

  constructor(parts: DeliveriesParts) {
    this.#parts = parts
  }

  get running(): readonly Promise<void>[] {
    return [...this.#running]
  }

  /** start starts the due deliveries for which there are places. */
  start(signal: AbortSignal, news: DeliveryNews): void {
    const { conditions, gate, history } = this.#parts
    const isKeyWanted = gate.accounts.first !== null || conditions.has('key-unreadable')
    if (isKeyWanted && this.#hasNewKey()) gate.accounts.newKey()
    this.#release()
    this.#showHold()
    // Thousands may wait for one account: each pass reads twice as many and postpones them in one commit.
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

  /**
   * #due returns due versions, retried ones first. Thousands may wait after an outage, so besides the retried ones it
   * reads at most `limit`.
   */
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

  /** takeRequests takes the versions that other processes asked to retry at once. */
  takeRequests(): void {
    this.#retried.push(...takeRetried(this.#parts.history))
  }

  /** #retriedNow returns the retried versions that are still due, and forgets the others. */
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

  get due(): boolean {
    return this.#due(1).length > 0
  }

  /** health returns what `status` shows about the service. */
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
    // Log only the refusal that began the hold.
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
