// Turns signals of the system into abort signals. The first SIGTERM or SIGINT aborts `stop`. A second one, or the end
// of the drain time, aborts `abort`. A process that still runs 5 s later is killed. A daemon ignores SIGHUP.

import { type Clock, SECOND } from '../lib/clock.ts'
import { EXIT } from '../lib/errors.ts'

export interface Signals extends Disposable {
  readonly stop: AbortSignal
  readonly abort: AbortSignal
  /** 130 after SIGINT, 143 after SIGTERM. */
  readonly exitCode: number
  /**
   * Says that all work has ended. A process that still runs 5 s later is killed: a thread can hang in a system call.
   */
  done(): void
  /** Kills the process as the signal would do without a handler. */
  kill(): void
}

/** The process that gets the signals. */
export type SignalledProcess = Pick<NodeJS.Process, 'on' | 'off' | 'pid' | 'kill' | 'exit'>

interface SignalOptions {
  clock: Clock
  process: SignalledProcess
  /** Time between the first signal and the abort, in ms. */
  drainMs: number
  /** True for a daemon, because a daemon that a person starts goes on after the terminal is closed. */
  ignoresHangup?: boolean
  /** Runs right before the process kills itself, and logs what the process waits for. */
  beforeKill?: () => void
}

/** Time after an abort in which running work can record its end. */
const GRACE_MS = 5 * SECOND

/** onSignals handles the signals of `process` until it is disposed. */
export function onSignals(options: SignalOptions): Signals {
  const { clock, process, drainMs, ignoresHangup = false, beforeKill } = options
  const stop = new AbortController()
  const abort = new AbortController()
  let name: 'SIGTERM' | 'SIGINT' = 'SIGTERM'
  let exitCode: number = EXIT.terminated
  const listeners: [NodeJS.Signals, () => void][] = []
  const removeListeners = () => {
    for (const [signal, listener] of listeners) process.off(signal, listener)
  }
  const kill = () => {
    beforeKill?.()
    removeListeners()
    // process.exit() waits for threads, and a thread can hang in a system call. A signal without a handler ends all
    // threads. It does nothing to the first process of a container, which needs process.exit().
    process.kill(process.pid, name)
    process.exit(exitCode)
  }
  const abortAll = () => {
    abort.abort()
    clock.after(GRACE_MS, kill)
  }
  const end = (signal: typeof name, code: number) => () => {
    ;[name, exitCode] = [signal, code]
    if (stop.signal.aborted) return abortAll()
    stop.abort()
    clock.after(drainMs, abortAll)
  }
  listeners.push(['SIGTERM', end('SIGTERM', EXIT.terminated)])
  listeners.push(['SIGINT', end('SIGINT', EXIT.interrupted)])
  if (ignoresHangup) listeners.push(['SIGHUP', () => {}])
  for (const [signal, listener] of listeners) process.on(signal, listener)
  return {
    stop: stop.signal,
    abort: abort.signal,
    get exitCode() {
      return exitCode
    },
    done: () => {
      clock.after(GRACE_MS, kill)
    },
    kill,
    [Symbol.dispose]: removeListeners,
  }
}
