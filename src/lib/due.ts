// Decides when a stored wall-clock time is due, on a host whose clock is wrong, or was wrong when the time
// was stored. Whatever compares a stored time with now asks here. Pure.

import { HOUR, MINUTE } from './clock.ts'

/** Longest wait before a next attempt: a Retry-After is cut to it, and every wait of ours is shorter. */
export const LONGEST_ATTEMPT_WAIT_MS = HOUR

/** Clocks are corrected by small steps all the time; only a larger one counts. */
const TOLERANCE_MS = MINUTE

/**
 * True once `at` (wall ms) is reached, and when `at` lies further ahead than any legal wait: then it was
 * stored by a clock that ran ahead. `longestMs`: the longest wait that may be stored for this purpose.
 */
export function isDue(at: number | null, now: number, longestMs: number): boolean {
  return at === null || at <= now || at > latestLegal(now, longestMs)
}

/**
 * The latest time that something may wait for, in wall ms: `isDue` for a query. With a wait of 0, the latest
 * time that a past event may bear: a later one was stored by a clock that ran ahead.
 */
export function latestLegal(now: number, longestMs: number): number {
  return now + longestMs + TOLERANCE_MS
}

/** Whether a sign of life is young enough. One from the future, beyond the same age, proves nothing. */
export function isRecent(at: number, now: number, withinMs: number): boolean {
  return Math.abs(now - at) <= withinMs
}
