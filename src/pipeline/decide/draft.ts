// Finds the version that an event of a file is about: the unread version of its path, or a new one. Pure.

import type {
  Id,
  Origin,
  Reason,
  State,
  Transition,
  Version,
  VersionPatch,
} from '../../history/port.ts'
import { modifiedAt } from '../../lib/files.ts'
import { type BytesFacts, dateOf } from './same-bytes.ts'

/** PathFacts are what the history knows of a path. */
export interface PathFacts extends Pick<BytesFacts, 'known' | 'last' | 'newestRead' | 'now'> {
  /** unread returns the version at the path whose bytes are not known yet; it can be `gone`. */
  unread(): Version | null
}

/** Draft is the version that an event is about, with the transitions so far. */
export class Draft {
  readonly transitions: Transition[]
  readonly id: Id
  state: State

  constructor({ id, state }: { id: Id; state: State }, transitions: Transition[] = []) {
    this.id = id
    this.state = state
    this.transitions = transitions
  }

  move(to: State, reason: Reason | null = null, patch: VersionPatch = {}): this {
    this.transitions.push({ kind: 'move', id: this.id, to, reason, patch })
    this.state = to
    return this
  }

  set(patch: VersionPatch, reason?: Reason): this {
    this.transitions.push({ kind: 'set', id: this.id, patch, ...(reason && { reason }) })
    return this
  }

  /** drops returns whether this decision removes the version `id`. */
  drops(id: number): boolean {
    return this.transitions.some((each) => each.kind === 'drop' && each.id === id)
  }
}

/** versionFor returns the unread version of a path, or a new one. */
export function versionFor(facts: PathFacts, origin: Origin): Draft {
  return ownUnread(facts, origin) ?? failedUnread(facts, origin) ?? added(facts, origin)
}

/**
 * newestFor returns the version for sendable bytes. It must be the newest of its feed, because its file was completed
 * last. If a newer version was read before, a new version takes the place of the unread version.
 */
export function newestFor(facts: PathFacts, origin: Origin): Draft {
  const draft = versionFor(facts, origin)
  const { id } = draft
  if (id === 'new' || (facts.newestRead()?.id ?? 0) <= id) return draft
  const version = facts.unread()?.id === id ? facts.unread() : facts.last()
  return version === null ? draft : inheriting(facts, origin, version)
}

/**
 * ownUnread returns the unread version of a path, with the account that its rule names now. If the rule now names
 * another feed, a new version takes the place of the unread version. Returns null if there is no unread version, or if
 * it has another feed and its file left.
 */
export function ownUnread(facts: PathFacts, origin: Origin): Draft | null {
  const unread = facts.unread()
  if (unread === null) return null
  const { account, feed } = origin.rule
  if (unread.feed === feed) {
    const draft = new Draft(unread)
    return unread.account === account ? draft : draft.set({ account })
  }
  // A version whose file left stays with the feed that it had.
  return unread.state === 'gone' ? null : inheriting(facts, origin, unread)
}

/**
 * failedUnread settles a version again that failed by an error of feedsyncd before its bytes were known. Returns null
 * if the path has no such version.
 */
export function failedUnread(facts: PathFacts, origin: Origin): Draft | null {
  const last = facts.last()
  if (last?.state !== 'failed' || last.sha256 !== null) return null
  if (last.feed !== origin.rule.feed) return inheriting(facts, origin, last)
  return new Draft(last).move('settling')
}

/** inheriting adds a version of the rule's feed in place of an unread version, with its size and `incompleteSince`. */
function inheriting(facts: PathFacts, origin: Origin, unread: Version): Draft {
  const { bytes, id, incompleteSince } = unread
  const draft = added(facts, origin, { bytes, incompleteSince })
  draft.transitions.push({ kind: 'drop', id, heir: 'new' })
  const known = facts.known()
  if (known?.versionId === id)
    draft.transitions.push({ kind: 'link', path: known.path, identity: known.identity, id: 'new' })
  return draft
}

export function added(
  { now }: Pick<PathFacts, 'now'>,
  origin: Origin,
  patch: VersionPatch = {},
): Draft {
  const { identity, path, rule } = origin
  const { account, feed } = rule
  const version = {
    feed,
    path,
    account,
    reason: null,
    state: 'settling' as const,
    patch: { ...patch, modifiedAt: modifiedAt(identity), date: dateOf(origin, now) },
  }
  return new Draft({ id: 'new', state: 'settling' }, [{ kind: 'add', version }])
}
