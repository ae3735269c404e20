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
  let result: T | undefined
  let waitMs: number | null = null
  const attempt = async (n: number) => {
    result = await call()
    waitMs = n < tries && !signal.aborted ? waitAfter(result, n) : null
    if (waitMs !== null) throw new TryAgain('the result asks for another try')
  }
  const isAsked = (error: unknown) => error instanceof TryAgain
  try {
    await pRetry(attempt, {
      retries: tries - 1,
      minTimeout: 0,
      onFailedAttempt: ({ error }) =>
        isAsked(error) ? clock.sleep(waitMs ?? 0, signal) : undefined,
      shouldRetry: ({ error }) => isAsked(error) && !signal.aborted,
    })
  } catch (error) {
    if (!isAsked(error)) throw error
  }
  return result as T
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
