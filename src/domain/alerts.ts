// The events that an alert can report, and where an alert goes. Do not rename an event: configurations name the events
// in `alerts[].on`.

import type { Secret } from '../lib/secrets.ts'

export const ALERT_EVENTS = [
  'rejected',
  'held',
  'failed',
  'overdue',
  'credentials',
  'service',
  'daemon',
  'campaigns-stopped',
  'campaign-unknown',
  'campaign-waiting',
] as const

export type AlertEvent = (typeof ALERT_EVENTS)[number]

export interface AlertTarget {
  on: readonly AlertEvent[]
  /** `exec` runs a program with its arguments, without a shell. */
  action:
    | { kind: 'exec'; command: readonly string[] }
    | { kind: 'webhook'; url: Secret; origin: string; secretFile: string | null }
}
