// The receivers of alerts, and the note that the history keeps of each: what it knows. A restart forgets nothing, and a
// receiver that is no longer configured leaves no note.

import { hash } from 'node:crypto'
import type { AlertTarget } from '../../domain/alerts.ts'
import type { History } from '../../history/port.ts'
import type { Told } from './changes.ts'

export interface Receiver {
  target: AlertTarget
  /** Name of the note in the history that holds `told` and `sequence`. */
  note: string
  told: Told
  /** Number of messages sent to this receiver. */
  sequence: number
  failures: number
  /** Earliest time of the next message, monotonic ms. */
  notBefore: number
  sending: Promise<void> | null
}

/** ReceiverNote is what the history keeps of a receiver. */
interface ReceiverNote {
  told: Told
  sequence: number
}

const NOTE = 'alerts '
const NOTHING = '{"told":{},"sequence":0}'

/** restoreReceivers restores each receiver from its note and deletes the notes of those that are no longer configured. */
export function restoreReceivers(history: History, targets: readonly AlertTarget[]): Receiver[] {
  const receivers = targets.map((target, index): Receiver => {
    const note = noteOf(target, targets.slice(0, index))
    const { told, sequence } = JSON.parse(history.note(note) ?? NOTHING) as ReceiverNote
    return { target, note, told, sequence, failures: 0, notBefore: 0, sending: null }
  })
  const notes = receivers.map(({ note }) => note)
  const old = history.notes(NOTE).filter((note) => !notes.includes(note))
  if (old.length > 0)
    history.atomically(() => old.forEach((note) => void history.setNote(note, null)))
  return receivers
}

/** noteReceiver notes what a receiver knows. */
export function noteReceiver(history: History, { note, sequence, told }: Receiver): void {
  history.setNote(note, JSON.stringify({ told, sequence } satisfies ReceiverNote))
}

/** The note's name depends on the receiver and not on its place in the list, so it is the same after a restart. */
function noteOf(target: AlertTarget, before: readonly AlertTarget[]): string {
  const identity = ({ action }: AlertTarget) =>
    action.kind === 'exec' ? JSON.stringify(action.command) : hash('sha256', action.url.reveal())
  const same = before.filter((other) => identity(other) === identity(target)).length
  return `${NOTE}${hash('sha256', `${same} ${identity(target)}`).slice(0, 16)}`
}
