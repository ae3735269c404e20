// Owns the detection of a history that was lost or replaced by an earlier copy. Such a history lacks what was held or
// confirmed after that copy, so each feed waits for one decision of a person. The copies in the spool are the evidence:
// a copy is named after a version's id, and that version's row is always written first. A fresh install has no copies.

import { feedHash, parseCopyName } from '../domain/spool-name.ts'
import type { Connection } from './connection.ts'
import type { Version } from './rows.ts'
import type { VersionReads } from './version-reads.ts'
import type { VersionWrites } from './version-writes.ts'

/** AfterLoss are the versions that are held only because the history was lost. */
export interface AfterLoss {
  /** A decision about all of them can send these. */
  plausible: Version[]
  /** These have less than half of the postings of a kept copy: a person releases or discards each of them. */
  collapsed: Version[]
}

export function lostHistory(db: Connection, versions: VersionReads & VersionWrites) {
  const historyLostUpTo = () => db.value<number>('SELECT lost_up_to FROM settings')
  const keptPostings = (feed: string) =>
    db.value<number>('SELECT postings FROM kept_copies WHERE feed_hash = ?', feedHash(feed))
  return {
    /**
     * historyLostUpTo returns the last id from before the loss; null means no history was lost, or a person has
     * decided. Up to this id, versions do not show what the service has.
     */
    historyLostUpTo,

    /** keptPostings counts the postings in a feed's largest copy at the last loss; null if the feed had no copy. */
    keptPostings,

    /**
     * recordLoss records a loss of the history, and forgets all approvals, if the spool has the copy of a version that
     * the history does not know. `copies` are the names of the files in the spool. It runs at the start, before the
     * spool is swept. Returns whether it found a loss.
     */
    recordLoss: (copies: readonly string[]): boolean =>
      db.joinTransaction(() => {
        const known = versions.lastId()
        if (copies.every((name) => idOf(name) <= known)) return false
        db.run('UPDATE settings SET lost_up_to = ?', known)
        db.run('DELETE FROM kept_copies')
        for (const [hash, postings] of largestOf(copies))
          db.run('INSERT INTO kept_copies VALUES (?, ?)', hash, postings)
        // An approval in an earlier history says nothing about the feed as it is now.
        versions.forgetApprovals()
        return true
      }),

    /** heldAfterLoss returns what is held for the loss alone; null when there is no loss and nothing is held for it. */
    heldAfterLoss: (): AfterLoss | null => {
      const held = versions
        .list({ states: ['held'], all: true })
        .filter(({ guard }) => guard === 'history-lost')
      if (historyLostUpTo() === null && held.length === 0) return null
      const { plausible = [], collapsed = [] } = Object.groupBy(held, ({ feed, postings }) => {
        const kept = keptPostings(feed)
        return kept !== null && (postings ?? 0) < kept / 2 ? 'collapsed' : 'plausible'
      })
      return { plausible, collapsed }
    },

    /** endLoss ends the loss: from now on, the first version of a feed is sent without a question again. */
    endLoss: (): void => void db.run('UPDATE settings SET lost_up_to = NULL'),
  }
}

/** idOf returns the version id in the name of a copy. A half-written copy has no id yet and counts as 0. */
function idOf(name: string): number {
  return parseCopyName(name)?.id ?? 0
}

/** largestOf returns the largest number of postings in the copies of each feed, by the hash of the feed's name. */
function largestOf(copies: readonly string[]): Map<string, number> {
  const largest = new Map<string, number>()
  for (const { feedHash, postings } of copies.flatMap((name) => parseCopyName(name) ?? []))
    largest.set(feedHash, Math.max(largest.get(feedHash) ?? 0, postings))
  return largest
}
