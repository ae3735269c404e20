// Signals as abort signals: the first SIGTERM or SIGINT stops, a second one or the end of the drain aborts,
// a daemon ignores SIGHUP. A process that still lives some time after that is killed. SIGUSR1 is never used: it opens
// Node's debugger.

import { type Clock, SECOND } from '../lib/clock.ts'
import { EXIT } from '../lib/errors.ts'

export interface Signals extends Disposable {
  readonly stop: AbortSignal
  readonly abort: AbortSignal
  /** 130 or 143, by the signal that came. */
  readonly exitCode: number
  /** All work is done after a stop: the process is killed if it still lives some seconds later. */
  done(): void
  /** Kills the process as the signal would without a handler. */
  kill(): void
}

/** The process that gets the signals. */
export type SignalledProcess = Pick<NodeJS.Process, 'on' | 'off' | 'pid' | 'kill' | 'exit'>

export interface SignalOptions {
  clock: Clock
  process: SignalledProcess
  /** Between a first signal and the abort, in ms. */
  drainMs: number
  /** For a daemon that a person has started by hand: it outlives the terminal. */
  ignoresHangup?: boolean
  /** Logs what the process waits for, right before it kills itself. */
  beforeKill?: () => void
}

/** Aborted work gets this long to record its end. */
const GRACE_MS = 5 * SECOND

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
    // Not process.exit() alone, which waits for threads: one may hang in a system call. A signal without a handler
    // ends them all, but not the first process of a container.
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
      if (stop.signal.aborted) clock.after(GRACE_MS, kill)
    },
    kill,
    [Symbol.dispose]: removeListeners,
  }
}
