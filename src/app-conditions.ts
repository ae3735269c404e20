// Who hears of the daemon's conditions: the log and the terminal here, the rest in app.ts.

import type { Clock } from './lib/clock.ts'
import { Conditions } from './lib/conditions.ts'
import type { Log } from './lib/log.ts'

export interface ConditionParts {
  clock: Clock
  log: Log
  /** Says to a person at the terminal what happened, and what to do. */
  tell: (message: string, hint: string | null) => void
}

export function conditionsOf({ clock, log, tell }: ConditionParts): Conditions {
  const conditions = new Conditions(clock)
  conditions.onChange(({ kind, condition: { code, hint, message, severity } }) => {
    if (kind === 'cleared') log.info({ condition: code, reason: message }, 'recovered')
    if (kind !== 'set') return
    const level = severity === 'critical' ? 'error' : 'warn'
    log[level]({ condition: code, reason: message, hint }, 'condition')
    tell(message, hint)
  })
  return conditions
}
