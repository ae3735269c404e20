// Owns when a feed's next version is expected, and whether it is late.
// Pure: from the history and the rules alone, so that it is answered with the daemon down too.

import { isoTime } from '../lib/clock.ts'
import { isDue } from '../lib/due.ts'
import type { Version, VersionReads } from './port.ts'

export interface Expectation {
  /** ISO 8601 UTC; null: no rule expects one, or the version is not its feed's newest. */
  expectedBy: string | null
  overdue: boolean
}

export const NOT_EXPECTED: Expectation = { expectedBy: null, overdue: false }

/** What the rules say of a path: `FeedRule` of the configuration. */
export type ExpectingRules = (path: string) => { feed: string; expectEveryMs: number | null }

/**
 * Answers for any version whether its feed is late. The same bytes again count as an arrival, since
 * their writer did its work; so does what was rejected, which is reported for itself.
 */
export function expectations(
  history: VersionReads,
  ruleFor: ExpectingRules,
  now: number,
): (version: Version) => Expectation {
  return (version) => {
    const { feed, expectEveryMs } = ruleFor(version.path)
    const isNewest = () => history.newest(version.feed)?.id === version.id
    if (expectEveryMs === null || feed !== version.feed || !isNewest()) return NOT_EXPECTED
    const expectedBy = lastArrival(history, version, now) + expectEveryMs
    // Not in its last moment yet.
    const overdue = isDue(expectedBy + 1, now, expectEveryMs)
    return { expectedBy: isoTime(expectedBy), overdue }
  }
}

/** One that a clock dated ahead counts only where there is no other: else its feed would not be missed for long. */
function lastArrival(history: VersionReads, newest: Version, now: number): number {
  // Bytes that are seen again are noted at the version that they are, which may not be the newest.
  const taken = history.newestTaken(newest.feed) ?? newest
  const arrivals = [newest, taken].flatMap(({ id }) => history.lastArrivalAt(id, now) ?? [])
  return arrivals.length > 0 ? Math.max(...arrivals) : newest.detectedAt
}
