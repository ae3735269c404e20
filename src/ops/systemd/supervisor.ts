// What systemd learns about the daemon, and when: ready, stopping, a status line, and that the loop
// still turns. The watchdog is fed by the loop's progress; a timer alone would prove nothing.

import { type Clock, SECOND } from '../../lib/clock.ts'
import type { Pulse } from '../port.ts'
import type { Notify } from './notifier.ts'

export interface SupervisorParts {
  clock: Clock
  /** null: nobody listens. */
  notify: Notify | null
  env: NodeJS.ProcessEnv
  pid: number
  /** One line for `systemctl status`. */
  status: () => string
}

/** Each message is a process, so a status that keeps changing is sent this often. */
const STATUS_MS = 10 * SECOND
/** More than a stop may take (cli/run.ts), whatever TimeoutStopSec= says. */
const STOP_USEC = 40_000_000

export type Supervisor = ReturnType<typeof createSupervisor>

export function createSupervisor({ clock, env, notify, pid, status }: SupervisorParts) {
  let stage: 'starting' | 'ready' | 'stopping' = 'starting'
  let lastStatus = ''
  const isOurWatchdog = env.WATCHDOG_PID === undefined || env.WATCHDOG_PID === String(pid)
  /** Ms within which systemd expects a sign of life; 0: none. */
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
    /** What the status line says has changed: it is sent now. */
    changed,
    /** Feeds are taken from now on; `pulse` tells how the loop is. Before it, nothing is sent. */
    ready: (pulse: () => Pulse) => {
      if (notify === null) return
      stage = 'ready'
      lastStatus = status()
      void notify('READY=1', `STATUS=${lastStatus}`)
      every(STATUS_MS, changed)
      if (!(watchdogMs > 0)) return
      every(watchdogMs / 4, () => {
        const { sinceRoundMs, stage } = pulse()
        // While it stops there is no loop any more; the time for that has its own limit.
        if (sinceRoundMs <= watchdogMs / 2 || stage === 'stopping') void notify?.('WATCHDOG=1')
      })
    },
    /** The last message; resolves once it was sent. */
    stopping: async (): Promise<void> => {
      stage = 'stopping'
      const status = 'STATUS=stopping: what is being uploaded may finish'
      await notify?.('STOPPING=1', `EXTEND_TIMEOUT_USEC=${STOP_USEC}`, status)
    },
  }
}
