// Owns how long a version waits before its next attempt. A wait that fits into the two seconds of quick attempts is
// made within the delivery (uploader.ts); every longer one is on record, and the version is queued. Pure.

import { MINUTE, SECOND } from '../lib/clock.ts'
import type { Failure } from '../lib/decision-table.ts'
import { fullJitter } from '../lib/retry.ts'

/** What the quick attempts of one delivery may wait together, in ms. */
export const QUICK_MS = 2 * SECOND
/** Attempts of one delivery, at most. */
export const QUICK_TRIES = 4

/** By the pace of a row of the decision table. */
export const CURVES = {
  usual: { baseMs: SECOND, capMs: 10 * MINUTE },
  throttled: { baseMs: 5 * SECOND, capMs: 10 * MINUTE },
  slow: { baseMs: 30 * SECOND, capMs: 10 * MINUTE },
} as const

/** In ms: no less than the other side asked for. `attempts`: all that were made of the version, at least 1. */
export function waitAfter(
  { retryAfterMs, rule }: Pick<Failure, 'retryAfterMs' | 'rule'>,
  attempts: number,
  random: () => number,
): number {
  return Math.max(fullJitter(CURVES[rule.pace], attempts - 1, random), retryAfterMs ?? 0)
}
