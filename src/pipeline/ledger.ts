// Owns the steps of a version that belong in one transaction: its state, the path it came from, and the older versions
// that it replaces. The history below knows only single rows; the pipeline decides when a step happens.

import { KnownPaths } from '../history/known-paths.ts'
import type {
  Attempts,
  Files,
  Notes,
  Origin,
  Reason,
  RuleInForce,
  State,
  Transactions,
  Transition,
  Version,
  VersionPatch,
  Versions,
} from '../history/port.ts'
import { DROPPED_AGAIN, LEFT, SAME_BYTES, WRONG_ACCOUNT } from '../history/reason-codes.ts'
import { IN_MOTION, REPLACEABLE } from '../history/states.ts'
import { writeTransitions } from '../history/transitions.ts'
import { logDetected, logMoved } from '../history/version-log.ts'
import type { Clock } from '../lib/clock.ts'
import { modifiedAt } from '../lib/files.ts'
import type { Log } from '../lib/log.ts'
import { replaceableBy, replaced } from './decide/replace.ts'

export interface LedgerParts {
  history: Versions & Files & Attempts & Notes & Transactions
  clock: Clock
  log: Log
  /** onMove is called with every new state once it is committed. It must not write or throw. */
  onMove: (version: Version) => void
  /** inSameTransaction adds writes to the transaction of a new state. */
  inSameTransaction?: (version: Version) => void
}

/** States of a version without known bytes in which the daemon does nothing. */
const AT_REST: readonly string[] = ['incomplete', 'gone', 'failed'] satisfies State[]

export class Ledger {
  readonly #parts: LedgerParts
  readonly #history: LedgerParts['history']
  /** The versions that the paths of the folder were when they were last read. */
  readonly known: KnownPaths

  constructor(parts: LedgerParts) {
    this.#parts = parts
    this.#history = parts.history
    this.known = new KnownPaths(parts.history, parts.clock)
  }

  /** unsettledPaths returns the paths of unread and rejected versions. */
  unsettledPaths(): string[] {
    return [...this.#history.unread().map(({ path }) => path), ...this.#history.rejectedFiles()]
  }

  /**
   * pathsInMotion returns the paths of unread versions that the daemon must look at again, even if the files did not
   * change: the last read may have failed, or a person asked to read the file again.
   */
  pathsInMotion(): Set<string> {
    const open = this.#history.unread().filter(({ state }) => IN_MOTION.includes(state))
    return new Set(open.map(({ path }) => path))
  }

  isInMotion(path: string): boolean {
    return IN_MOTION.includes(this.#history.pendingVersionAt(path)?.state ?? 'gone')
  }

  /**
   * settling records that the file at a path is new or has changed. A file of another size is certainly a new version.
   * The same size may be the same bytes (a touch, a rename-over), so a version is added only after reading.
   */
  settling(origin: Origin, size: number): void {
    const open = this.#pending(origin)
    if (open !== null) {
      // Nobody reads the file now: a version that is still `checking` was not finished.
      if (open.state !== 'settling') this.move(open.id, 'settling', null)
      return
    }
    if (this.#reopen(origin) !== null) return
    if (this.known.at(origin.path)?.identity.size !== size) this.#add(origin)
  }

  checking(origin: Origin): void {
    const open = this.#pending(origin)
    if (open === null || open.state === 'checking') return
    if (open.state === 'gone') this.move(open.id, 'settling', null)
    this.move(open.id, 'checking', null)
  }

  /** readFailed returns the version to the state before the read, or removes a version that had no earlier state. */
  readFailed(path: string): void {
    const open = this.#history.pendingVersionAt(path)
    if (open?.state !== 'checking') return
    const past = this.#history.events(open.id).findLast(({ to }) => AT_REST.includes(to))
    if (past === undefined || past.to === 'seen') {
      this.#history.forget(open.id)
      return
    }
    const { column, line, reason: text, reasonCode: code, to } = past
    const position = line === null || column === null ? null : { line, column }
    this.move(open.id, to, text === null || code === null ? null : { code, text, position })
  }

  /** incompleteSince returns the wall ms since which the document at a path is incomplete; null if it grew. */
  incompleteSince(path: string, bytes: number): number | null {
    const open = this.#history.pendingVersionAt(path)
    return open === null || bytes > (open.bytes ?? 0) ? null : open.incompleteSince
  }

  /** resettle returns a version to `settling` because its file could not be read in one piece. */
  resettle(path: string, reason: Reason): void {
    const open = this.#history.pendingVersionAt(path)
    if (open?.state !== 'checking') return
    this.known.forget(path)
    this.move(open.id, 'settling', reason)
  }

  /** keepSettling records why a version stays `settling`: the disk has no room for its copy. */
  keepSettling(origin: Origin, reason: Reason): void {
    this.#history.update(this.versionFor(origin).id, {}, reason)
  }

  /** gone records that a file left the folder before it was taken, or after it was rejected. */
  gone(path: string): void {
    const open = this.#history.pendingVersionAt(path)
    if (open !== null && open.state !== 'gone') {
      this.known.forget(path)
      const text = 'the file left the folder before it was taken; nothing was sent'
      this.move(open.id, 'gone', { code: LEFT, text })
    } else this.#rejectedGone(path)
  }

  #rejectedGone(path: string): void {
    const version = this.#history.lastVersionAt(path)
    if (version?.state !== 'rejected') return
    this.known.forget(path)
    // Another file with the same bytes may still be there.
    if (this.#history.pathsOf(version.id).length > 0) return
    const text = `its file left the folder after it was rejected: ${version.reason}`
    this.move(version.id, 'gone', { code: LEFT, text })
  }

  /** versionFor returns the pending version of a path, or adds one. */
  versionFor(origin: Origin): Version {
    return this.#pending(origin) ?? this.#reopen(origin) ?? this.#add(origin)
  }

  /** newestFor returns the version for accepted bytes: the newest of its feed, since its writer finished last. */
  newestFor(origin: Origin): Version {
    const version = this.versionFor(origin)
    return this.isNewest(version) ? version : this.#replace(version, origin)
  }

  /** isNewest returns whether no newer version of the feed has known bytes. */
  isNewest({ feed, id }: Version): boolean {
    return (this.#history.newestTaken(feed)?.id ?? 0) <= id
  }

  /** seen records that the bytes of a version came again: a `seen` event, and a new try if the version failed. */
  seen(origin: Origin, version: Version): void {
    this.#history.atomically(() => {
      const open = this.#pending(origin)
      if (open !== null) this.#history.forget(open.id)
      const same = { code: SAME_BYTES, text: `the same bytes at ${origin.path}` }
      this.#history.seen(version.id, same, this.#parts.clock.now())
      const again = { code: DROPPED_AGAIN, text: 'the same file was dropped again' }
      const present = this.#history.version(version.id) ?? version
      const isRetried = present.state === 'failed'
      const after = isRetried ? this.move(present.id, 'queued', again) : present
      if (isRetried) this.#replaceOlder(after)
      this.#linkPath(origin, after)
    })
  }

  /** conclude ends the reading of a file: it moves the version to its new state and links the path to the version. */
  conclude(origin: Origin, to: State, reason: Reason | null, patch: VersionPatch): Version {
    return this.#history.atomically(() => {
      const isAccepted = to === 'queued' || to === 'held'
      const open = isAccepted ? this.newestFor(origin) : this.versionFor(origin)
      // The file may have left after it was read, but the spool has its copy.
      const left = open.state === 'gone'
      if (left) this.move(open.id, 'settling', null)
      if (left || open.state !== 'checking') this.move(open.id, 'checking', null)
      const dated = { ...patch, modifiedAt: modifiedAt(origin.identity) }
      const moved = this.move(open.id, to, reason, dated)
      this.#linkPath(origin, moved)
      if (isAccepted) this.#replaceOlder(moved)
      return moved
    })
  }

  #replaceOlder({ feed, id, state }: Version): void {
    this.write(replaced(this.#history.list({ feed, states: REPLACEABLE, all: true }), id, state))
  }

  /** write writes the transitions of a decision, and returns each changed version as it is afterwards. */
  write(transitions: readonly Transition[]): Version[] {
    return this.#history.atomically(() =>
      writeTransitions(transitions, {
        history: this.#history,
        now: this.#parts.clock.now(),
        moved: (version) => this.#moved(version),
        unlink: (path) => this.known.forget(path),
      }),
    )
  }

  /** followRules applies changed rules to all versions that are unread, or wait for their turn or for a person. */
  followRules(ruleFor: (path: string) => RuleInForce): void {
    this.#history.atomically(() => {
      for (const { path } of this.#history.unread())
        this.#pending({ path, identity: null, rule: ruleFor(path) })
      for (const version of this.#history.list({ states: REPLACEABLE, all: true }))
        this.addressed(version, ruleFor(version.path))
    })
  }

  /**
   * addressed returns the version with the account of the rule of its path, to which it is sent next. When that rule
   * names another feed, the version keeps its account, unless that account cannot be used.
   */
  addressed(version: Version, rule: RuleInForce): Version {
    const { account, feed, id } = version
    if (account === rule.account) return version
    const lastCode = () => this.#history.attempts(id, 1)[0]?.code ?? ''
    const isOurs = feed === rule.feed || WRONG_ACCOUNT.includes(lastCode())
    return isOurs ? this.#history.update(id, { account: rule.account }) : version
  }

  /** #pending returns the unread version of a path, which belongs to the feed that the present rule names. */
  #pending(origin: Origin): Version | null {
    const open = this.#history.pendingVersionAt(origin.path)
    if (open === null || open.feed === origin.rule.feed)
      return open && this.addressed(open, origin.rule)
    // A version whose file has left stays with the other feed.
    return open.state === 'gone' ? null : this.#replace(open, origin)
  }

  /** #replace replaces an unread version by a new one, the newest of the rule's feed, which keeps `incompleteSince`. */
  #replace({ bytes, id, incompleteSince }: Version, origin: Origin): Version {
    const version = this.#add(origin, { bytes, incompleteSince })
    const known = this.known.at(origin.path)
    this.#history.forget(id, version.id)
    if (known?.versionId === id) this.known.remember(known.path, known.identity, version.id)
    return version
  }

  /** #reopen settles a version again that failed by an error of feedsyncd before its bytes were known. */
  #reopen(origin: Origin): Version | null {
    const before = this.#history.lastVersionAt(origin.path)
    if (before?.state !== 'failed' || before.sha256 !== null) return null
    if (before.feed !== origin.rule.feed) return this.#replace(before, origin)
    return this.move(before.id, 'settling', null)
  }

  /**
   * #linkPath records that a path is this version. If the path belonged to another feed, the version there is without
   * this file: a rejected one becomes `gone`, and a waiting one without other files is superseded.
   */
  #linkPath(origin: Origin, version: Version): void {
    const before = origin.identity === null ? null : this.#history.lastVersionAt(origin.path)
    const other = before?.feed === version.feed ? null : before
    if (other !== null) this.#rejectedGone(origin.path)
    this.known.remember(origin.path, origin.identity, version.id)
    const hasNoFile = other !== null && this.#history.pathsOf(other.id).length === 0
    if (hasNoFile && replaceableBy(version.state).includes(other.state))
      this.write([{ kind: 'supersede', id: other.id, by: version.id }])
  }

  #add(origin: Origin, patch: VersionPatch = {}): Version {
    const { identity, path, rule } = origin
    const { feed, account } = rule
    const version = this.#history.add({
      feed,
      path,
      account,
      state: 'settling',
      reason: null,
      at: this.#parts.clock.now(),
      patch: { ...patch, modifiedAt: modifiedAt(identity) },
    })
    this.#history.afterCommit(() => {
      logDetected(this.#parts.log, version)
      this.#parts.onMove(version)
    })
    return version
  }

  /** move changes the state of a version and reports it after the commit. */
  move(id: number, to: State, reason: Reason | null, patch: VersionPatch = {}): Version {
    const version = this.#history.move(id, to, reason, this.#parts.clock.now(), patch)
    this.#moved(version)
    return version
  }

  #moved(version: Version): void {
    this.#parts.inSameTransaction?.(version)
    this.#history.afterCommit(() => {
      logMoved(this.#parts.log, version)
      this.#parts.onMove(version)
    })
  }
}
