// Decides when alerts are sent: one message with all changes that a look finds, then a pause. After a message was sent,
// the history records what the receiver knows. A crash between the two repeats a message but never loses one.
// senders.ts knows the programs and addresses.

import { hash } from 'node:crypto'
import type { AlertTarget } from '../../domain/alerts.ts'
import { commandFor, hintWith } from '../../domain/command.ts'
import type { Conditions } from '../../domain/conditions.ts'
import type {
  AlertReceivers,
  KnownToReceiver,
  Transactions,
  VersionReads,
} from '../../history/port.ts'
import { type Clock, MINUTE, SECOND } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { AlertFacts, CommandLine } from '../port.ts'
import { type Change, changesFor, toldAfter, troublesOf } from './changes.ts'
import { type AlertMessage, alertMessage } from './message.ts'
import { type Sent, targetName } from './senders.ts'

export interface AlertDeskParts {
  clock: Clock
  log: Log
  history: VersionReads & AlertReceivers & Pick<Transactions, 'dataVersion'>
  targets: readonly AlertTarget[]
  facts: AlertFacts
  conditions: Pick<Conditions, 'set' | 'clear'>
  host: string
  /** Address of the status page; null if there is none. */
  page: string | null
  commandLine: CommandLine
  send: (target: AlertTarget, message: AlertMessage, signal: AbortSignal) => Promise<Sent>
}

interface Receiver extends KnownToReceiver {
  target: AlertTarget
  /** The name under which the history keeps `told` and `sequence`. */
  id: string
  failures: number
  /** Earliest time of the next message, monotonic ms. */
  notBefore: number
  sending: Promise<void> | null
}

/** Pause between two messages to a receiver. The second one holds all changes of the pause. */
const PAUSE_MS = 30 * SECOND
const LOOK_GAP_MS = SECOND
/** Longest time between two looks: a feed becomes late, for example, without any change of a state. */
const LOOK_MS = 30 * SECOND
const RETRY_MS = 5 * SECOND
/** Up to this many failures in a row are retried without a report. */
const FAILURES_SHOWN = 2
const FAILED_HINT = hintWith('correct it, then', commandFor('alerts test'))
const LONGEST_RETRY_MS = 10 * MINUTE
/** How long after a start the daemon needs to meet every condition that still lasts. */
const CONDITIONS_KNOWN_MS = MINUTE

export class AlertDesk {
  readonly #parts: AlertDeskParts
  readonly #receivers: readonly Receiver[]
  #mayHaveChanged = true
  #dataVersion: number | null = null
  #lookedAt = Number.NEGATIVE_INFINITY
  /** Monotonic ms. */
  readonly #openedAt: number
  /** Keys of the conditions that this process has met; only these can be over before CONDITIONS_KNOWN_MS. */
  readonly #met = new Set<string>()

  constructor(parts: AlertDeskParts) {
    this.#parts = parts
    this.#openedAt = parts.clock.monotonic()
    this.#receivers = receiversOf(parts)
  }

  /** moved notes that a version changed its state. The next `look` reads and sends. */
  moved(): void {
    this.#mayHaveChanged = true
  }

  /** look sends new changes if it is time to. It never throws. Messages are sent in the background. */
  look(signal: AbortSignal): void {
    this.#serve(signal, false)
  }

  /** finish waits for running messages. With `flush` it then tries to send all remaining changes once. */
  async finish({ flush, signal }: { flush: boolean; signal: AbortSignal }): Promise<void> {
    await this.#sent()
    if (flush) this.#serve(signal, true)
    await this.#sent()
  }

  async #sent(): Promise<void> {
    await Promise.all(this.#receivers.map(({ sending }) => sending))
  }

  #isTime(): boolean {
    const { clock, history } = this.#parts
    const since = clock.monotonic() - this.#lookedAt
    if (since < LOOK_GAP_MS) return false
    const changes = history.dataVersion()
    if (!this.#mayHaveChanged && changes === this.#dataVersion && since < LOOK_MS) return false
    this.#dataVersion = changes
    return true
  }

  /** After an error of the database the next look tries again. The daemon itself reports such an error. */
  #serve(signal: AbortSignal, isLast: boolean): void {
    if (this.#receivers.length === 0) return
    try {
      if (isLast || this.#isTime()) this.#sendChanges(signal, isLast)
    } catch (error) {
      this.#mayHaveChanged = true
      this.#parts.log.debug(
        { event: 'alert.not-looked', err: error },
        'alerts could not be checked',
      )
    }
  }

  #sendChanges(signal: AbortSignal, isLast: boolean): void {
    const { clock, facts, history } = this.#parts
    this.#lookedAt = clock.monotonic()
    this.#mayHaveChanged = false
    const now = troublesOf(facts.problems())
    for (const { event, key } of now.values()) if (event === 'daemon') this.#met.add(key)
    const isSettled = isLast || this.#lookedAt - this.#openedAt >= CONDITIONS_KNOWN_MS
    const isOver = (key: string) => isSettled || this.#met.has(key)
    for (const receiver of this.#receivers) {
      const { target, told } = receiver
      const changes = changesFor(target.on, told, now, history, { ...facts, isOver })
      if (changes.length === 0) continue
      // The next look checks whether these changes were sent.
      this.#mayHaveChanged = true
      const isPausing = !isLast && this.#lookedAt < receiver.notBefore
      if (receiver.sending !== null || isPausing) continue
      receiver.sending = this.#send(receiver, changes, signal)
        // Nothing awaits this promise, so an unexpected error would end the daemon.
        .catch((error) => this.#failed(receiver, { kind: 'failed', reason: messageOf(error) }))
        .finally(() => {
          receiver.sending = null
        })
    }
  }

  async #send(receiver: Receiver, changes: Change[], signal: AbortSignal): Promise<void> {
    const { clock, commandLine, history, host, log, page, send } = this.#parts
    const { id, target, sequence } = receiver
    const message = alertMessage(changes, { at: clock.now(), commandLine, host, page, sequence })
    const sent = await send(target, message, signal)
    if (signal.aborted) return
    if (sent.kind === 'failed') return this.#failed(receiver, sent)
    receiver.failures = 0
    receiver.notBefore = clock.monotonic() + PAUSE_MS
    this.#showFailures()
    receiver.sequence += 1
    receiver.told = toldAfter(receiver.told, changes)
    log.info(
      { event: 'alert.sent', to: targetName(target), alert: message.event, alertId: message.id },
      'alert sent',
    )
    try {
      history.keepKnownToReceiver(id, receiver)
    } catch (error) {
      log.error(
        { event: 'alert.not-noted', problem: messageOf(error) },
        'alert sent, but the history could not note it',
      )
    }
  }

  #failed(receiver: Receiver, { reason, stuck = false }: Extract<Sent, { kind: 'failed' }>): void {
    const { clock, conditions, log } = this.#parts
    const name = targetName(receiver.target)
    const words = { message: `alerts do not reach ${name}: ${reason}`, hint: FAILED_HINT }
    if (stuck) conditions.set('hook-stuck', words)
    else if (receiver.failures >= FAILURES_SHOWN) conditions.set('alerts-failing', words)
    const waitMs = Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** receiver.failures)
    receiver.failures += 1
    receiver.notBefore = clock.monotonic() + waitMs
    log.warn({ event: 'alert.not-sent', to: name, reason, waitMs }, 'alert not sent')
  }

  /** Clears the conditions when every receiver can be reached. */
  #showFailures(): void {
    if (this.#receivers.some(({ failures }) => failures > 0)) return
    this.#parts.conditions.clear('hook-stuck')
    this.#parts.conditions.clear('alerts-failing')
  }
}

/** Restores each receiver from the history, which forgets the receivers that are no longer configured. */
function receiversOf({ history, targets }: Pick<AlertDeskParts, 'history' | 'targets'>) {
  const receivers = targets.map((target, index): Receiver => {
    const id = idOf(target, targets.slice(0, index))
    const known = history.knownToReceiver(id)
    return { target, id, ...known, failures: 0, notBefore: 0, sending: null }
  })
  history.forgetReceivers(receivers.map(({ id }) => id))
  return receivers
}

/** The id depends on the receiver and not on its place in the list, so it is the same after a restart. */
function idOf(target: AlertTarget, before: readonly AlertTarget[]): string {
  const identity = ({ action }: AlertTarget) =>
    action.kind === 'exec' ? JSON.stringify(action.command) : hash('sha256', action.url.reveal())
  const same = before.filter((other) => identity(other) === identity(target)).length
  return hash('sha256', `${same} ${identity(target)}`).slice(0, 16)
}
