// Writes the health of the loop to the daemon's file, when something has changed and at least every 30 s.

import type { Inbox } from '../inbox/folder.ts'
import { type Clock, SECOND } from '../lib/clock.ts'
import { isRecent } from '../lib/due.ts'
import type { DaemonFile } from '../ops/daemon-file.ts'
import type { Sending } from './sending.ts'

interface HeartbeatParts {
  clock: Clock
  /** clockSkewMs returns the service's clock minus this machine's, or null while it is unknown. */
  clockSkewMs: () => number | null
  daemonFile: DaemonFile
  inbox: Inbox
  sending: Sending
}

const LEAST_SKEW_CHANGE_MS = 1.5 * SECOND
const HEARTBEAT_MS = 30 * SECOND

/** writeHeartbeat writes the daemon's file if it is time, or if something has changed. */
export function writeHeartbeat(parts: HeartbeatParts): void {
  const { clock, clockSkewMs, daemonFile, inbox, sending } = parts
  const { current } = daemonFile
  // The service's clock is known to the second only, so a smaller change of the skew is not real.
  const skewMs = clockSkewMs()
  const changeMs = Math.abs((skewMs ?? 0) - (current.clockSkewMs ?? 0))
  const isSameSkew = current.clockSkewMs !== null && changeMs <= LEAST_SKEW_CHANGE_MS
  const watch = inbox.watchMode
  const next = {
    mode: watch.mode,
    modeReason: watch.mode === 'poll' ? watch.reason : null,
    ...sending.health(),
    clockSkewMs: isSameSkew ? current.clockSkewMs : skewMs,
  }
  const isNews = Object.keys(next).some((key) => {
    return next[key as keyof typeof next] !== current[key as keyof typeof next]
  })
  const now = clock.now()
  if (!isNews && isRecent(current.heartbeatAt, now, HEARTBEAT_MS)) return
  const serviceSince = next.service === current.service ? current.serviceSince : now
  daemonFile.update({ ...next, serviceSince, heartbeatAt: now })
}
