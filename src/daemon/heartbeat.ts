// Writes to the daemon's file how the loop is: it does so when something has changed, and at least every 30 s.

import type { Inbox } from '../inbox/folder.ts'
import { type Clock, SECOND } from '../lib/clock.ts'
import { isRecent } from '../lib/due.ts'
import type { DaemonFile } from '../ops/daemon-file.ts'
import type { Sending } from './sending.ts'

export interface HeartbeatParts {
  clock: Clock
  /** clockSkewMs returns the service's clock minus this machine's, or null while it is unknown. */
  clockSkewMs: () => number | null
  daemonFile: DaemonFile
  inbox: Inbox
  sending: Sending
}

const LEAST_SKEW_MS = 1.5 * SECOND
const HEARTBEAT_MS = 30 * SECOND

export class Heartbeat {
  readonly #clock: Clock
  readonly #clockSkewMs: () => number | null
  readonly #daemonFile: DaemonFile
  readonly #inbox: Inbox
  readonly #sending: Sending

  constructor({ clock, clockSkewMs, daemonFile, inbox, sending }: HeartbeatParts) {
    this.#clock = clock
    this.#clockSkewMs = clockSkewMs
    this.#daemonFile = daemonFile
    this.#inbox = inbox
    this.#sending = sending
  }

  /** beat writes the daemon's file if it is time, or if something has changed. */
  beat(): void {
    const { current } = this.#daemonFile
    // The service's clock is known to the second only, so a smaller change of the skew is not real.
    const skewMs = this.#clockSkewMs()
    const moved = Math.abs((skewMs ?? 0) - (current.clockSkewMs ?? 0))
    const isSame = current.clockSkewMs !== null && moved <= LEAST_SKEW_MS
    const watch = this.#inbox.watchMode
    const present = {
      mode: watch.mode,
      modeReason: watch.mode === 'poll' ? watch.reason : null,
      ...this.#sending.health(),
      clockSkewMs: isSame ? current.clockSkewMs : skewMs,
    }
    const isNews = Object.keys(present).some((key) => {
      return present[key as keyof typeof present] !== current[key as keyof typeof present]
    })
    const now = this.#clock.now()
    if (present.service !== current.service) this.#daemonFile.update({ serviceSince: now })
    if (isNews || !isRecent(current.heartbeatAt, now, HEARTBEAT_MS))
      this.#daemonFile.update({ ...present, heartbeatAt: now })
  }
}
