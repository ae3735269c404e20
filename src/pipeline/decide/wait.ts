// Decides how long a version waits before its next attempt. Pure.

import type { Failure } from '../../domain/decision-table.ts'
import { MINUTE, SECOND } from '../../lib/clock.ts'
import { fullJitter } from '../../lib/retry.ts'

/** CURVES has the waits for each pace of the decision table. */
export const CURVES = {
  usual: { baseMs: SECOND, capMs: 10 * MINUTE },
  throttled: { baseMs: 5 * SECOND, capMs: 10 * MINUTE },
  slow: { baseMs: 30 * SECOND, capMs: 10 * MINUTE },
} as const

/**
 * waitAfter returns the wait in ms, at least what the other side asked for. `attempts` counts all attempts of the
 * version, at least 1; `random` is from 0 to 1.
 */
export function waitAfter(
  { retryAfterMs, rule }: Pick<Failure, 'retryAfterMs' | 'rule'>,
  attempts: number,
  random: number,
): number {
  return Math.max(
    fullJitter(CURVES[rule.pace], attempts - 1, () => random),
    retryAfterMs ?? 0,
  )
}
