// What the rest of the program knows of operations: who is told of what. Everything here is fed from
// the committed history and from what the parts say of themselves; nothing here decides about feeds.

import type { Version } from '../history/port.ts'
import type { Secret } from '../lib/secret.ts'

export type AlertEvent = 'rejected' | 'held' | 'failed' | 'overdue' | 'credentials'

export interface AlertTarget {
  on: readonly AlertEvent[]
  action: /** A program and its arguments, never a shell. */
    | { kind: 'exec'; command: readonly string[] }
    | { kind: 'webhook'; url: Secret; origin: string; secretFile: string | null }
}

/** What the history does not know, and the daemon does. */
export interface AlertFacts {
  /** Feeds whose next version is late: their newest one, and since when (wall ms). */
  overdue(): { version: Version; expectedBy: number }[]
  /** Why the service refuses the credentials; null when it does not. */
  refusal(): { reason: string; hint: string } | null
  /** Whether the credentials were last seen to work: a refusal that is merely forgotten proves nothing. */
  trusted(): boolean
}

export interface Alerts {
  /** A version changed its state; nothing is read or sent before the next `look`. */
  moved(): void
  /** Starts to tell what is new, as far as it is time to. Never throws; sending goes on in the background. */
  look(signal: AbortSignal): void
  /** Waits for what is being sent. `flush`: first tells all that is left, once. */
  finish(options: { flush: boolean; signal: AbortSignal }): Promise<void>
}
