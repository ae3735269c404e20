// Decides how long a version waits before its next attempt. The delivery itself (uploader.ts) waits at most two seconds
// in all. For a longer wait, the version is queued with the time of its next attempt. Pure functions.

import { MINUTE, SECOND } from '../lib/clock.ts'
import type { Failure } from '../lib/decision-table.ts'
import { fullJitter } from '../lib/retry.ts'

/** QUICK_MS limits all waits of one delivery together. */
export const QUICK_MS = 2 * SECOND
/** QUICK_TRIES limits the attempts of one delivery. */
export const QUICK_TRIES = 4

/** CURVES has the waits for each pace of the decision table. */
export const CURVES = {
  usual: { baseMs: SECOND, capMs: 10 * MINUTE },
  throttled: { baseMs: 5 * SECOND, capMs: 10 * MINUTE },
  slow: { baseMs: 30 * SECOND, capMs: 10 * MINUTE },
} as const

/**
 * waitAfter returns the wait in ms, at least what the other side asked for. `attempts` counts all attempts of the
 * version, at least 1.
 */
export function waitAfter(
  { retryAfterMs, rule }: Pick<Failure, 'retryAfterMs' | 'rule'>,
  attempts: number,
  random: () => number,
): number {
  return Math.max(fullJitter(CURVES[rule.pace], attempts - 1, random), retryAfterMs ?? 0)
}
