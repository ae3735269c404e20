// Decides what a file in the folder means for the versions of its feed. Pure: ledger.ts reads the facts and writes the
// transitions in one transaction. A file without a known version gets one; what is read is one of: the same bytes
// again, older by date, sendable (queued or held), incomplete or rejected.

import { DROPPED_AGAIN, LEFT, OLDER, RENAMED, SAME_BYTES } from '../../domain/reason-codes.ts'
import type {
  Origin,
  Reason,
  State,
  Transition,
  Version,
  VersionPatch,
} from '../../history/port.ts'
import { modifiedAt } from '../../lib/files.ts'
import {
  added,
  Draft,
  failedUnread,
  newestFor,
  ownUnread,
  type PathFacts,
  versionFor,
} from './draft.ts'
import { type Placed, replaceableBy, replaced } from './replace.ts'
import {
  type BytesFacts,
  dateOf,
  isBefore,
  newerByDate,
  type ReadFile,
  sameBytes,
} from './same-bytes.ts'
import type { Held } from './sending.ts'

/** FileFacts are functions, because most files need few of them. */
export interface FileFacts extends BytesFacts, PathFacts {
  /** isAlone returns whether the version `last` has no other file. */
  isAlone(): boolean
  /** waiting returns the versions of the feed whose place a newer version can take. */
  waiting(): readonly Placed[]
  /** beforeReading returns the state that the unread version had before it was last read, with its reason, or null. */
  beforeReading(): { state: State; reason: Reason | null } | null
}

export type FileEvent =
  /** A listing saw the file for the first time, or with other stats. `size` in bytes. */
  | { kind: 'detected'; size: number }
  /** A thread begins to read the file. */
  | { kind: 'reading' }
  /** The reading did not end: the file changed, the spool had no room, or the daemon stopped. */
  | { kind: 'interrupted'; reason: Reason }
  /** The file cannot be read. */
  | { kind: 'unreadable' }
  /** There is no room for a copy, so nobody reads the file. */
  | { kind: 'no-room'; reason: Reason }
  /** The file never stays the same, so nobody reads it yet. */
  | { kind: 'restless'; reason: Reason }
  /** The file is read, and its copy needs the id of its version. */
  | { kind: 'named'; isSendable: boolean }
  /** The file is read. `held` asks the guards, and is called only if the file is sendable. */
  | { kind: 'read'; file: ReadFile; held: () => Held | null }
  /** An error of feedsyncd itself ended the reading. */
  | { kind: 'fault'; reason: Reason }
  /** The file left the folder. */
  | { kind: 'left' }
  /** The rules of the configuration might have changed. */
  | { kind: 'ruled' }

/** decideFile returns what an event means for the versions of the feed that the rule of the path names. */
export function decideFile(facts: FileFacts, origin: Origin, event: FileEvent): Transition[] {
  switch (event.kind) {
    case 'detected':
      return detected(facts, origin, event.size)
    case 'reading':
      return reading(facts, origin)
    case 'interrupted':
      return interrupted(facts, origin, event.reason)
    case 'unreadable':
      return unreadable(facts)
    case 'no-room':
      return versionFor(facts, origin).set({}, event.reason).transitions
    case 'restless':
      // A file without a version stays without one: its bytes might be the same as before.
      return ownUnread(facts, origin)?.set({}, event.reason).transitions ?? []
    case 'named':
      return (event.isSendable ? newestFor : versionFor)(facts, origin).transitions
    case 'read':
      return read(facts, origin, event)
    case 'fault':
      return concluded(facts, origin, { to: 'failed', reason: event.reason, patch: {} })
    case 'left':
      return left(facts, origin)
    case 'ruled':
      return [...(ownUnread(facts, origin)?.transitions ?? []), ...judgedAnew(facts, origin)]
    default:
      return event satisfies never
  }
}

/**
 * detected settles the version of a file that is new or has changed. A file of another size becomes a new version. With
 * the same size, the bytes might be the same (a touch, a rename-over), so a version is added only after reading.
 */
function detected(facts: FileFacts, origin: Origin, size: number): Transition[] {
  const own = ownUnread(facts, origin)
  if (own !== null) {
    // Nobody reads the file now: a version that is still `checking` was not finished.
    return (own.state === 'settling' ? own : own.move('settling')).transitions
  }
  const again = failedUnread(facts, origin)
  if (again !== null) return again.transitions
  return facts.known()?.identity.size === size ? [] : added(facts, origin).transitions
}

function reading(facts: FileFacts, origin: Origin): Transition[] {
  const own = ownUnread(facts, origin)
  if (own === null) return []
  if (own.state === 'gone') own.move('settling')
  return (own.state === 'checking' ? own : own.move('checking')).transitions
}

function interrupted(facts: FileFacts, { path }: Origin, reason: Reason): Transition[] {
  const unread = facts.unread()
  if (unread?.state !== 'checking') return []
  return [
    { kind: 'unlink', path },
    { kind: 'move', id: unread.id, to: 'settling', reason },
  ]
}

/** unreadable returns the version to the state before the read, or takes back a version that had no earlier state. */
function unreadable(facts: FileFacts): Transition[] {
  const unread = facts.unread()
  if (unread?.state !== 'checking') return []
  const past = facts.beforeReading()
  if (past === null) return [{ kind: 'drop', id: unread.id, heir: null }]
  return [{ kind: 'move', id: unread.id, to: past.state, reason: past.reason }]
}

function left(facts: FileFacts, { path }: Origin): Transition[] {
  const unread = facts.unread()
  if (unread === null || unread.state === 'gone') return rejectedGone(facts, path)
  const reason = 'the file left the folder before feedsyncd read it; nothing was sent'
  return [
    { kind: 'unlink', path },
    { kind: 'move', id: unread.id, to: 'gone', reason: { code: LEFT, reason } },
  ]
}

/**
 * judgedAnew forgets a path, so that its file is read again, if the file was older by date and, by the rules in force,
 * no longer is. For a version that was held beside another feed, `renamed` decides.
 */
function judgedAnew(facts: FileFacts, origin: Origin): Transition[] {
  const last = facts.last()
  if (last?.guard === 'second-feed') return renamed(facts, origin, last)
  if (last?.reasonCode !== OLDER) return []
  const isStillOlder = last.feed === origin.rule.feed && newerByDate(facts, origin) !== null
  return isStillOlder ? [] : [{ kind: 'unlink', path: origin.path }]
}

/**
 * renamed supersedes a version that was held beside another feed, and forgets its path, if the rules now give the file
 * another feed. The file is then read again.
 */
function renamed(facts: FileFacts, { path, rule }: Origin, { feed, id }: Version): Transition[] {
  if (feed === rule.feed || !facts.isAlone()) return []
  const reason = { code: RENAMED, reason: `its file belongs to the feed ${rule.feed} now` }
  return [
    { kind: 'unlink', path },
    { kind: 'move', id, to: 'superseded', reason },
  ]
}

/** rejectedGone ends a rejected version whose last file left: nobody has to correct it now. */
function rejectedGone(facts: FileFacts, path: string): Transition[] {
  const last = facts.last()
  if (last?.state !== 'rejected') return []
  const unlinked: Transition = { kind: 'unlink', path }
  if (!facts.isAlone()) return [unlinked]
  const reason = `its file left the folder after it was rejected: ${last.reason}`
  return [unlinked, { kind: 'move', id: last.id, to: 'gone', reason: { code: LEFT, reason } }]
}

/** ReadJudgement is what a file that was read means. `sendable`: new, well-formed bytes, which a guard can hold. */
export type ReadJudgement =
  | { kind: 'same'; version: Version }
  | { kind: 'older'; newer: Version }
  | { kind: 'sendable' | 'incomplete' | 'rejected' }

/**
 * judgeRead asks in this order: does the file repeat a version, does its name have an older date than another version,
 * and is the document well-formed, incomplete or broken?
 */
export function judgeRead(facts: BytesFacts, origin: Origin, file: ReadFile): ReadJudgement {
  const same = sameBytes(facts, origin, file)
  if (same !== null) return { kind: 'same', version: same }
  const isOver = file.verdict !== 'incomplete' || file.final
  // An incomplete file might be the next version, still being written.
  const newer = isOver ? newerByDate(facts, origin) : null
  if (newer !== null) return { kind: 'older', newer }
  if (file.verdict === 'ok') return { kind: 'sendable' }
  return { kind: isOver ? 'rejected' : 'incomplete' }
}

function read(
  facts: FileFacts,
  origin: Origin,
  { file, held }: Extract<FileEvent, { kind: 'read' }>,
): Transition[] {
  const { patch, reason } = file
  const answer = judgeRead(facts, origin, file)
  switch (answer.kind) {
    case 'same':
      return seenAgain(facts, origin, answer.version)
    case 'older': {
      const { id, path } = answer.newer
      const reason = `it is older than version ${id} (${path})`
      return concluded(facts, origin, { to: 'superseded', reason: { code: OLDER, reason }, patch })
    }
    case 'sendable': {
      const why = held()
      if (why === null) return concluded(facts, origin, { to: 'queued', reason: null, patch })
      const { guard, ...reason } = why
      return concluded(facts, origin, { to: 'held', reason, patch: { ...patch, guard } })
    }
    case 'rejected':
      return concluded(facts, origin, { to: 'rejected', reason, patch })
    case 'incomplete': {
      const { bytes = null } = patch
      const incompleteSince = stillSince(facts.unread(), bytes) ?? facts.now
      return concluded(facts, origin, {
        to: 'incomplete',
        reason,
        patch: { bytes, incompleteSince },
      })
    }
    default:
      return answer satisfies never
  }
}

/**
 * stillSince returns since when an incomplete file has not grown; null if it has grown or was not read before. A file
 * that is written again and again, and each time ends at the same place, gets no more time.
 */
function stillSince(unread: Version | null, bytes: number | null): number | null {
  return unread === null || (bytes ?? 0) > (unread.bytes ?? 0) ? null : unread.incompleteSince
}

/** seenAgain records that the bytes of a version came again, and queues the version once more if it had failed. */
function seenAgain(facts: FileFacts, origin: Origin, version: Version): Transition[] {
  const { id, state } = version
  const unread = facts.unread()
  // An unread version of another feed whose file left stays as it is.
  const isDropped = unread !== null && (unread.feed === origin.rule.feed || unread.state !== 'gone')
  const draft = new Draft(version, isDropped ? [{ kind: 'drop', id: unread.id, heir: id }] : [])
  const reason = { code: SAME_BYTES, reason: `the same bytes at ${origin.path}` }
  draft.transitions.push({ kind: 'seen', id, reason })
  const date = dateOf(origin, facts.now)
  if (date !== null && (version.date === null || isBefore(version.date, date))) draft.set({ date })
  if (state === 'failed') {
    draft.move('queued', { code: DROPPED_AGAIN, reason: 'the same file was dropped again' })
    draft.transitions.push(...replaced(facts.waiting(), id, 'queued'))
  }
  return [...draft.transitions, ...linked(facts, origin, draft)]
}

interface Conclusion {
  to: State
  reason: Reason | null
  patch: VersionPatch
}

/** concluded ends the reading of a file: its version gets its new state, and the path is that version. */
function concluded(
  facts: FileFacts,
  origin: Origin,
  { patch, reason, to }: Conclusion,
): Transition[] {
  const isSendable = to === 'queued' || to === 'held'
  const draft = (isSendable ? newestFor : versionFor)(facts, origin)
  // The file might have left after it was read, but the spool has its copy.
  if (draft.state === 'gone') draft.move('settling')
  if (draft.state !== 'checking') draft.move('checking')
  const date = dateOf(origin, facts.now) ?? newestDateOf(facts, origin)
  draft.move(to, reason, { ...patch, date, modifiedAt: modifiedAt(origin.identity) })
  const others = isSendable ? replaced(facts.waiting(), draft.id, to) : []
  return [...draft.transitions, ...linked(facts, origin, draft), ...others]
}

/**
 * newestDateOf returns the newest date of the feed, for a version without a date in its name; null if the feed has no
 * date, or dates do not count.
 */
function newestDateOf(facts: FileFacts, { rule }: Origin): string | null {
  return rule.dated ? (facts.newestDated()?.date ?? null) : null
}

/**
 * linked records that a path is this version. If the path was a version of another feed before, the earlier version
 * loses its file. Without another file, a rejected version becomes `gone`, and a waiting version is superseded.
 */
function linked(facts: FileFacts, { identity, path, rule }: Origin, draft: Draft): Transition[] {
  const { id, state } = draft
  if (identity === null) return []
  const before = facts.last()
  const other =
    before === null || before.feed === rule.feed || draft.drops(before.id) ? null : before
  const link: Transition = { kind: 'link', path, identity, id }
  if (other === null) return [link]
  if (other.state === 'rejected') return [...rejectedGone(facts, path), link]
  const isReplaced = facts.isAlone() && replaceableBy(state).includes(other.state)
  return isReplaced ? [link, { kind: 'supersede', id: other.id, by: id }] : [link]
}
