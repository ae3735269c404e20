// Owns the detection of a history that was lost or replaced by an earlier copy. Such a history does not know what was
// held or confirmed since, so each feed waits for one decision of a person. The copies in the spool are the evidence: a
// copy is named after a version's id, and that version's row is always written first. A fresh install has no copies.

import { feedHash, parseCopyName } from '../domain/spool-name.ts'
import type { Notes, VersionReads, Versions } from './port.ts'
import type { Version } from './rows.ts'

/** Name of the note with the last id that the history knew when the loss was found. It stays until a person decides. */
const NOTE = 'history lost up to'
/** Name of the note with the numbers of postings in the copies that were there when the loss was found. */
const KEPT_NOTE = 'kept copies'

/**
 * noteLoss runs at the start, before the spool is swept. `copies` are the names of its files. Returns whether it found
 * a loss.
 */
export function noteLoss(
  history: Pick<Versions, 'forgetApprovals' | 'lastId'> & Notes,
  copies: readonly string[],
): boolean {
  const known = history.lastId()
  if (copies.every((name) => idOf(name) <= known)) return false
  history.setNote(NOTE, String(known))
  history.setNote(KEPT_NOTE, JSON.stringify(largestOf(copies)))
  // An approval in an earlier history says nothing about the feed as it is now.
  history.forgetApprovals()
  return true
}

/**
 * historyLostUpTo returns the last id from before the loss, or null. Up to it, versions do not show what the service
 * has.
 */
export function historyLostUpTo(history: Pick<Notes, 'note'>): number | null {
  const note = history.note(NOTE)
  return note === null ? null : Number(note)
}

/** AfterLoss sorts the versions that are held for the loss alone. */
export interface AfterLoss {
  /** A decision about all of them may send these. */
  plausible: Version[]
  /** These have less than half of the postings of a kept copy: a person releases or discards each of them. */
  collapsed: Version[]
}

/** heldAfterLoss returns what is held for the loss alone; null when no history was lost. */
export function heldAfterLoss(history: VersionReads & Pick<Notes, 'note'>): AfterLoss | null {
  const held = history
    .list({ states: ['held'], all: true })
    .filter(({ guard }) => guard === 'history-lost')
  if (historyLostUpTo(history) === null && held.length === 0) return null
  const collapsed = held.filter((version) => hasCollapsed(history, version))
  return { plausible: held.filter((version) => !collapsed.includes(version)), collapsed }
}

/** endLoss ends the loss: first versions are sent without a question again. */
export function endLoss(history: Notes): void {
  history.setNote(NOTE, null)
}

/** idOf returns the version id in the name of a copy. A half-written copy has no id yet and counts as 0. */
function idOf(name: string): number {
  return parseCopyName(name)?.id ?? 0
}

/** largestOf returns the largest number of postings in the copies of each feed, by the hash of the feed's name. */
function largestOf(copies: readonly string[]): Record<string, number> {
  const largest: Record<string, number> = {}
  for (const { feedHash, postings } of copies.flatMap((name) => parseCopyName(name) ?? []))
    largest[feedHash] = Math.max(largest[feedHash] ?? 0, postings)
  return largest
}

/**
 * keptPostings returns, after a loss, the number of postings in the largest copy that was kept of a feed; null if no
 * copy of it was kept.
 */
export function keptPostings(history: Pick<Notes, 'note'>, feed: string): number | null {
  const kept = JSON.parse(history.note(KEPT_NOTE) ?? '{}') as Record<string, number>
  return kept[feedHash(feed)] ?? null
}

/** hasCollapsed returns whether a held version has less than half of what a kept copy of its feed had. */
export function hasCollapsed(history: Pick<Notes, 'note'>, { feed, postings }: Version): boolean {
  const kept = keptPostings(history, feed)
  return kept !== null && (postings ?? 0) < kept / 2
}
