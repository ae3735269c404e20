// Owns time. Nothing else in src/ reads the system clock or sets a timer, so that every wait can be
// cancelled and every test can run on a clock of its own.

import { setTimeout as passed } from 'node:timers/promises'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export interface Clock {
  /** Wall time in ms since the epoch: for what people and services read, never for measuring. */
  now(): number
  /** Ms on a clock that never jumps, from an unspecified origin: for every interval we measure. */
  monotonic(): number
  /** Resolves after `ms`, or at once when `signal` aborts; the caller looks at the signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `run` once after `ms`, unless it is disposed. It alone never keeps the process alive. */
  after(ms: number, run: () => void): Disposable
}

/** setTimeout fires at once beyond a signed 32-bit number of ms, so long waits are cut to it. */
const timeoutOf = (ms: number) => Math.min(Math.max(0, ms), 2 ** 31 - 1)

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => passed(timeoutOf(ms), undefined, { signal }).catch(() => {}),
  after: (ms, run) => setTimeout(run, timeoutOf(ms)).unref(),
}

/** ISO 8601 UTC with milliseconds, or null: the form of every time in JSON answers. */
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

/** A wait that whoever has work for a sleeping loop can cut short. */
export class WakeSignal {
  readonly #clock: Clock
  #raised = new AbortController()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  raise(): void {
    this.#raised.abort()
  }

  /** Resolves after `ms`, or when raised; at once when it was raised since the last wait. */
  async wait(ms: number): Promise<void> {
    await this.#clock.sleep(ms, this.#raised.signal)
    if (this.#raised.signal.aborted) this.#raised = new AbortController()
  }
}

/**
 * Answers what `work` answers, or null as soon as the signal aborts. It does not stop `work`, whose outcome is then
 * ignored; so `work` must be something that may be given up at any instant.
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
