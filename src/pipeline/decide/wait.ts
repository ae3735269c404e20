// Decides how long a version waits before its next attempt. Pure.

import type { Failure } from '../../domain/decision-table.ts'
import { MINUTE, SECOND } from '../../lib/clock.ts'
import { fullJitter } from '../../lib/retry.ts'

/** CURVES has the waits for each pace of the decision table. */
const CURVES = {
  usual: { baseMs: SECOND, capMs: 10 * MINUTE },
  throttled: { baseMs: 5 * SECOND, capMs: 10 * MINUTE },
  slow: { baseMs: 30 * SECOND, capMs: 10 * MINUTE },
} as const

/**
 * waitAfter returns the wait in ms, which is never shorter than the service or storage asked for. `attempts` counts the
 * attempts of the version (1 or more); `random` is from 0 to 1.
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
