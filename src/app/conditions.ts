// Who hears of the daemon's conditions: the log and the terminal. A timer looks at what no round of the loop would: the
// loop may be what stands still.

import type { Clock } from '../lib/clock.ts'
import { SECOND } from '../lib/clock.ts'
import { Conditions } from '../lib/conditions.ts'
import type { Log } from '../lib/log.ts'
import type { AlertDesk as Alerts } from '../ops/alerts/desk.ts'
import { fullDisk, readOnlyDisk } from '../ops/disk.ts'

export interface ConditionParts {
  clock: Clock
  log: Log
  /** Says to a person at the terminal what happened, and what to do. */
  notifyOperator: (message: string, hint: string | null) => void
}

const LOOK_MS = SECOND
/** Longer than the time between two looks, also on a machine that is busy. */
const FULL_MS = 15 * SECOND

export function conditionsOf(parts: ConditionParts): Conditions {
  const { clock, log, notifyOperator } = parts
  const conditions = new Conditions(clock)
  conditions.onChange(({ kind, condition: { code, hint, message, severity } }) => {
    if (kind === 'cleared')
      log.info({ event: 'daemon.recovered', condition: code, reason: message }, `over: ${message}`)
    if (kind !== 'set') return
    const level = severity === 'critical' ? 'error' : 'warn'
    log[level]({ event: 'daemon.condition', condition: code, reason: message, hint }, message)
    notifyOperator(message, hint)
  })
  return conditions
}

/** Looks until it is disposed; alerts about conditions leave, whatever the loop does. */
export function watchConditions(
  { clock, stateDirectory }: { clock: Clock; stateDirectory: string },
  conditions: Conditions,
  alerts: Pick<Alerts, 'look'>,
  signal: AbortSignal,
): Disposable {
  let wasFull = false
  const look = () => {
    const full = fullDisk(stateDirectory)
    if (full !== null) conditions.set('state-full', full, FULL_MS)
    // A quota that is used up is seen by no look: what a write has met is over in its own time.
    else if (wasFull) conditions.clear('state-full')
    wasFull = full !== null
    const readOnly = readOnlyDisk(stateDirectory)
    if (readOnly !== null) conditions.set('state-read-only', readOnly, FULL_MS)
    conditions.expire()
    if (conditions.current().length > 0) alerts.look(signal)
    timer = clock.after(LOOK_MS, look)
  }
  let timer = clock.after(0, look)
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() }
}
