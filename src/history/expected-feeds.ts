// Owns when a feed's next version is expected, and whether it is late: from the history and the rules alone, so that it
// is answered with the daemon down too. A feed that nobody has seen yet gets a version that is `gone`, so that it is in
// `status` from the start, overdue when nothing comes, and the first file's own when one does.

import { isAbsolute } from 'node:path'
import { isoTime } from '../lib/clock.ts'
import { isDue } from '../lib/due.ts'
import { formatDuration } from '../lib/units.ts'
import type { Notes, Transactions, VersionReads, Versions } from './port.ts'
import { NOT_SEEN } from './reason-codes.ts'
import type { Expectation, Version } from './rows.ts'

const NOT_EXPECTED: Expectation = { expectedBy: null, overdue: false }

/** What the rules say of a path: `FeedRule` of the configuration. */
export type ExpectingRules = (
  path: string,
  named?: string | null,
) => { feed: string; expectEveryMs: number | null }

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
    // A file from elsewhere, which a person uploaded, does not keep its feed from being missed.
    const named = isAbsolute(version.path) ? version.feed : null
    const { feed, expectEveryMs } = ruleFor(version.path, named)
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

/** What is needed of a rule of the configuration (config/feeds.ts). */
export interface ExpectingRule {
  match: string
  name: string | null
  expectEveryMs: number | null
}

/** Notes with this name and a feed tell which version stands for its file. */
const NOTE = 'expected feed '

/** At the start. `ruleFor`: the feed that a path belongs to. */
export function expectFeeds(
  history: Versions & Notes & Transactions,
  rules: readonly ExpectingRule[],
  ruleFor: (path: string) => { feed: string },
  now: number,
): void {
  const expected = new Map(
    rules.flatMap(({ match, name, expectEveryMs }) => {
      const feed = name ?? match
      // A pattern matches itself; its feed is known beforehand only if the name says it all.
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
      const text = `no file of it has been seen yet; one is expected every ${formatDuration(expectEveryMs)}`
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
