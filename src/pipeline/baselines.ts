// Compares a version with the versions that it would replace, and asks the guards about it: once when its file was
// read, and again when its form has come. In between, an earlier version might have been uploaded, discarded or
// released. guards.ts has the rules.

import type { RuleFor } from '../config/feeds.ts'
import { MOST_SUMMED, type PostingChanges } from '../domain/difference.ts'
import { feedWithoutRule } from '../domain/feed-name.ts'
import { MOST_ENTRIES } from '../feed/entries.ts'
import type { CheckerFor } from '../feed/port.ts'
import type { HeldDifference, HistoryReader, Recent, Transition, Version } from '../history/port.ts'
import { isRetryable } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Spool } from '../spool/port.ts'
import { accountFacts, formerVersion, type Judging, type Named } from './account-facts.ts'
import { SENT_OR_WAITING } from './decide/replace.ts'
import { heldAnew, secondFeed } from './decide/second-feed.ts'
import type { Held } from './decide/sending.ts'
import { deedFacts, once } from './facts.ts'
import { type FeedPast, type GuardedVersion, guard } from './guards.ts'

/** Compared maps the id of each baseline, in order, to the changes since that version; null if they are not known. */
export type Compared = Map<number, PostingChanges | null>

const LOST: Held = {
  guard: 'history-lost',
  code: 'history-lost',
  reason:
    'the history was lost, so it is unknown what the service has of this feed, or whether this was held before',
  hint: 'Look at the held feeds; release all of them if they are right, or single ones.',
}

/** MOST_REMEMBERED limits the versions whose comparisons are kept. Others are compared again before they are sent. */
const MOST_REMEMBERED = 1000

interface ComparisonsParts {
  checkerFor: CheckerFor
  judging: Judging
  log: Log
  ruleFor: RuleFor
  spool: Spool
}

/** Copied is a version of a feed, or a file that is about to become a version. `copy` is the path of its copy. */
type Copied = Named & Pick<Version, 'bytes' | 'encoding'> & { copy: string }

const NOTHING_EARLIER: HeldDifference = { older: null, summary: null }

/** Comparisons compares a version with its baselines, and keeps the results for the time when the version is sent. */
export class Comparisons {
  readonly #checkerFor: CheckerFor
  readonly #judging: Judging
  readonly #log: Log
  readonly #ruleFor: RuleFor
  readonly #spool: Spool
  readonly #known = new Map<number, Compared>()

  constructor({ checkerFor, judging, log, ruleFor, spool }: ComparisonsParts) {
    this.#checkerFor = checkerFor
    this.#judging = judging
    this.#log = log
    this.#ruleFor = ruleFor
    this.#spool = spool
  }

  /** ofIndex compares this index with each baseline that `known` lacks, and adds the results to `known`. */
  async ofIndex(
    { bytes, ...named }: Named & { bytes: number },
    index: string,
    known: Compared = new Map(),
  ): Promise<Compared> {
    for (const older of baselines(this.#judging, named)) {
      if (known.has(older.id)) continue
      const comparison = older.spool && { older: this.#indexOf(older.spool), newer: index }
      known.set(older.id, comparison ? await this.#checkerFor(bytes).compare(comparison) : null)
    }
    return known
  }

  /**
   * of compares the copy of a version with its current baselines. A version that a person approved, or that has no
   * copy, is not compared.
   */
  async of(version: Version): Promise<Compared> {
    const { id, approved, bytes, spool: name } = version
    const known = this.#known.get(id)
    if (approved || name === null) return known ?? new Map()
    return this.ofIndex({ ...version, bytes: bytes ?? 0 }, this.#indexOf(name), known)
  }

  /** #indexOf returns the path of the posting index of a copy. `name` is the name of the copy in the spool. */
  #indexOf(name: string): string {
    return this.#spool.indexOf(this.#spool.path(name))
  }

  /**
   * judge returns why a version is held now, or null if it passes. Call it within the transaction that writes the
   * answer.
   */
  judge(version: GuardedVersion & Named, compared: Compared): Held | null {
    return judge(this.#judging, version, compared)
  }

  /**
   * differenceIfHeld returns what a version changes if a guard holds it now; null if no guard does. Without baselines,
   * it returns a difference without an older version. Rejects when the signal aborts, or with an error that is
   * `isRetryable`.
   */
  async differenceIfHeld(
    version: GuardedVersion & Copied,
    compared: Compared,
    signal: AbortSignal,
  ): Promise<HeldDifference | null> {
    if (compared.size === 0) return NOTHING_EARLIER
    return this.judge(version, compared) === null ? null : this.#difference(version, signal)
  }

  /**
   * #difference compares a held version with the first of its baselines that has a copy. If the comparison fails, it
   * logs the error and returns a difference without summary, because the version is held all the same.
   */
  async #difference(
    { bytes, copy, encoding, ...named }: Copied,
    signal: AbortSignal,
  ): Promise<HeldDifference> {
    const withCopy = ({ spool }: Version) => spool !== null
    const older = baselines(this.#judging, named).find(withCopy) ?? null
    if (older === null || older.spool === null) return NOTHING_EARLIER
    const side = (of: Pick<Version, 'encoding' | 'feed' | 'path'>, file: string) => {
      const { mapping } = this.#ruleFor(of.path, of.feed)
      return { file, sha256: null, mapping: { ...mapping, encoding: of.encoding } }
    }
    const job = {
      older: side(older, this.#spool.path(older.spool)),
      newer: side({ ...named, encoding }, copy),
      mostPostings: MOST_ENTRIES,
      mostNamed: MOST_SUMMED,
    }
    try {
      return { older: older.id, summary: await this.#checkerFor(bytes).difference(job, signal) }
    } catch (error) {
      if (signal.aborted || isRetryable(error)) throw error
      const reason = 'it is not known what a held version changes'
      this.#log.error(
        { event: 'feed.not-compared', err: error, feed: named.feed, path: named.path },
        reason,
      )
      return { older: older.id, summary: null }
    }
  }

  /** remember keeps the comparisons of a version, and forgets the oldest comparisons if there are too many. */
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
  judging: Judging,
  newer: GuardedVersion & Named,
  compared: Compared,
): Held | null {
  const { history, limits } = judging
  const former = once(() => formerVersion(judging, newer))
  const older = baselines(judging, newer, former).map((version) => {
    return { ...version, changes: compared.get(version.id) ?? null }
  })
  const past: FeedPast = {
    turnovers: () => history.turnovers(newer.feed),
    isOtherFile: () =>
      older.every(({ path }) => path !== newer.path) &&
      !history.hasOtherAt(newer) &&
      !changesFiles(history.recent(newer.feed)),
  }
  const found = guard(newer, { older, past }, limits)
  const own: Held | null = found && { ...found, code: found.guard }
  if (isLost(history, newer)) return own ?? LOST
  const second = secondFeed(newer, accountFacts(judging, newer, former))
  // The person who decides must know both reasons.
  return second && own
    ? { ...second, reason: `${second.reason}; also, ${own.reason}` }
    : (second ?? own)
}

/**
 * baselines returns the versions that the new version would replace: the baselines of its feed. A feed without
 * baselines might have had another name before. It then has the first of these: the last version of the same file, the
 * baselines of the feed that the path names without a rule, or the `formerVersion`.
 */
function baselines(
  judging: Judging,
  named: Named,
  former = () => formerVersion(judging, named),
): Version[] {
  const { history } = judging
  const { account, feed, id, path } = named
  const own = history.baselines(feed, id)
  if (own.length > 0) return own
  const before = history.lastVersionAt(path)
  const plain = feedWithoutRule(path)
  const others = before !== null ? [before] : plain === feed ? [] : history.baselines(plain, id)
  const found = others.filter(
    (other) =>
      other.id !== id && other.account === account && SENT_OR_WAITING.includes(other.state),
  )
  return found.length > 0 ? found : [former()].filter((version) => version !== null)
}

/**
 * judgeHeldAnew judges the versions that the guard `second-feed` holds, the oldest first, after the word of a person or
 * a change of the configuration. `write` writes a decision. Call it within a transaction.
 */
export function judgeHeldAnew(
  judging: Judging,
  write: (transitions: readonly Transition[]) => void,
): void {
  const { history } = judging
  const held = history.list({ states: ['held'], all: true }).toReversed()
  for (const version of held.filter(({ guard }) => guard === 'second-feed')) {
    const { waiting } = deedFacts(history, version)
    write(heldAnew(version, judge(judging, version, new Map()), waiting))
  }
}

/**
 * changesFiles returns whether it is usual for the feed that a file with another name brings other postings: it
 * happened in one of the recent versions. `recent` are the versions that were uploaded or approved, the newest first.
 */
function changesFiles(recent: readonly Recent[]): boolean {
  return recent.some(({ changes, path, postings }, n) => {
    const before = recent[n + 1]
    const isOther = before !== undefined && before.path !== path
    return isOther && changes !== null && changes.removed > 0 && changes.added >= (postings ?? 0)
  })
}

/** isLost returns whether only the lost history knew what the service has of this feed. */
function isLost(history: HistoryReader, { feed, id = 0 }: Named): boolean {
  const lost = history.historyLostUpTo()
  if (lost === null) return false
  const last = history.confirmed(feed, id)
  return last === null || (last.id <= lost && !last.approved)
}
