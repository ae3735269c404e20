// Owns when versions are sent: queued versions get an attempt when they are due, one version of a feed at a time. The
// history is the queue (send-queue.ts), so decisions of other processes and restarts need nothing else.
// upload/send-gate.ts decides whether an attempt may start. If not, the version records the reason and the time until
// which it waits.

import { isAbsolute } from 'node:path'
import type { RuleFor } from '../config/feeds.ts'
import { RETRIED } from '../domain/reason-codes.ts'
import type { Version } from '../history/port.ts'
import type { Log } from '../lib/log.ts'
import type { DaemonState } from '../ops/port.ts'
import type { AttemptRunner } from '../pipeline/attempt.ts'
import type { Ledger } from '../pipeline/ledger.ts'
import type { Permit, SendGate, Wait } from '../upload/send-gate.ts'
import type { SendConditions } from './send-conditions.ts'
import type { SendQueue } from './send-queue.ts'

export interface SendingParts {
  attempts: AttemptRunner
  sendConditions: SendConditions
  gate: SendGate
  ledger: Ledger
  log: Log
  sendQueue: SendQueue
  ruleFor: RuleFor
}

interface SendingNews {
  /** ended is called after each attempt, with its error if it failed. */
  ended: (error?: unknown) => void
  /**
   * freed is called when a version is stored but not recorded yet. An attempt that starts now shares the commit of that
   * record and uses the line while the disk works. It must not throw.
   */
  freed?: () => void
}

/** Begun is an attempt that the gate permits. */
interface Begun {
  version: Version
  permit: Permit
  news: SendingNews
}

export class Sending {
  readonly #attempts: AttemptRunner
  readonly #sendConditions: SendConditions
  readonly #gate: SendGate
  readonly #ledger: Ledger
  readonly #log: Log
  readonly #sendQueue: SendQueue
  readonly #ruleFor: RuleFor
  readonly #running = new Set<Promise<void>>()

  constructor(parts: SendingParts) {
    this.#attempts = parts.attempts
    this.#sendConditions = parts.sendConditions
    this.#gate = parts.gate
    this.#ledger = parts.ledger
    this.#log = parts.log
    this.#sendQueue = parts.sendQueue
    this.#ruleFor = parts.ruleFor
  }

  get running(): readonly Promise<void>[] {
    return [...this.#running]
  }

  /** start starts the due attempts for which there are places. */
  start(signal: AbortSignal, news: SendingNews): void {
    this.#sendConditions.useNewKey()
    this.#sendQueue.release()
    this.#sendConditions.showHold()
    // If no account is left that can probe an origin that is down, the accounts that have probed it probe again.
    if (!this.#startDue(signal, news) && this.#gate.origins.startProbeRound())
      this.#startDue(signal, news)
  }

  /**
   * #startDue starts due attempts. Returns false if accounts were passed over, no attempt was started, and nothing
   * probes the service now.
   */
  #startDue(signal: AbortSignal, news: SendingNews): boolean {
    const before = this.#running.size
    /** Accounts whose turn has not come: another attempt shows first whether the service and storage answer. */
    const passedOver = new Set<Version['account']>()
    for (;;) {
      const due = this.#sendQueue.due(this.#gate.places, [...passedOver])
      const waits = due.flatMap((version) => this.#begin(version, signal, news) ?? [])
      // Either no place is left, or no due version is left.
      if (waits.length === 0) return passedOver.size === 0 || this.#running.size > before
      for (const wait of waits) {
        if (wait.for !== 'turn') this.#sendQueue.postpone(wait)
        else if (wait.accounts === 'all') return true
        else for (const account of wait.accounts) passedOver.add(account)
      }
    }
  }

  /**
   * #begin starts an attempt if the gate permits it. Returns what the version waits for; null if the attempt began, or
   * if no place is free.
   */
  #begin(
    due: Version,
    signal: AbortSignal,
    news: SendingNews,
  ): Exclude<Wait, { for: 'place' }> | null {
    const version = this.#readdress(due)
    const { account, feed, reasonCode } = version
    const answer = this.#gate.tryStart({ account, feed, isForced: reasonCode === RETRIED })
    if (answer.kind === 'permit') this.#run({ version, permit: answer, news }, signal)
    return answer.kind === 'permit' || answer.for === 'place' ? null : answer
  }

  /**
   * #readdress gives a version the account of its rule, and returns the version. A file from outside the folder has the
   * rule of its feed.
   */
  #readdress(version: Version): Version {
    const { feed, path } = version
    const feedRule = isAbsolute(path) ? this.#ruleFor(path, feed) : null
    return this.#ledger.readdress(version, feedRule?.account ? feedRule : this.#ruleFor(path))
  }

  /** #run runs an attempt in the background, and gives its place back when it has ended. */
  #run({ news, permit, version }: Begun, signal: AbortSignal): void {
    const stored = () => {
      permit.stored()
      news.freed?.()
    }
    const done = this.#attempt(version, signal, stored)
      .finally(() => {
        permit[Symbol.dispose]()
        this.#running.delete(done)
      })
      .then(() => news.ended(), news.ended)
    this.#running.add(done)
  }

  /** health returns what `status` shows about the service. */
  health(): Pick<DaemonState, 'service' | 'serviceReason' | 'nextProbeAt'> {
    const { nextProbeAt, reason, state } = this.#gate.origins.health()
    const { firstRefusal, isKeySuspect } = this.#gate.accounts
    const refused = isKeySuspect ? 'credentials' : 'degraded'
    return {
      service: firstRefusal === null || state === 'down' ? state : refused,
      serviceReason: state === 'down' ? reason : (firstRefusal?.reason ?? reason),
      nextProbeAt,
    }
  }

  async #attempt(queued: Version, signal: AbortSignal, stored: () => void): Promise<void> {
    const { failure } = await this.#attempts.run(queued, signal, stored)
    this.#sendConditions.showUnreadable(queued, failure)
    // Log only the refusal that began the hold.
    if (failure === null || this.#gate.accounts.holdOf(queued.account)?.failure !== failure) return
    const { reason, hint } = failure
    const { id, feed } = queued
    this.#log.error({ event: 'service.credentials', id, feed, reason, hint }, 'credentials refused')
    this.#sendConditions.showHold()
  }
}
