// Owns the detection of a history that was lost or replaced by an earlier copy. Such a history does not know what was
// held or confirmed since, so each feed waits for one decision of a person. The copies in the spool are the evidence: a
// copy is named after a version's id, and that version's row is always written first. A fresh install has no copies.

import type { Notes, Versions } from './port.ts'

/** Name of the note with the last id that the history knew when the loss was found. It stays until a person decides. */
const NOTE = 'history lost up to'

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

/** endLoss ends the loss: first versions are sent without a question again. */
export function endLoss(history: Notes): void {
  history.setNote(NOTE, null)
}

/** idOf returns the version id in the name of a copy. A half-written copy has no id yet and counts as 0. */
function idOf(name: string): number {
  const [, id] = /^(\d+)\.xml$/.exec(name) ?? []
  return Number(id ?? 0)
}
