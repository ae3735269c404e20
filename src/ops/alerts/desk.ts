// Decides when alerts are sent: one message with all changes since the last message, then a pause. After a message was
// sent, the history records what the receiver knows. A crash between sending and recording repeats the message, and no
// crash loses a message. senders.ts knows the programs and addresses.

import type { AlertTarget } from '../../domain/alerts.ts'
import { commandFor, hintWith } from '../../domain/command.ts'
import type { Conditions } from '../../domain/conditions.ts'
import type { History } from '../../history/port.ts'
import { type Clock, MINUTE, SECOND } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { AlertFacts } from '../port.ts'
import { changesFor, type KeyedChange, toldAfter, troublesOf } from './changes.ts'
import { alertMessage, type MessageOrigin } from './message.ts'
import { type Receiver, restoreReceivers } from './receivers.ts'
import { type AlertFailure, type SendAlert, targetName } from './senders.ts'

/** Pause between two messages to a receiver. The second message holds all changes of the pause. */
const PAUSE_MS = 30 * SECOND
/** Shortest time between two checks of the problems. */
const CHECK_GAP_MS = SECOND
/** Longest time between two checks of the problems. Some, such as a late feed, begin without a change of state. */
const CHECK_MS = 30 * SECOND
const RETRY_MS = 5 * SECOND
/** Up to this many failures in a row are retried without a report. */
const FAILURES_SHOWN = 2
const FAILED_HINT = hintWith('correct it, then', commandFor('alerts test'))
const LONGEST_RETRY_MS = 10 * MINUTE
/** This long after its start, the daemon has met every condition that still lasts. */
const CONDITIONS_KNOWN_MS = MINUTE

export class AlertDesk {
  readonly #clock: Clock
  readonly #conditions: Conditions
  readonly #facts: AlertFacts
  readonly #history: History
  readonly #log: Log
  readonly #origin: MessageOrigin
  readonly #send: SendAlert
  readonly #receivers: readonly Receiver[]
  /** True if the next check must read the problems although no other process has written to the history. */
  #hasChanged = true
  /** `dataVersion` of the history at the last check. */
  #dataVersion: number | null = null
  /** Monotonic ms. */
  #checkedAt = Number.NEGATIVE_INFINITY
  /** Monotonic ms. */
  readonly #openedAt: number
  /** Keys of the conditions that this process has met. Only these conditions can be over before CONDITIONS_KNOWN_MS. */
  readonly #met = new Set<string>()

  constructor({
    clock,
    conditions,
    facts,
    history,
    log,
    origin,
    send,
    targets,
  }: {
    clock: Clock
    conditions: Conditions
    facts: AlertFacts
    history: History
    log: Log
    origin: MessageOrigin
    send: SendAlert
    targets: readonly AlertTarget[]
  }) {
    this.#clock = clock
    this.#conditions = conditions
    this.#facts = facts
    this.#history = history
    this.#log = log
    this.#origin = origin
    this.#send = send
    this.#openedAt = clock.monotonic()
    this.#receivers = restoreReceivers(history, targets)
  }

  /** moved remembers that a version changed its state, so the next `sendDue` reads the problems. */
  moved(): void {
    this.#hasChanged = true
  }

  /** sendDue begins to send new changes if it is time. It never throws, and does not wait for the messages. */
  sendDue(signal: AbortSignal): void {
    this.#serve({ isLast: false }, signal)
  }

  /** finish waits for running messages. With `flush` it then tries to send all remaining changes once. */
  async finish({ flush, signal }: { flush: boolean; signal: AbortSignal }): Promise<void> {
    await this.#messagesEnded()
    if (flush) this.#serve({ isLast: true }, signal)
    await this.#messagesEnded()
  }

  async #messagesEnded(): Promise<void> {
    await Promise.all(this.#receivers.map(({ sending }) => sending))
  }

  /** #tryBegin returns whether it is time to read the problems, and then remembers which data was read. */
  #tryBegin(): boolean {
    const since = this.#clock.monotonic() - this.#checkedAt
    if (since < CHECK_GAP_MS) return false
    const changes = this.#history.dataVersion()
    if (!this.#hasChanged && changes === this.#dataVersion && since < CHECK_MS) return false
    this.#dataVersion = changes
    return true
  }

  /**
   * #serve starts a message to each receiver that is due. After an error of the database the next call tries again. The
   * daemon itself reports such an error.
   */
  #serve({ isLast }: { isLast: boolean }, signal: AbortSignal): void {
    if (this.#receivers.length === 0) return
    try {
      if (isLast || this.#tryBegin()) this.#sendChanges({ isLast }, signal)
    } catch (error) {
      this.#hasChanged = true
      this.#log.debug({ event: 'alert.not-looked', err: error }, 'alerts could not be checked')
    }
  }

  /** #sendChanges reads the problems and starts a message to each receiver with changes, unless one is running. */
  #sendChanges({ isLast }: { isLast: boolean }, signal: AbortSignal): void {
    this.#checkedAt = this.#clock.monotonic()
    this.#hasChanged = false
    const facts = this.#facts
    const now = troublesOf(facts.problems())
    for (const { event, key } of now.values()) if (event === 'daemon') this.#met.add(key)
    const isSettled = isLast || this.#checkedAt - this.#openedAt >= CONDITIONS_KNOWN_MS
    const isOver = (key: string) => isSettled || this.#met.has(key)
    const newestOf = (feed: string) => this.#history.newest(feed)
    for (const receiver of this.#receivers) {
      const { on } = receiver.target
      const changes = changesFor({ facts, isOver, newestOf, now, on, told: receiver.told })
      if (changes.length === 0) continue
      // The next call checks whether these changes were sent.
      this.#hasChanged = true
      const isPausing = !isLast && this.#checkedAt < receiver.notBefore
      if (receiver.sending !== null || isPausing) continue
      receiver.sending = this.#tell(receiver, changes, signal)
        // Nothing awaits this promise, so an unexpected error would end the daemon.
        .catch((error) => this.#failed(receiver, { kind: 'failed', reason: messageOf(error) }))
        .finally(() => {
          receiver.sending = null
        })
    }
  }

  async #tell(receiver: Receiver, changes: KeyedChange[], signal: AbortSignal): Promise<void> {
    const { target, sequence } = receiver
    const message = alertMessage(changes, { at: this.#clock.now(), sequence, ...this.#origin })
    const sent = await this.#send(target, message, signal)
    if (signal.aborted) return
    if (sent.kind === 'failed') return this.#failed(receiver, sent)
    receiver.failures = 0
    receiver.notBefore = this.#clock.monotonic() + PAUSE_MS
    this.#clearIfAllReached()
    receiver.sequence += 1
    receiver.told = toldAfter(receiver.told, changes)
    this.#log.info(
      { event: 'alert.sent', to: targetName(target), alert: message.event, alertId: message.id },
      'alert sent',
    )
    try {
      this.#history.keepKnownToReceiver(receiver.id, receiver)
    } catch (error) {
      this.#log.error(
        { event: 'alert.not-recorded', problem: messageOf(error) },
        'the alert was sent, but the history could not record it',
      )
    }
  }

  /** #failed plans the next try, and sets a condition if the program was stuck or the receiver failed three times. */
  #failed(receiver: Receiver, { reason, stuck = false }: AlertFailure): void {
    const name = targetName(receiver.target)
    const words = { message: `alerts do not reach ${name}: ${reason}`, hint: FAILED_HINT }
    if (stuck) this.#conditions.set('hook-stuck', words)
    else if (receiver.failures >= FAILURES_SHOWN) this.#conditions.set('alerts-failing', words)
    const waitMs = Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** receiver.failures)
    receiver.failures += 1
    receiver.notBefore = this.#clock.monotonic() + waitMs
    this.#log.warn({ event: 'alert.not-sent', to: name, reason, waitMs }, 'alert not sent')
  }

  /** #clearIfAllReached clears the conditions when every receiver can be reached. */
  #clearIfAllReached(): void {
    if (this.#receivers.some(({ failures }) => failures > 0)) return
    this.#conditions.clear('hook-stuck')
    this.#conditions.clear('alerts-failing')
  }
}
