// Holds what would silently wipe a vendor's postings, with one function at two moments: when a feed was read, and
// again when its delivery starts, since what it is compared with may have been uploaded,
// discarded or released meanwhile. Both times within the transaction that writes the outcome.

import type { GuardName, PostingChanges } from '../feed/port.ts'
import { ACCEPTED_OR_UPLOADED, newerOf } from '../history/decisions.ts'
import { historyLostUpTo } from '../history/lost-history.ts'
import type { Files, Notes, Reason, Version, VersionReads } from '../history/port.ts'
import { type GuardedVersion, type GuardLimits, guard } from './guards.ts'
import type { Parts } from './parts.ts'

/** What changed since each baseline, by its id, the first baseline first; null where that is not known. */
export type Compared = Map<number, PostingChanges | null>

/** A version of a feed, or a file that is about to be one (`id` absent). */
type Named = Pick<Version, 'account' | 'feed' | 'path'> & { id?: number }

/** Why a version is held. */
type Held = Reason & { code: GuardName }

const LOST: Held = {
  code: 'history-lost',
  text: 'the history was lost, so it is not known what the service has of this feed, or whether this was held before',
  hint: 'Look at the feeds that are held; release all of them if they are right, or single ones.',
}

/** Versions whose comparisons are kept until they are delivered; others are compared again. */
const MOST_REMEMBERED = 1000

export class Guard {
  readonly #parts: Parts
  readonly #compared = new Map<number, Compared>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Compares the postings of this index with those of each baseline that is not in `known` yet. */
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
   * Null where it passes. Within a transaction. A baseline that appeared after `compare` is compared by its counts
   * alone.
   */
  judge(newer: GuardedVersion & Named, compared: Compared): Held | null {
    const { config, history } = this.#parts
    return judge(history, config.guards, newer, compared)
  }

  /** Spares the delivery of this version its comparisons. */
  remember(id: number, compared: Compared): void {
    this.#compared.set(id, compared)
    const [oldest] = this.#compared.keys()
    if (this.#compared.size > MOST_REMEMBERED && oldest !== undefined) this.#compared.delete(oldest)
  }

  /**
   * Begins an attempt to deliver, in one transaction with the last judgement. Null where the version may not be
   * sent: it is held then, or a newer one that waits has taken its place.
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
    // Of a delivery that has begun only its start is judged; what a person approved is not judged at all.
    if (version?.state !== 'queued') return true
    const held = version.approved ? null : this.judge(version, compared)
    // A newer one that is held does not take the place of what is accepted, only of what is held.
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

/** What the guards ask of the history. */
type Known = VersionReads & Pick<Files, 'lastVersionAt'> & Pick<Notes, 'note'>

/** Why these contents would be held as a version of their feed; null: they pass. */
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

/** What it takes the place of. A feed that a rule has just given another name is still what its file was. */
function baselines(history: Known, { account, feed, id, path }: Named): Version[] {
  const own = history.baselines(feed, id)
  const before = own.length > 0 ? null : history.lastVersionAt(path)
  const isSame = before !== null && before.id !== id && before.account === account
  return isSame && ACCEPTED_OR_UPLOADED.includes(before.state) ? [before] : own
}

/** Whether all that is known of what the service has of this feed went with a history that was lost. */
function isLost(history: Known, { feed, id = 0 }: Named): boolean {
  const lost = historyLostUpTo(history)
  if (lost === null) return false
  const last = history.confirmed(feed, id)
  return last === null || (last.id <= lost && !last.approved)
}
