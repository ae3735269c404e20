// Reports the daemon's conditions to the log and the terminal. A timer watches the disk and sends alerts about
// conditions, because the loop itself can hang.

import { Conditions } from '../domain/conditions.ts'
import { HANGS } from '../feed/hung-reads.ts'
import { type Clock, isoTime, MINUTE, SECOND } from '../lib/clock.ts'
import { type HungPath, longest } from '../lib/hung-calls.ts'
import type { Log } from '../lib/log.ts'
import { countOf } from '../lib/units.ts'
import type { AlertDesk } from '../ops/alerts/desk.ts'
import { whyDiskFull, whyDiskReadOnly } from '../ops/disk.ts'
import { KINDS } from '../ops/problem-kinds.ts'

interface WatchParts {
  alerts: Pick<AlertDesk, 'sendDue'>
  clock: Clock
  conditions: Conditions
  stateDirectory: string
  /** hungReads returns the files of vendors whose reading does not return. */
  hungReads: () => readonly HungPath[]
}

interface ConditionParts {
  clock: Clock
  log: Log
  /** Prints at the terminal what happened and what to do. */
  notifyOperator: (message: string, hint: string | null) => void
}

const LOOK_MS = SECOND
const READ_STUCK_MS = 2 * MINUTE
/** Lifetime of a condition about the disk. It is longer than the time between two looks, even on a busy machine. */
const DISK_CONDITION_MS = 15 * SECOND

/** createConditions returns the daemon's conditions. The log has each change, and the operator each beginning. */
export function createConditions({ clock, log, notifyOperator }: ConditionParts): Conditions {
  const conditions = new Conditions(clock)
  conditions.onChange(({ kind, condition: { code, hint, message } }) => {
    if (kind === 'cleared')
      log.info({ event: 'daemon.recovered', condition: code, reason: message }, `over: ${message}`)
    if (kind !== 'set') return
    const level = KINDS[code].severity === 'critical' ? 'error' : 'warn'
    log[level]({ event: 'daemon.condition', condition: code, reason: message, hint }, message)
    notifyOperator(message, hint)
  })
  return conditions
}

/** reportHungReads sets the condition `read-stuck`, with the oldest read that hangs, or clears it if none hangs. */
function reportHungReads(reads: readonly HungPath[], now: number, conditions: Conditions): void {
  const [first, ...others] = longest(reads, now, READ_STUCK_MS)
  if (first === undefined) {
    conditions.clear('read-stuck')
    return
  }
  const more = others.length === 0 ? '' : `, nor have ${countOf(others.length, 'other read')}`
  const message = `reading ${first.path} has not ended since ${isoTime(first.since)}${more}`
  conditions.set('read-stuck', { message, hint: HANGS.hint })
}

/**
 * watchConditions looks each second at the disk and at hung reads, ends conditions whose lifetime is over, and sends
 * alerts. It goes on until it is disposed, even if the daemon's loop hangs.
 */
export function watchConditions(
  { alerts, clock, conditions, hungReads, stateDirectory }: WatchParts,
  signal: AbortSignal,
): Disposable {
  let wasFull = false
  const look = () => {
    const full = whyDiskFull(stateDirectory)
    if (full !== null) conditions.set('state-full', full, DISK_CONDITION_MS)
    // A look at the disk does not see a used-up quota. A condition that a write set for a quota ends by its lifetime.
    else if (wasFull) conditions.clear('state-full')
    wasFull = full !== null
    const readOnly = whyDiskReadOnly(stateDirectory)
    if (readOnly !== null) conditions.set('state-read-only', readOnly, DISK_CONDITION_MS)
    reportHungReads(hungReads(), clock.now(), conditions)
    conditions.expire()
    if (conditions.current().length > 0) alerts.sendDue(signal)
    timer = clock.after(LOOK_MS, look)
  }
  let timer = clock.after(0, look)
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() }
}
