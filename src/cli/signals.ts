// Signals as abort signals: the first SIGTERM or SIGINT stops, a second one or the end of the drain
// aborts, SIGHUP reloads. SIGUSR1 is never used: it opens Node's debugger.

import type { Clock } from '../lib/clock.ts'
import { EXIT } from './exit-codes.ts'

export interface Signals extends Disposable {
  readonly stop: AbortSignal
  readonly abort: AbortSignal
  /** 130 or 143, by the signal that came. */
  readonly exitCode: number
}

export function onSignals(clock: Clock, drainMs: number, reload: () => void): Signals {
  const stop = new AbortController()
  const abort = new AbortController()
  let exitCode: number = EXIT.terminated
  const end = (code: number) => () => {
    exitCode = code
    if (stop.signal.aborted) return abort.abort()
    stop.abort()
    clock.after(drainMs, () => abort.abort())
  }
  const listeners = [
    ['SIGTERM', end(EXIT.terminated)],
    ['SIGINT', end(EXIT.interrupted)],
    ['SIGHUP', reload],
  ] as const
  for (const [name, listener] of listeners) process.on(name, listener)
  return {
    stop: stop.signal,
    abort: abort.signal,
    get exitCode() {
      return exitCode
    },
    [Symbol.dispose]: () => {
      for (const [name, listener] of listeners) process.off(name, listener)
    },
  }
}
