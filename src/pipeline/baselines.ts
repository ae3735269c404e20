// Judges a version beside those that it would replace. It is judged when its feed was read, and again when its form has
// come: in between, an earlier version may have been uploaded, discarded or released. guards.ts has the rules.

import type { FeedChecker, PostingChanges } from '../feed/port.ts'
import { historyLostUpTo } from '../history/lost-history.ts'
import type { Files, Notes, Version, VersionReads } from '../history/port.ts'
import { feedWithoutRule } from '../lib/feed-name.ts'
import type { Spool } from '../spool/port.ts'
import { SENT_OR_WAITING } from './decide/replace.ts'
import type { Held } from './decide/sending.ts'
import { type GuardedVersion, type GuardLimits, guard } from './guards.ts'

/** Compared maps the id of each baseline, in order, to the changes since it; null: the changes are not known. */
export type Compared = Map<number, PostingChanges | null>

/** Named is a version of a feed, or a file that is about to become one (without an `id`). */
type Named = Pick<Version, 'account' | 'feed' | 'path'> & { id?: number }

const LOST: Held = {
  code: 'history-lost',
  text: 'the history was lost, so it is unknown what the service has of this feed, or whether this was held before',
  hint: 'Look at the held feeds; release all of them if they are right, or single ones.',
}

/** MOST_REMEMBERED limits the versions whose comparisons are kept until they are sent; others are compared again. */
const MOST_REMEMBERED = 1000

/** Known is the part of the history that the guards read. */
type Known = VersionReads & Pick<Files, 'lastVersionAt'> & Pick<Notes, 'note'>

export interface ComparisonParts {
  history: Known
  spool: Spool
  checkerFor: (bytes: number | null) => FeedChecker
}

/** Comparisons compares postings with those of the baselines, and keeps the results until the version is sent. */
export class Comparisons {
  readonly #parts: ComparisonParts
  readonly #known = new Map<number, Compared>()

  constructor(parts: ComparisonParts) {
    this.#parts = parts
  }

  /** ofIndex compares the postings of this index with those of each baseline that `known` does not contain. */
  async ofIndex(
    { bytes, ...named }: Named & { bytes: number },
    index: string,
    known: Compared = new Map(),
  ): Promise<Compared> {
    const { checkerFor, history, spool } = this.#parts
    for (const older of baselines(history, named)) {
      if (known.has(older.id)) continue
      const comparison = older.spool && {
        older: spool.indexOf(spool.path(older.spool)),
        newer: index,
      }
      known.set(older.id, comparison ? await checkerFor(bytes).compare(comparison) : null)
    }
    return known
  }

  /** of compares a version that has its copy with its present baselines. An approved one needs no comparison. */
  async of(version: Version): Promise<Compared> {
    const { id, approved, bytes, spool: name } = version
    const known = this.#known.get(id)
    if (approved || name === null) return known ?? new Map()
    const { spool } = this.#parts
    const index = spool.indexOf(spool.path(name))
    return this.ofIndex({ ...version, bytes: bytes ?? 0 }, index, known)
  }

  /** remember keeps the comparisons of this version until it is sent. */
  remember(id: number, compared: Compared): void {
    this.#known.set(id, compared)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MOST_REMEMBERED && oldest !== undefined) this.#known.delete(oldest)
  }
}

/**
 * judge returns why this content is held as a version of its feed, or null if it passes. Call it within the transaction
 * that writes the answer. If a baseline appeared after the comparison, only its counts are compared.
 */
export function judge(
  { history, limits }: { history: Known; limits: GuardLimits },
  newer: GuardedVersion & Named,
  compared: Compared,
): Held | null {
  const older = baselines(history, newer).map((version) => {
    return { ...version, changes: compared.get(version.id) ?? null }
  })
  const found = guard(newer, older, limits, () => history.turnovers(newer.feed))
  if (found !== null) return { code: found.guard, text: found.reason, hint: found.hint }
  return isLost(history, newer) ? LOST : null
}

/**
 * baselines returns the versions that the new one would replace. After a rule gave a feed another name, these are the
 * last version of the same file, or the versions of the feed that the file would be without the rule.
 */
function baselines(history: Known, { account, feed, id, path }: Named): Version[] {
  const own = history.baselines(feed, id)
  if (own.length > 0) return own
  const before = history.lastVersionAt(path)
  const unruled = feedWithoutRule(path)
  if (before === null && unruled === feed) return own
  const others = before === null ? history.baselines(unruled, id) : [before]
  return others.filter(
    (other) =>
      other.id !== id && other.account === account && SENT_OR_WAITING.includes(other.state),
  )
}

/** isLost reports whether the lost history held the only record of what the service has of this feed. */
function isLost(history: Known, { feed, id = 0 }: Named): boolean {
  const lost = historyLostUpTo(history)
  if (lost === null) return false
  const last = history.confirmed(feed, id)
  return last === null || (last.id <= lost && !last.approved)
}
