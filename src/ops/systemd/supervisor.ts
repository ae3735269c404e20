// Reports the daemon to systemd: ready, stopping, a status line, and signs of life for the watchdog. A sign of life is
// sent only while the loop makes progress, because a timer alone would prove nothing.

import { type Clock, SECOND } from '../../lib/clock.ts'
import type { Pulse } from '../port.ts'
import type { Notify } from './notifier.ts'

interface SupervisedProcess {
  clock: Clock
  /** null if systemd expects no messages. */
  notify: Notify | null
  env: NodeJS.ProcessEnv
  pid: number
  /** Returns one line for `systemctl status`. */
  status: () => string
}

/** A status that keeps changing is sent at most this often, because each message can start a process. */
const STATUS_MS = 10 * SECOND
/** Longer than any stop takes (see cli/run.ts); independent of TimeoutStopSec=. */
const STOP_USEC = 40_000_000

export interface Supervisor {
  /** changed sends the status line now if it differs from the last line that was sent. */
  changed(): void
  /** ready reports that the daemon takes feeds, and begins the signs of life. Nothing is sent before it. */
  ready(pulse: () => Pulse): void
  /** stopping sends the last message and resolves when it was sent. */
  stopping(): Promise<void>
}

export function createSupervisor({
  clock,
  env,
  notify,
  pid,
  status,
}: SupervisedProcess): Supervisor {
  let stage: 'starting' | 'ready' | 'stopping' = 'starting'
  let lastStatus = ''
  const isOurWatchdog = env.WATCHDOG_PID === undefined || env.WATCHDOG_PID === String(pid)
  /** systemd expects a sign of life within this time, ms; 0 if it expects none. */
  const watchdogMs = isOurWatchdog ? Number(env.WATCHDOG_USEC ?? 0) / 1000 : 0
  const every = (ms: number, run: () => void) => {
    clock.after(ms, () => {
      every(ms, run)
      run()
    })
  }
  const changed = () => {
    if (stage !== 'ready') return
    const now = status()
    if (now !== lastStatus) void notify?.(`STATUS=${now}`)
    lastStatus = now
  }
  return {
    changed,
    ready: (pulse) => {
      if (notify === null) return
      stage = 'ready'
      lastStatus = status()
      void notify('READY=1', `STATUS=${lastStatus}`)
      every(STATUS_MS, changed)
      if (!(watchdogMs > 0)) return
      every(watchdogMs / 4, () => {
        const { sinceRoundMs, stage } = pulse()
        // The loop has ended while the daemon stops; STOP_USEC limits that time.
        if (sinceRoundMs <= watchdogMs / 2 || stage === 'stopping') void notify?.('WATCHDOG=1')
      })
    },
    stopping: async () => {
      stage = 'stopping'
      const status = 'STATUS=stopping: running uploads may finish'
      await notify?.('STOPPING=1', `EXTEND_TIMEOUT_USEC=${STOP_USEC}`, status)
    },
  }
}
