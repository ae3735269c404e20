// Owns when the next version of a feed is expected, and whether it is late. Only the history and the rules decide,
// so `status` shows it without a running daemon, too.

import { isAbsolute } from 'node:path'
import { isoTime } from '../lib/clock.ts'
import { isDue } from '../lib/due.ts'
import type { VersionReads } from './port.ts'
import type { Expectation, Version } from './rows.ts'

const NOT_EXPECTED: Expectation = { expectedBy: null, overdue: false }

/** ExpectingRules returns what the rules of the configuration (`FeedRule`) say about a path. */
type ExpectingRules = (
  path: string,
  named?: string | null,
) => { feed: string; expectEveryMs: number | null }

/**
 * expectations returns a function that says of a version whether its feed is late. A file with the same bytes as before
 * counts as an arrival, because its writer did its work. A rejected version counts, because it is reported on its own.
 */
export function expectations(
  history: VersionReads,
  ruleFor: ExpectingRules,
  now: number,
): (version: Version) => Expectation {
  return (version) => {
    // The path of a file that a person uploaded from elsewhere matches no rule, so the name of its feed gives the rule.
    const named = isAbsolute(version.path) ? version.feed : null
    const { feed, expectEveryMs } = ruleFor(version.path, named)
    const isNewest = () => history.newest(version.feed)?.id === version.id
    if (expectEveryMs === null || feed !== version.feed || !isNewest()) return NOT_EXPECTED
    const expectedBy = lastArrival(history, version, now) + expectEveryMs
    // The feed is in time until `expectedBy` has passed.
    const overdue = isDue(expectedBy + 1, now, expectEveryMs)
    return { expectedBy: isoTime(expectedBy), overdue }
  }
}

/**
 * lastArrival returns the wall ms of the feed's last arrival. An arrival that a wrong clock dated in the future counts
 * only when the feed has no other arrival. Otherwise the feed would not become overdue for a long time.
 */
function lastArrival(history: VersionReads, newest: Version, now: number): number {
  // A `seen` event belongs to the version with the same bytes, which is not always the newest version.
  const newestRead = history.newestRead(newest.feed) ?? newest
  const arrivals = [newest, newestRead].flatMap(({ id }) => history.lastArrivalAt(id, now) ?? [])
  return arrivals.length > 0 ? Math.max(...arrivals) : newest.detectedAt
}
