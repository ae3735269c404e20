// Owns when the next version of a feed is expected, and whether it is late. Only the history and the rules decide, so
// `status` knows it with the daemon down too. An expected feed without a file gets a version that is `gone`: `status`
// shows the feed from the start, and it becomes overdue when no file comes. The first file takes over this version.

import { isAbsolute } from 'node:path'
import { isoTime } from '../lib/clock.ts'
import { isDue } from '../lib/due.ts'
import { formatDuration } from '../lib/units.ts'
import type { Notes, Transactions, VersionReads, Versions } from './port.ts'
import { NOT_SEEN } from './reason-codes.ts'
import type { Expectation, Version } from './rows.ts'

const NOT_EXPECTED: Expectation = { expectedBy: null, overdue: false }

/** ExpectingRules returns what the rules of the configuration (`FeedRule`) say about a path. */
export type ExpectingRules = (
  path: string,
  named?: string | null,
) => { feed: string; expectEveryMs: number | null }

/**
 * expectations returns a function that says of a version whether its feed is late. The same bytes again count as an
 * arrival, because their writer did its work. A rejected version counts too, because it is reported on its own.
 */
export function expectations(
  history: VersionReads,
  ruleFor: ExpectingRules,
  now: number,
): (version: Version) => Expectation {
  return (version) => {
    // A file that a person uploaded from elsewhere is no arrival, so the feed may still be overdue.
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
 * lastArrival returns the wall ms of the feed's last arrival. An arrival dated in the future by a wrong clock counts
 * only when there is no other; otherwise its feed would not become overdue for a long time.
 */
function lastArrival(history: VersionReads, newest: Version, now: number): number {
  // A `seen` event belongs to the version with the same bytes, which is not always the newest version.
  const taken = history.newestTaken(newest.feed) ?? newest
  const arrivals = [newest, taken].flatMap(({ id }) => history.lastArrivalAt(id, now) ?? [])
  return arrivals.length > 0 ? Math.max(...arrivals) : newest.detectedAt
}

/** ExpectingRule is the part of a configured rule (config/feeds.ts) that is needed here. */
export interface ExpectingRule {
  match: string
  name: string | null
  expectEveryMs: number | null
}

/** The note with this prefix and a feed's name holds the id of the version that was added for the missing file. */
const NOTE = 'expected feed '

/**
 * expectFeeds runs at the start. It adds a `gone` version for each expected feed without a version, and removes that
 * version when no rule expects the feed. `ruleFor` returns the feed of a path.
 */
export function expectFeeds(
  history: Versions & Notes & Transactions,
  rules: readonly ExpectingRule[],
  ruleFor: (path: string) => { feed: string },
  now: number,
): void {
  const expected = new Map(
    rules.flatMap(({ match, name, expectEveryMs }) => {
      const feed = name ?? match
      // A name with placeholders stands for many feeds, and nobody knows them before their first files.
      const isLiteral = !/[{*?[]/.test(feed) && ruleFor(match).feed === feed
      return isLiteral && expectEveryMs !== null ? [[feed, { match, expectEveryMs }] as const] : []
    }),
  )
  history.atomically(() => {
    for (const note of history.notes(NOTE)) {
      if (!expected.has(note.slice(NOTE.length))) expectNoMore(history, note)
    }
    for (const [feed, { match, expectEveryMs }] of expected) {
      if (history.newest(feed) !== null) continue
      const first = { feed, path: match, account: null, state: 'settling', reason: null } as const
      const { id } = history.add({ ...first, at: now })
      const text = `no file of this feed has come yet; one is expected every ${formatDuration(expectEveryMs)}`
      history.move(id, 'gone', { code: NOT_SEEN, text }, now)
      history.setNote(NOTE + feed, String(id))
    }
  })
}

function expectNoMore(history: Versions & Notes, note: string): void {
  const version = history.version(Number(history.note(note)))
  if (version?.state === 'gone' && version.sha256 === null) history.forget(version.id)
  history.setNote(note, null)
}
