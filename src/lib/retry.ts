// Owns repeating a call that may be repeated: exponential waits with full jitter, and what the other
// side asks for. Whether a result is worth another try is the caller's decision.

import { type Clock, SECOND } from './clock.ts'

export interface RetryOptions {
  clock: Clock
  signal: AbortSignal
  tries: number
  /** Longest first wait, in ms; it doubles up to a minute. Default 1 s. */
  firstWaitMs?: number
  /** 0 to below 1; default Math.random. */
  random?: () => number
}

const LONGEST_WAIT = 60 * SECOND

/**
 * Runs `call` until `retryAfter` answers `stop`, the tries are used up or `signal` aborts; answers the
 * last result. A number is the least wait in ms that the other side asked for; one beyond a minute ends it.
 */
export async function repeatedly<T>(
  call: () => Promise<T>,
  retryAfter: (result: T) => number | 'stop',
  { clock, signal, tries, firstWaitMs = SECOND, random = Math.random }: RetryOptions,
): Promise<T> {
  for (let n = 0; ; n++) {
    const result = await call()
    const least = retryAfter(result)
    if (least === 'stop' || least > LONGEST_WAIT || n + 1 >= tries || signal.aborted) return result
    const longest = Math.min(LONGEST_WAIT, firstWaitMs * 2 ** n)
    await clock.sleep(Math.max(least, random() * longest), signal)
    if (signal.aborted) return result
  }
}
