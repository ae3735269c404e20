// The events that an alert can report. Do not rename them: configurations name them in `alerts[].on`.

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
