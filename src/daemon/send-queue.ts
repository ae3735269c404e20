// The versions that wait to be sent. The history is the queue; this file reads which of them are due, and writes why
// the others wait.

import { ENDPOINT_DOWN, ON_HOLD } from '../domain/reason-codes.ts'
import type { History, Version } from '../history/port.ts'
import type { Clock } from '../lib/clock.ts'
import { isDue, isSoon, LONGEST_ATTEMPT_WAIT_MS } from '../lib/due.ts'
import { withCode } from '../pipeline/decide/sending.ts'
import type { SendGate, Wait } from '../upload/send-gate.ts'

interface SendQueueParts {
  clock: Clock
  gate: SendGate
  history: History
}

export class SendQueue {
  readonly #clock: Clock
  readonly #gate: SendGate
  readonly #history: History
  /** The ids of versions that a person has retried, until they start. */
  #retried: number[] = []
  /** The value of `gate.released` at which the waiting versions were last made due. */
  #released = 0

  constructor({ clock, gate, history }: SendQueueParts) {
    this.#clock = clock
    this.#gate = gate
    this.#history = history
  }

  /**
   * due returns due versions, retried ones first, but none of the accounts in `passedOver`. Thousands can wait after an
   * outage, so besides the retried ones it reads at most `limit`; it returns no version if `limit` is 0.
   */
  due(limit: number, passedOver: readonly Version['account'][]): Version[] {
    if (limit === 0) return []
    const now = this.#clock.now()
    const gate = this.#gate
    const pauses = this.#history.pauses(now)
    const retried = this.#retriedNow().filter(
      ({ account, feed }) =>
        pauses.of(feed) === null && !gate.feeds.has(feed) && !passedOver.includes(account),
    )
    const feeds = {
      has: (feed: string) => gate.feeds.has(feed) || pauses.of(feed) !== null,
      size: gate.feeds.size + pauses.all.length,
    }
    const others = this.#history.due(now, limit, { feeds, accounts: passedOver })
    return [...retried, ...others.filter(({ id }) => !this.#retried.includes(id))]
  }

  /** takeRequests takes the versions that other processes asked to retry at once. */
  takeRequests(): void {
    this.#retried.push(...this.#history.takeRetried())
  }

  /** #retriedNow returns the retried versions that are still due, and forgets the others. */
  #retriedNow(): Version[] {
    const versions = this.#retried.flatMap((id) => this.#history.version(id) ?? [])
    const due = versions.filter(
      ({ nextAttemptAt, state }) =>
        state === 'queued' && isDue(nextAttemptAt, this.#clock.now(), LONGEST_ATTEMPT_WAIT_MS),
    )
    this.#retried = due.map(({ id }) => id)
    return due
  }

  /** hasDue returns whether a version waits for an attempt that is due, or will be within two seconds. */
  get hasDue(): boolean {
    const now = this.#clock.now()
    const next = this.#history.nextDueAt(now)
    return this.due(1, []).length > 0 || (next !== null && isSoon(next, now))
  }

  /** postpone writes a wait to all due versions of the wait’s accounts at once: thousands can wait for one origin. */
  postpone({ accounts, failure, until, ...wait }: Extract<Wait, { until: number }>): void {
    const reason = withCode(wait.for === 'account' ? ON_HOLD : ENDPOINT_DOWN, failure)
    const now = this.#clock.now()
    this.#history.atomically(() => this.#history.postpone(accounts, { now, until, reason }))
  }

  /** release makes waiting versions due when an account or an origin answers again. */
  release(): void {
    const { released } = this.#gate
    if (released === this.#released) return
    this.#history.makeDue([ON_HOLD, ENDPOINT_DOWN])
    this.#released = released
  }
}
