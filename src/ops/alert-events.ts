// What an alert may tell of. A contract: receivers name these in the configuration.

export const ALERT_EVENTS = [
  'rejected',
  'held',
  'failed',
  'overdue',
  'credentials',
  'daemon',
  'campaigns-stopped',
  'campaign-unknown',
  'campaign-waiting',
] as const

export type AlertEvent = (typeof ALERT_EVENTS)[number]
