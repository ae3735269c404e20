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
/** systemd waits this long for a stop, in µs, whatever TimeoutStopSec= says. No stop takes longer (see cli/run.ts). */
const STOP_USEC = 40_000_000

export class Supervisor {
  readonly #clock: Clock
  readonly #notify: Notify | null
  readonly #status: () => string
  /** systemd expects a sign of life within this time, ms; 0 or NaN if systemd expects none. */
  readonly #watchdogMs: number
  #stage: 'starting' | 'ready' | 'stopping' = 'starting'
  #lastStatus = ''

  constructor({ clock, env, notify, pid, status }: SupervisedProcess) {
    this.#clock = clock
    this.#notify = notify
    this.#status = status
    const isOurWatchdog = env.WATCHDOG_PID === undefined || env.WATCHDOG_PID === String(pid)
    this.#watchdogMs = isOurWatchdog ? Number(env.WATCHDOG_USEC ?? 0) / 1000 : 0
  }

  /**
   * changed sends the status line now if it differs from the last line that was sent. It sends nothing before `ready`
   * or after `stopping`.
   */
  changed(): void {
    if (this.#stage !== 'ready') return
    const now = this.#status()
    if (now !== this.#lastStatus) void this.#notify?.(`STATUS=${now}`)
    this.#lastStatus = now
  }

  /** ready reports that the daemon takes feeds, and begins the signs of life. */
  ready(pulse: () => Pulse): void {
    if (this.#notify === null) return
    this.#stage = 'ready'
    this.#lastStatus = this.#status()
    void this.#notify('READY=1', `STATUS=${this.#lastStatus}`)
    this.#every(STATUS_MS, () => this.changed())
    const watchdogMs = this.#watchdogMs
    if (!(watchdogMs > 0)) return
    this.#every(watchdogMs / 4, () => {
      const { sinceRoundMs, stage } = pulse()
      // The loop has ended while the daemon stops. STOP_USEC limits the time of the stop.
      if (sinceRoundMs <= watchdogMs / 2 || stage === 'stopping') void this.#notify?.('WATCHDOG=1')
    })
  }

  /** stopping sends the last message and resolves when the message has arrived or failed. */
  async stopping(): Promise<void> {
    this.#stage = 'stopping'
    const status = 'STATUS=stopping: running uploads may finish'
    await this.#notify?.('STOPPING=1', `EXTEND_TIMEOUT_USEC=${STOP_USEC}`, status)
  }

  #every(ms: number, run: () => void): void {
    this.#clock.after(ms, () => {
      this.#every(ms, run)
      run()
    })
  }
}
