// Owns time. No other file in src/ reads the system clock or sets a timer, so that every wait can be cancelled and
// every test can use its own clock.

import { setTimeout as timeout } from 'node:timers/promises'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export interface Clock {
  /** now returns wall time in ms since the epoch: for people and services, never for measuring. */
  now(): number
  /** monotonic returns ms of a clock that never jumps, from an unspecified origin: for every measured interval. */
  monotonic(): number
  /** sleep resolves after `ms`, or at once when `signal` aborts; the caller then checks the signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** after calls `run` once after `ms`, unless it is disposed. This timer does not keep the process alive. */
  after(ms: number, run: () => void): Disposable
}

/** timeoutOf limits a wait, because setTimeout fires at once for more ms than a signed 32-bit number holds. */
const timeoutOf = (ms: number) => Math.min(Math.max(0, ms), 2 ** 31 - 1)

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => timeout(timeoutOf(ms), undefined, { signal }).catch(() => {}),
  after: (ms, run) => setTimeout(run, timeoutOf(ms)).unref(),
}

/** No calendar has a time further than this from the epoch, in ms (ECMAScript, "Time Values and Time Range"). */
const LAST_TIME = 8.64e15

/** wallTime returns wall ms from a foreign source, such as a file system; null if no calendar has this time. */
export function wallTime(ms: number | null): number | null {
  return ms !== null && Math.abs(ms) <= LAST_TIME ? ms : null
}

/** isoTime writes ISO 8601 UTC with ms, the form of every time in JSON answers; null if no calendar has the time. */
export function isoTime(ms: number | null): string | null {
  const known = wallTime(ms)
  return known === null ? null : new Date(known).toISOString()
}

/** WakeSignal is a wait that ends early when another part has work for the sleeping loop. */
export class WakeSignal {
  readonly #clock: Clock
  #raised = new AbortController()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  raise(): void {
    this.#raised.abort()
  }

  /** wait resolves after `ms`, or when `raise` is called; at once if `raise` was called since the last wait. */
  async wait(ms: number): Promise<void> {
    await this.#clock.sleep(ms, this.#raised.signal)
    if (this.#raised.signal.aborted) this.#raised = new AbortController()
  }
}

/**
 * unlessAborted resolves with the result of `work`, or with null as soon as the signal aborts. It does not stop `work`
 * but ignores its result, so the program must be able to do without that result at any instant. If `work` rejects
 * first, it rejects, too.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<null>()
  const aborted = () => resolve(null)
  if (signal.aborted) aborted()
  signal.addEventListener('abort', aborted)
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', aborted)
    work.catch(() => {})
  }
}
