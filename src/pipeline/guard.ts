// Guard holds a version that would silently wipe a vendor's postings. It judges at two moments: when the feed was read,
// and when its delivery starts. In between, an earlier version may have been uploaded, discarded or released. Each
// judgement is part of the transaction that writes the outcome.

import type { GuardName, PostingChanges } from '../feed/port.ts'
import { ACCEPTED_OR_UPLOADED, newerOf } from '../history/decisions.ts'
import { historyLostUpTo } from '../history/lost-history.ts'
import type { Files, Notes, Reason, Version, VersionReads } from '../history/port.ts'
import { type GuardedVersion, type GuardLimits, guard } from './guards.ts'
import type { Parts } from './parts.ts'

/** Compared maps the id of each baseline, in order, to the changes since it; null: the changes are not known. */
export type Compared = Map<number, PostingChanges | null>

/** Named is a version of a feed, or a file that is about to become one (without an `id`). */
type Named = Pick<Version, 'account' | 'feed' | 'path'> & { id?: number }

type Held = Reason & { code: GuardName }

const LOST: Held = {
  code: 'history-lost',
  text: 'the history was lost, so it is unknown what the service has of this feed, or whether this was held before',
  hint: 'Look at the held feeds; release all of them if they are right, or single ones.',
}

/** MOST_REMEMBERED limits the versions whose comparisons are kept until delivery; the others are compared again. */
const MOST_REMEMBERED = 1000

export class Guard {
  readonly #parts: Parts
  readonly #compared = new Map<number, Compared>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** compare compares the postings of this index with those of each baseline that `known` does not contain. */
  async compare(
    { bytes, ...named }: Named & { bytes: number },
    index: string,
    known: Compared = new Map(),
  ): Promise<Compared> {
    const { checkerFor, spool } = this.#parts
    for (const older of baselines(this.#parts.history, named)) {
      if (known.has(older.id)) continue
      const comparison = older.spool && {
        older: spool.indexOf(spool.path(older.spool)),
        newer: index,
      }
      known.set(older.id, comparison ? await checkerFor(bytes).compare(comparison) : null)
    }
    return known
  }

  /**
   * judge returns why the version is held, or null if it passes. Call it within a transaction. If a baseline appeared
   * after `compare`, only its counts are compared.
   */
  judge(newer: GuardedVersion & Named, compared: Compared): Held | null {
    const { config, history } = this.#parts
    return judge(history, config.guards, newer, compared)
  }

  /** remember keeps the comparisons of this version for its delivery. */
  remember(id: number, compared: Compared): void {
    this.#compared.set(id, compared)
    const [oldest] = this.#compared.keys()
    if (this.#compared.size > MOST_REMEMBERED && oldest !== undefined) this.#compared.delete(oldest)
  }

  /**
   * start judges the version once more and begins an attempt, in one transaction. It returns null if the version must
   * not be sent: the version is then held, or a newer waiting version has taken its place.
   */
  async start<T>(version: Version, begin: () => T): Promise<T | null> {
    const compared = await this.#comparisons(version)
    return this.#parts.history.commit(() => (this.#admit(version.id, compared) ? begin() : null))
  }

  async #comparisons(version: Version): Promise<Compared> {
    const { id, approved, bytes, spool: name } = version
    const known = this.#compared.get(id)
    if (approved || name === null) return known ?? new Map()
    const { spool } = this.#parts
    const index = spool.indexOf(spool.path(name))
    return this.compare({ ...version, bytes: bytes ?? 0 }, index, known)
  }

  #admit(id: number, compared: Compared): boolean {
    const { history, ledger } = this.#parts
    const version = history.version(id)
    // Later attempts of a delivery are not judged again. A version that a person approved is never judged.
    if (version?.state !== 'queued') return true
    const held = version.approved ? null : this.judge(version, compared)
    // A newer held version takes the place of a held version only, never of an accepted one.
    const replaces =
      newerOf(history, version, ['queued']) ??
      (held === null ? undefined : newerOf(history, version, ['held']))
    if (replaces !== undefined) {
      ledger.supersede(version, replaces)
      return false
    }
    if (held !== null) ledger.move(id, 'held', held, { guard: held.code })
    return held === null
  }
}

/** Known is the part of the history that the guards read. */
type Known = VersionReads & Pick<Files, 'lastVersionAt'> & Pick<Notes, 'note'>

/** judge returns why this content would be held as a version of its feed, or null if it passes. */
export function judge(
  history: Known,
  limits: GuardLimits,
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
 * baselines returns the versions that the new one would replace. After a rule gave a feed another name, the last
 * version of the same file is the baseline.
 */
function baselines(history: Known, { account, feed, id, path }: Named): Version[] {
  const own = history.baselines(feed, id)
  const before = own.length > 0 ? null : history.lastVersionAt(path)
  const isSame = before !== null && before.id !== id && before.account === account
  return isSame && ACCEPTED_OR_UPLOADED.includes(before.state) ? [before] : own
}

/** isLost reports whether the lost history held the only record of what the service has of this feed. */
function isLost(history: Known, { feed, id = 0 }: Named): boolean {
  const lost = historyLostUpTo(history)
  if (lost === null) return false
  const last = history.confirmed(feed, id)
  return last === null || (last.id <= lost && !last.approved)
}
