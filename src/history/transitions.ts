// A decision (pipeline/decide/) is a list of transitions. This file has their types and the one function that writes
// them.

import { SUPERSEDED } from '../domain/reason-codes.ts'
import type { State } from '../domain/states.ts'
import type { FileIdentity } from '../lib/files.ts'
import type { Attempts } from './attempts.ts'
import type { AttemptEnd, NewVersion, Reason, Version, VersionPatch } from './rows.ts'
import type { VersionWrites } from './version-writes.ts'
import type { Waits } from './waits.ts'

/** Id is the id of a version; `new` is the version that the same decision adds. */
export type Id = number | 'new'

export type Transition =
  | { kind: 'add'; version: NewVersion }
  | { kind: 'move'; id: Id; to: State; reason: Reason | null; patch?: VersionPatch }
  /** `by` takes the place of the older version `id`. */
  | { kind: 'supersede'; id: number; by: Id }
  /** set changes columns without a change of state or an event. Without `reason` the version keeps its reason. */
  | { kind: 'set'; id: Id; patch: VersionPatch; reason?: Reason | null }
  /** attempt adds a row to the attempts of a version. `end` is null if the attempt begins now. */
  | { kind: 'attempt'; id: number; startedAt: number; key: string | null; end: AttemptEnd | null }
  /** attempt-end ends the running attempt of a version. */
  | { kind: 'attempt-end'; id: number; end: AttemptEnd }
  /** first asks the daemon to try a version before all others. */
  | { kind: 'first'; id: number }
  /**
   * drop removes a version whose bytes are not known. Its paths and requests go to `heir`, or, if `heir` is null, to
   * the last other version of the feed.
   */
  | { kind: 'drop'; id: number; heir: Id | null }
  /** seen records that the bytes of a version came again. */
  | { kind: 'seen'; id: number; reason: Reason }
  /** link records which version the file at a path is. */
  | { kind: 'link'; path: string; identity: FileIdentity; id: Id }
  /** unlink forgets which version the file at a path is, so that the file counts as new. */
  | { kind: 'unlink'; path: string }

type Ports = VersionWrites & Attempts & Waits

/** Paths writes which version the file at a path is. */
export interface Paths {
  link(path: string, identity: FileIdentity, id: number): void
  unlink(path: string): void
}

/** Writing says where the transitions are written, and which functions hear of them. */
interface Writing {
  history: Ports
  paths: Paths
  /** Wall ms of the events. */
  now: number
  /** added is called within the transaction for each version that was added. */
  added?: (version: Version) => void
  /** moved is called within the transaction for each version that changed its state. */
  moved?: (version: Version) => void
}

/**
 * writeTransitions writes a decision in the order of its transitions, and returns each changed version as it is
 * afterwards. Call it within a transaction. Throws `FeedsyncError` for a step that states.ts does not allow.
 */
export function writeTransitions(transitions: readonly Transition[], writing: Writing): Version[] {
  const changed = new Map<number, Version>()
  let newId: number | null = null
  const idOf = (id: Id): number => {
    if (id !== 'new') return id
    if (newId === null) throw new Error('the decision adds no version')
    return newId
  }
  for (const each of transitions) {
    const version = writeOne(each, writing, idOf)
    if (version === null) continue
    if (each.kind === 'add') newId = version.id
    changed.set(version.id, version)
  }
  return [...changed.values()]
}

/** writeOne writes one transition, and returns the version that it changed, or null. */
function writeOne(
  each: Transition,
  { added, history, moved, now, paths }: Writing,
  idOf: (id: Id) => number,
): Version | null {
  switch (each.kind) {
    case 'add': {
      const version = history.add({ ...each.version, at: now })
      added?.(version)
      return version
    }
    case 'move': {
      const { id, patch, reason, to } = each
      const version = history.move(idOf(id), to, { at: now, patch, reason })
      moved?.(version)
      return version
    }
    case 'supersede': {
      const reason = `version ${idOf(each.by)} took the place of version ${each.id}`
      const why = { code: SUPERSEDED, reason }
      const version = history.move(each.id, 'superseded', { at: now, reason: why })
      moved?.(version)
      return version
    }
    case 'set':
      return history.update(idOf(each.id), each.patch, each.reason)
    case 'attempt':
      history.startAttempt(each.id, each.startedAt, each.key)
      if (each.end !== null) history.endAttempt(each.id, each.end)
      return null
    case 'attempt-end':
      history.endAttempt(each.id, each.end)
      return null
    case 'first':
      history.askRetry(each.id, now)
      return null
    case 'drop':
      history.forget(each.id, each.heir === null ? undefined : idOf(each.heir))
      return null
    case 'seen':
      history.seen(each.id, each.reason, now)
      return null
    case 'link':
      paths.link(each.path, each.identity, idOf(each.id))
      return null
    case 'unlink':
      paths.unlink(each.path)
      return null
    default:
      return each satisfies never
  }
}
