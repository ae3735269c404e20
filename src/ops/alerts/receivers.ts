// The receivers of alerts, and what each of them knows. The history keeps what they know, so that a restart forgets
// nothing.

import { hash } from 'node:crypto'
import type { AlertTarget } from '../../domain/alerts.ts'
import type { History, KnownToReceiver } from '../../history/port.ts'

export interface Receiver extends KnownToReceiver {
  target: AlertTarget
  /** The name under which the history keeps `told` and `sequence`. */
  id: string
  failures: number
  /** Earliest time of the next message, monotonic ms. */
  notBefore: number
  sending: Promise<void> | null
}

/** restoreReceivers restores each receiver from the history, which forgets receivers that are not configured. */
export function restoreReceivers(history: History, targets: readonly AlertTarget[]): Receiver[] {
  const receivers = targets.map((target, index): Receiver => {
    const id = idOf(target, targets.slice(0, index))
    const known = history.knownToReceiver(id)
    return { target, id, ...known, failures: 0, notBefore: 0, sending: null }
  })
  history.forgetReceivers(receivers.map(({ id }) => id))
  return receivers
}

/**
 * idOf returns an id that depends on the receiver and not on its place in the list, so it is the same after a restart.
 * If several receivers are equal, the id also depends on how many of them are in `before`.
 */
function idOf(target: AlertTarget, before: readonly AlertTarget[]): string {
  const identity = ({ action }: AlertTarget) =>
    action.kind === 'exec' ? JSON.stringify(action.command) : hash('sha256', action.url.reveal())
  const same = before.filter((other) => identity(other) === identity(target)).length
  return hash('sha256', `${same} ${identity(target)}`).slice(0, 16)
}
