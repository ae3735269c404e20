// Owns feeds that a rule expects and that nobody has seen yet: each gets a version that is `gone`, so
// that it is in `status` from the start, overdue when nothing comes, and the first file's own when one does.

import { formatDuration } from '../lib/units.ts'
import type { Notes, Transactions, Versions } from './port.ts'
import { NOT_SEEN } from './reason-codes.ts'

/** What is needed of a rule of the configuration (config/feeds.ts). */
export interface ExpectingRule {
  match: string
  name: string | null
  expectEveryMs: number | null
}

/** Notes with this name and a feed tell which version stands for its file. */
const NOTE = 'expected feed '

/** At the start and after a reload. `ruleFor`: the feed that a path belongs to. */
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
