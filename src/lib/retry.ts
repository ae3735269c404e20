// Repeats a call with p-retry. After each result, the caller decides whether and when another try follows. A result is
// a value; an error that the call throws is never retried.

import pRetry from 'p-retry'
import type { Clock } from './clock.ts'

interface RetryOptions {
  clock: Clock
  signal: AbortSignal
  tries: number
}

/**
 * retry returns the last result. It stops when `waitAfter` returns null, after `tries` tries, or when `signal` aborts.
 * `waitAfter` returns the wait in ms before the next try; `done` is the number of tries so far.
 */
export async function retry<T>(
  call: () => Promise<T>,
  waitAfter: (result: T, done: number) => number | null,
  { clock, signal, tries }: RetryOptions,
): Promise<T> {
  const attempt = async (done: number) => {
    const result = await call()
    const waitMs = done < tries && !signal.aborted ? waitAfter(result, done) : null
    if (waitMs !== null) await clock.sleep(waitMs, signal)
    if (waitMs === null || signal.aborted) return result
    throw new TryAgain('the result asks for another try')
  }
  const shouldRetry = ({ error }: { error: Error }) => error instanceof TryAgain
  return await pRetry(attempt, { retries: tries - 1, minTimeout: 0, shouldRetry })
}

class TryAgain extends Error {}

/** The random wait is at least this many ms, so that a host is not flooded with requests. */
const SHORTEST_WAIT = 100

/**
 * fullJitter returns a random part of `baseMs` doubled `exponent` times, or of `capMs` if that is less. `random` works
 * like Math.random.
 */
export function fullJitter(
  { baseMs, capMs }: { baseMs: number; capMs: number },
  exponent: number,
  random: () => number,
): number {
  return Math.max(SHORTEST_WAIT, Math.round(random() * Math.min(baseMs * 2 ** exponent, capMs)))
}
