// Owns how a history that was lost, or put back as it was earlier, is told from a fresh install, and what follows:
// nothing is known of what was held or confirmed since, so each feed waits for one decision. The evidence are
// the copies in the spool: a version's row is always written before the copy that is named by its id.

import { type Decided, type DecisionPorts, decide } from './decisions.ts'
import type { Notes, Versions } from './port.ts'
import type { Version } from './rows.ts'

/** The last id that the history knows of from before the loss. Kept until a person decides. */
const NOTE = 'history lost up to'

/** At the start, before the spool is swept. `copies`: names of its files. Answers whether a loss came to light. */
export function noteLoss(
  history: Pick<Versions, 'forgetApprovals' | 'lastId'> & Notes,
  copies: readonly string[],
): boolean {
  const known = history.lastId()
  if (copies.every((name) => idOf(name) <= known)) return false
  history.setNote(NOTE, String(known))
  // What was approved in an older state of the feed is approved anew, or not at all.
  history.forgetApprovals()
  return true
}

/** Versions up to this id say nothing of what the service has; null where no history was lost. */
export function historyLostUpTo(history: Pick<Notes, 'note'>): number | null {
  const note = history.note(NOTE)
  return note === null ? null : Number(note)
}

/**
 * A person accepts what is in the folder as it is: what waits for that alone is released, and first versions are
 * sent without a question again. Answers what was released; null where no history was lost.
 */
export function acceptFolder(history: DecisionPorts, decided: Decided): Version[] | null {
  return history.atomically(() => {
    const held = history
      .list({ states: ['held'], all: true })
      .filter(({ guard }) => guard === 'history-lost')
    if (historyLostUpTo(history) === null && held.length === 0) return null
    history.setNote(NOTE, null)
    return held.map(({ id }) => decide(history, id, 'release', decided))
  })
}

/** What is half written has no id yet, and proves nothing. */
function idOf(name: string): number {
  const [, id] = /^(\d+)\.xml$/.exec(name) ?? []
  return Number(id ?? 0)
}
