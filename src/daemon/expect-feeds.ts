// Adds the feeds that the rules expect. An expected feed without a file gets a version that is `gone`: `status` shows
// the feed from the start, and it becomes overdue when no file comes. The first file takes over this version.

import type { FeedConfig } from '../config/config.ts'
import { NOT_SEEN } from '../domain/reason-codes.ts'
import type { History } from '../history/port.ts'
import { decideExpected, decideStart } from '../pipeline/decide/start.ts'
import type { Ledger } from '../pipeline/ledger.ts'

/** ExpectingRule is the part of a rule that says which feed is expected, and how often. */
export type ExpectingRule = Pick<FeedConfig, 'expectEveryMs' | 'match' | 'name'>

/**
 * expectFeeds runs at the start. It adds a `gone` version for each expected feed without a version, and removes each
 * version that it added earlier if no rule expects its feed any more. `ruleFor` returns the rule for a path.
 */
export function expectFeeds(
  { history, ledger }: { history: History; ledger: Ledger },
  rules: readonly ExpectingRule[],
  ruleFor: (path: string) => { feed: string },
): void {
  const expected = new Map(
    rules.flatMap(({ match, name, expectEveryMs }) => {
      const feed = name ?? match
      // A name with placeholders stands for many feeds, and nobody knows these before their first files.
      const isOneFeed = !/[{*?[]/.test(feed) && ruleFor(match).feed === feed
      return isOneFeed && expectEveryMs !== null ? [[feed, { match, expectEveryMs }] as const] : []
    }),
  )
  history.atomically(() => {
    for (const version of history.list({ states: ['gone'], all: true })) {
      const wasNeverSeen = version.reasonCode === NOT_SEEN
      if (wasNeverSeen && !expected.has(version.feed))
        ledger.write(decideStart(version, { kind: 'not-expected' }))
    }
    for (const [feed, { match, expectEveryMs }] of expected) {
      if (history.newest(feed) !== null) continue
      ledger.write(decideExpected({ feed, path: match, everyMs: expectEveryMs }))
    }
  })
}
