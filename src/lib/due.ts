// Decides when a stored wall-clock time is due, on a host whose clock is wrong now or was wrong when the time was
// stored. Every comparison of a stored time with now is here. Pure.

import { HOUR, MINUTE, SECOND } from './clock.ts'

/** Longest wait before the next attempt: a longer Retry-After is cut to it, and our own waits are shorter. */
export const LONGEST_ATTEMPT_WAIT_MS = HOUR

/** A command that waits for a result also waits for another attempt that begins within this time. */
const SOON_MS = 2 * SECOND

/** Clocks are corrected by small steps all the time; only a larger step counts. */
const TOLERANCE_MS = MINUTE

/**
 * isDue returns whether `at` (wall ms) is reached; null counts as reached. A time further ahead than `longestMs`, the
 * longest wait that may be stored for this purpose, is due as well, because a clock that ran ahead stored it.
 */
export function isDue(at: number | null, now: number, longestMs: number): boolean {
  return at === null || at <= now || at > latestLegal(now, longestMs)
}

/** isSoon returns whether the next attempt at `at` (wall ms; null if it is due now) is due within two seconds. */
export function isSoon(at: number | null, now: number): boolean {
  return isDue(at, now + SOON_MS, LONGEST_ATTEMPT_WAIT_MS)
}

/**
 * latestLegal returns the latest wall ms that a stored time may have, so that a database query can do the work of
 * `isDue`. For a past event, `longestMs` is 0: a clock that ran ahead stored any later time.
 */
export function latestLegal(now: number, longestMs: number): number {
  return now + longestMs + TOLERANCE_MS
}

/**
 * isStillOpen returns whether less than `forMs` have passed since `at`, both in wall ms. A time in the future is still
 * open: a clock that ran ahead stored it, so nobody knows how much time has passed.
 */
export const isStillOpen = (at: number, now: number, forMs: number): boolean => now - at < forMs

/** isRecent returns whether a heartbeat is at most `withinMs` before or after `now`. */
export function isRecent(at: number, now: number, withinMs: number): boolean {
  return Math.abs(now - at) <= withinMs
}
