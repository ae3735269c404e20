// When alerts leave: one message for all that a look finds, soon, and then a pause. What each receiver was told is kept in
// the history and written once it was told: a crash in between repeats one message, never loses one.
// Knows neither programs nor addresses; those are the senders'.

import { hash } from 'node:crypto'
import type { Notes, Transactions, VersionReads } from '../../history/port.ts'
import { type Clock, MINUTE, SECOND } from '../../lib/clock.ts'
import type { Conditions } from '../../lib/conditions.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { AlertFacts, AlertTarget, CommandLine } from '../port.ts'
import { type Change, changesFor, type Told, toldAfter, troublesOf } from './changes.ts'
import { type AlertMessage, alertMessage } from './message.ts'
import { type Sent, targetName } from './senders.ts'

export interface AlertDeskParts {
  clock: Clock
  log: Log
  history: VersionReads & Notes & Pick<Transactions, 'atomically' | 'dataVersion'>
  targets: readonly AlertTarget[]
  facts: AlertFacts
  conditions: Pick<Conditions, 'set' | 'clear'>
  host: string
  commandLine: CommandLine
  send: (target: AlertTarget, message: AlertMessage, signal: AbortSignal) => Promise<Sent>
}

interface Receiver {
  target: AlertTarget
  /** Under which the history remembers what it was told. */
  note: string
  told: Told
  /** Messages that it has had. */
  sequence: number
  failures: number
  /** Monotonic ms of its next message at the earliest. */
  notBefore: number
  sending: Promise<void> | null
}

/** What the history keeps of a receiver. */
type Noted = Pick<Receiver, 'told' | 'sequence'>

const NOTE = 'alerts '
const NOTHING = '{"told":{},"sequence":0}'
/** Between two messages to a receiver: what happens meanwhile is in the second one. */
const PAUSE_MS = 30 * SECOND
const LOOK_GAP_MS = SECOND
/** What no change of state announces, such as a feed that is late, is seen within this time. */
const LOOK_MS = 30 * SECOND
const RETRY_MS = 5 * SECOND
/** One or two failures are retried and not reported. */
const FAILURES_SHOWN = 2
const FAILED_HINT = 'correct it, then: feedsyncd alerts test'
const LONGEST_RETRY_MS = 10 * MINUTE
/** After a start: a cause that lasts was met again by then. */
const CONDITIONS_KNOWN_MS = MINUTE

export class AlertDesk {
  readonly #parts: AlertDeskParts
  readonly #receivers: readonly Receiver[]
  #mayHaveChanged = true
  #dataVersion: number | null = null
  #lookedAt = Number.NEGATIVE_INFINITY
  /** Monotonic ms. */
  readonly #openedAt: number
  /** Keys of the conditions that this process has met. */
  readonly #met = new Set<string>()

  constructor(parts: AlertDeskParts) {
    this.#parts = parts
    this.#openedAt = parts.clock.monotonic()
    this.#receivers = receiversOf(parts)
  }

  /** A version changed its state; nothing is read or sent before the next `look`. */
  moved(): void {
    this.#mayHaveChanged = true
  }

  /** Sends what is new, when it is time to. Never throws; sending goes on in the background. */
  look(signal: AbortSignal): void {
    this.#serve(signal, false)
  }

  /** Waits for what is being sent. `flush`: first sends all that is left, once. */
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

  /** Where the database has a problem, the daemon reports it; alerts are looked at again later. */
  #serve(signal: AbortSignal, isLast: boolean): void {
    if (this.#receivers.length === 0) return
    try {
      if (isLast || this.#isTime()) this.#sendChanges(signal, isLast)
    } catch (error) {
      this.#mayHaveChanged = true
      this.#parts.log.debug(
        { event: 'alert.not-looked', err: error },
        'alerts could not be looked at',
      )
    }
  }

  #sendChanges(signal: AbortSignal, isLast: boolean): void {
    const { clock, commandLine, facts, history } = this.#parts
    this.#lookedAt = clock.monotonic()
    this.#mayHaveChanged = false
    const now = troublesOf(history, facts, commandLine)
    for (const { event, key } of now.values()) if (event === 'daemon') this.#met.add(key)
    const isSettled = isLast || this.#lookedAt - this.#openedAt >= CONDITIONS_KNOWN_MS
    const isPast = (key: string) => isSettled || this.#met.has(key)
    for (const receiver of this.#receivers) {
      const { target, told } = receiver
      const changes = changesFor(target.on, told, now, history, { isPast, trusted: facts.trusted })
      if (changes.length === 0) continue
      // Whatever becomes of them, they are looked at again.
      this.#mayHaveChanged = true
      const isPausing = !isLast && this.#lookedAt < receiver.notBefore
      if (receiver.sending !== null || isPausing) continue
      receiver.sending = this.#send(receiver, changes, signal)
        // Nobody waits for it: an error that is not known would end the daemon.
        .catch((error) => this.#failed(receiver, { kind: 'failed', reason: messageOf(error) }))
        .finally(() => {
          receiver.sending = null
        })
    }
  }

  async #send(receiver: Receiver, changes: Change[], signal: AbortSignal): Promise<void> {
    const { clock, commandLine, history, host, log, send } = this.#parts
    const { target, note, sequence } = receiver
    const message = alertMessage(changes, { at: clock.now(), commandLine, host, sequence })
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
      const { told, sequence } = receiver
      history.setNote(note, JSON.stringify({ told, sequence } satisfies Noted))
    } catch (error) {
      log.error(
        { event: 'alert.not-noted', problem: messageOf(error) },
        'alert sent, and it could not be noted',
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

  /** Over when no receiver is left that an alert did not reach. */
  #showFailures(): void {
    if (this.#receivers.some(({ failures }) => failures > 0)) return
    this.#parts.conditions.clear('hook-stuck')
    this.#parts.conditions.clear('alerts-failing')
  }
}

/** With what each was told before; what is known of others is forgotten. */
function receiversOf({ history, targets }: Pick<AlertDeskParts, 'history' | 'targets'>) {
  const receivers = targets.map((target, index): Receiver => {
    const note = noteOf(target, targets.slice(0, index))
    const { told, sequence } = JSON.parse(history.note(note) ?? NOTHING) as Noted
    return { target, note, told, sequence, failures: 0, notBefore: 0, sending: null }
  })
  const notes = receivers.map(({ note }) => note)
  const old = history.notes(NOTE).filter((note) => !notes.includes(note))
  if (old.length > 0)
    history.atomically(() => old.forEach((note) => void history.setNote(note, null)))
  return receivers
}

/** The same receiver after a restart, wherever it stands in the list. */
function noteOf(target: AlertTarget, before: readonly AlertTarget[]): string {
  const identity = ({ action }: AlertTarget) =>
    action.kind === 'exec' ? JSON.stringify(action.command) : hash('sha256', action.url.reveal())
  const same = before.filter((other) => identity(other) === identity(target)).length
  return `${NOTE}${hash('sha256', `${same} ${identity(target)}`).slice(0, 16)}`
}
