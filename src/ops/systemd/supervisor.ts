// What systemd learns about the daemon, and when: ready, reloading, stopping, a status line, and that the
// loop still turns. The watchdog is fed by the loop's progress; a timer alone would prove nothing.

import { type Clock, SECOND, type Timer } from '../../lib/clock.ts'
import type { Pulse, Supervisor } from '../port.ts'
import type { Notifier } from './notifier.ts'

export interface SupervisorParts {
  clock: Clock
  /** null: nobody listens. */
  notifier: Notifier | null
  env: Readonly<Record<string, string | undefined>>
  pid: number
  /** One line for `systemctl status`. */
  status: () => string
}

/** Each message is a process, so a status that keeps changing is sent this often. */
const STATUS_MS = 10 * SECOND
/** More than a stop may take (cli/run.ts), whatever TimeoutStopSec= says. */
const STOP_USEC = 40_000_000

export function createSupervisor({ notifier, ...parts }: SupervisorParts): Supervisor {
  return notifier === null ? SILENT : new SystemdSupervisor({ ...parts, notifier })
}

const SILENT: Supervisor = {
  ready: () => {},
  reloading: () => {},
  reloaded: () => {},
  changed: () => {},
  stopping: () => Promise.resolve(),
}

class SystemdSupervisor implements Supervisor {
  readonly #parts: SupervisorParts & { notifier: Notifier }
  /** Ms within which systemd expects a sign of life; null: none. */
  readonly #watchdogMs: number | null
  readonly #timers = new Map<string, Timer>()
  #stage: 'starting' | 'ready' | 'stopping' = 'starting'
  #said = ''

  constructor(parts: SupervisorParts & { notifier: Notifier }) {
    this.#parts = parts
    const { env, pid } = parts
    const meant = env.WATCHDOG_PID === undefined || env.WATCHDOG_PID === String(pid)
    const ms = Number(env.WATCHDOG_USEC) / 1000
    this.#watchdogMs = meant && ms > 0 ? ms : null
  }

  ready(pulse: () => Pulse): void {
    this.#stage = 'ready'
    this.#sayReady()
    this.#every('status', STATUS_MS, () => this.#sayStatus())
    const limit = this.#watchdogMs
    if (limit !== null) this.#every('watchdog', limit / 4, () => this.#feed(limit, pulse()))
  }

  reloading(): void {
    if (this.#stage !== 'ready') return
    const now = process.hrtime.bigint() / 1000n
    this.#parts.notifier.send('RELOADING=1', `MONOTONIC_USEC=${now}`, 'STATUS=reloading')
  }

  reloaded(): void {
    if (this.#stage === 'ready') this.#sayReady()
  }

  changed(): void {
    if (this.#stage === 'ready') this.#sayStatus()
  }

  async stopping(): Promise<void> {
    this.#stage = 'stopping'
    this.#timers.get('status')?.cancel()
    const { notifier } = this.#parts
    const status = 'STATUS=stopping: what is being uploaded may finish'
    notifier.send('STOPPING=1', `EXTEND_TIMEOUT_USEC=${STOP_USEC}`, status)
    await notifier.drained()
  }

  #sayReady(): void {
    this.#said = this.#parts.status()
    this.#parts.notifier.send('READY=1', `STATUS=${this.#said}`)
  }

  #sayStatus(): void {
    const status = this.#parts.status()
    if (status === this.#said) return
    this.#said = status
    this.#parts.notifier.send(`STATUS=${status}`)
  }

  #feed(limitMs: number, { sinceTurnMs, stage }: Pulse): void {
    const { notifier } = this.#parts
    // While it stops there is no loop any more; the time for that has its own limit.
    if (sinceTurnMs <= limitMs / 2 || stage === 'stopping') notifier.send('WATCHDOG=1')
  }

  #every(name: string, ms: number, run: () => void): void {
    const again = () => {
      this.#timers.set(name, this.#parts.clock.after(ms, again))
      run()
    }
    this.#timers.set(name, this.#parts.clock.after(ms, again))
  }
}
