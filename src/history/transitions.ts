// A decision (pipeline/decide/) is a list of transitions. This file has their types and the one function that writes
// them.

import type { Attempts } from './attempts.ts'
import type { Files } from './files.ts'
import type { Notes } from './notes.ts'
import { SUPERSEDED } from './reason-codes.ts'
import type { AttemptEnd, NewVersion, Reason, Version, VersionPatch } from './rows.ts'
import type { State } from './states.ts'
import type { VersionWrites } from './version-writes.ts'

/** Id is the id of a version; `new` is the version that the same decision adds. */
export type Id = number | 'new'

export type Transition =
  | { kind: 'add'; version: NewVersion }
  | { kind: 'move'; id: number; to: State; reason: Reason | null; patch?: VersionPatch }
  /** `by` takes the place of the older version `id`. */
  | { kind: 'supersede'; id: number; by: Id }
  /** set changes columns without a change of state or an event. Without `reason` the version keeps its reason. */
  | { kind: 'set'; id: number; patch: VersionPatch; reason?: Reason | null }
  /** attempt adds a row to the attempts of a version. `end` null: the attempt begins now. */
  | { kind: 'attempt'; id: number; startedAt: number; key: string | null; end: AttemptEnd | null }
  /** attempt-end ends the running attempt of a version. */
  | { kind: 'attempt-end'; id: number; end: AttemptEnd }
  /** first asks the daemon to try a version before all others. */
  | { kind: 'first'; id: number }
  /** unlink forgets which version the file at a path is, so that the file counts as new. */
  | { kind: 'unlink'; path: string }

type Ports = Pick<VersionWrites, 'add' | 'move' | 'update'> &
  Pick<Attempts, 'startAttempt' | 'endAttempt'> &
  Pick<Files, 'forgetPath'> &
  Notes

/** Writing is where the transitions are written, and who hears of them. */
export interface Writing {
  history: Ports
  /** Wall ms of the events. */
  now: number
  /** moved is called within the transaction for each version that was added or that changed its state. */
  moved?: (version: Version) => void
  /** unlink replaces `history.forgetPath`, for a caller that keeps the paths in memory, too. */
  unlink?: (path: string) => void
}

/**
 * writeTransitions writes a decision in the order of its transitions, and returns each changed version as it is
 * afterwards. Call it within a transaction. Throws `FeedsyncError` for a step that states.ts does not allow.
 */
export function writeTransitions(
  transitions: readonly Transition[],
  { history, now, moved = () => {}, unlink = history.forgetPath }: Writing,
): Version[] {
  const changed = new Map<Id, Version>()
  const keep = (id: Id, version: Version) => void changed.set(id, version)
  const move = (id: number, to: State, reason: Reason | null, patch?: VersionPatch) => {
    const version = history.move(id, to, reason, now, patch)
    keep(id, version)
    moved(version)
  }
  for (const each of transitions) {
    switch (each.kind) {
      case 'add': {
        const version = history.add({ ...each.version, at: now })
        keep('new', version)
        moved(version)
        break
      }
      case 'move':
        move(each.id, each.to, each.reason, each.patch)
        break
      case 'supersede': {
        const newer = each.by === 'new' ? changed.get('new')?.id : each.by
        const text = `version ${newer} took the place of version ${each.id}`
        move(each.id, 'superseded', { code: SUPERSEDED, text })
        break
      }
      case 'set':
        keep(each.id, history.update(each.id, each.patch, each.reason))
        break
      case 'attempt':
        history.startAttempt(each.id, each.startedAt, each.key)
        if (each.end !== null) history.endAttempt(each.id, each.end)
        break
      case 'attempt-end':
        history.endAttempt(each.id, each.end)
        break
      case 'first':
        askFirst(history, each.id)
        break
      case 'unlink':
        unlink(each.path)
        break
      default:
        each satisfies never
    }
  }
  return [...changed.values()]
}

/** Name of the note with the ids of the versions that the daemon must try at once. */
const FIRST_NOTE = 'retried'

const askedFirst = (history: Notes) => JSON.parse(history.note(FIRST_NOTE) ?? '[]') as number[]

function askFirst(history: Notes, id: number): void {
  history.setNote(FIRST_NOTE, JSON.stringify([...askedFirst(history), id]))
}

/** takeFirst returns and clears the ids of the versions that the daemon tries before all others. */
export function takeFirst(history: Notes & { atomically<T>(work: () => T): T }): number[] {
  if (history.note(FIRST_NOTE) === null) return []
  return history.atomically(() => {
    const ids = askedFirst(history)
    history.setNote(FIRST_NOTE, null)
    return ids
  })
}
