// Owns repeating a call: p-retry runs it, and its caller says after each result whether another try follows
// and when. A result is a value; an error that the call throws is never retried.

import pRetry from 'p-retry'
import type { Clock } from './clock.ts'

export interface RetryOptions {
  clock: Clock
  signal: AbortSignal
  tries: number
}

/**
 * Answers the last result: the one after which `waitAfter` said null, the last of all tries, or the one after
 * which `signal` aborted. `waitAfter` answers the wait in ms; `n` is 1 after the first try.
 */
export async function retry<T>(
  call: () => Promise<T>,
  waitAfter: (result: T, n: number) => number | null,
  { clock, signal, tries }: RetryOptions,
): Promise<T> {
  const attempt = async (n: number) => {
    const result = await call()
    const waitMs = n < tries && !signal.aborted ? waitAfter(result, n) : null
    if (waitMs !== null) await clock.sleep(waitMs, signal)
    if (waitMs === null || signal.aborted) return result
    throw new TryAgain('the result asks for another try')
  }
  const shouldRetry = ({ error }: { error: Error }) => error instanceof TryAgain
  return await pRetry(attempt, { retries: tries - 1, minTimeout: 0, shouldRetry })
}

class TryAgain extends Error {}

/** No answer, however random, hammers. In ms. */
const SHORTEST_WAIT = 100

/** Full jitter: a random part of `baseMs` doubled `exponent` times, or of `capMs` if that is less. `random` as Math.random. */
export function fullJitter(
  { baseMs, capMs }: { baseMs: number; capMs: number },
  exponent: number,
  random: () => number,
): number {
  return Math.max(SHORTEST_WAIT, Math.round(random() * Math.min(baseMs * 2 ** exponent, capMs)))
}
