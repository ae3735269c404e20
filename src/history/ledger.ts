// The steps of a version that go together in one transaction: its state, the path it came from, and the older
// versions that it replaces. The history under it only knows single rows; when a step happens is the pipeline's.

import type { Clock } from '../lib/clock.ts'
import { modifiedAt } from '../lib/files.ts'
import type { Log } from '../lib/log.ts'
import { isNewest, newerOf, replacedBy, supersededBy, takesPlaceOf } from './decisions.ts'
import { KnownPaths } from './known-paths.ts'
import type { Attempts, Files, State, Transactions, Versions } from './port.ts'
import { DROPPED_AGAIN, LEFT, SAME_BYTES, WRONG_ACCOUNT } from './reason-codes.ts'
import type { Origin, Reason, RuleInForce, Version, VersionPatch } from './rows.ts'
import { ACCEPTED, IN_MOTION, REPLACEABLE } from './states.ts'
import { logDetected, logMoved } from './version-log.ts'

export interface LedgerParts {
  history: Versions & Files & Attempts & Transactions
  clock: Clock
  log: Log
  /** Called with every new state, once it is committed; it must neither write nor throw. */
  onMove: (version: Version) => void
  /** Writes what belongs into the transaction of a new state. */
  inSameTransaction?: (version: Version) => void
}

/** States of a version without known bytes in which nothing is under way. */
const AT_REST: readonly string[] = ['incomplete', 'gone', 'failed'] satisfies State[]

export class Ledger {
  readonly #parts: LedgerParts
  readonly #history: LedgerParts['history']
  /** What the paths of the folder were last found to be. */
  readonly known: KnownPaths

  constructor(parts: LedgerParts) {
    this.#parts = parts
    this.#history = parts.history
    this.known = new KnownPaths(parts.history, parts.clock)
  }

  /** Paths of files that have not been read, or not with success, as far as they are there. */
  unsettledPaths(): string[] {
    return [...this.#history.unread().map(({ path }) => path), ...this.#history.rejectedFiles()]
  }

  /**
   * Paths of versions that are not at rest. They are always looked at again, whatever is known of the path: the last
   * look may have met an error, or a person wants them to be read once more.
   */
  pathsInMotion(): Set<string> {
    const open = this.#history.unread().filter(({ state }) => IN_MOTION.includes(state))
    return new Set(open.map(({ path }) => path))
  }

  /** Whether that is still so. */
  isInMotion(path: string): boolean {
    return IN_MOTION.includes(this.#history.pendingVersionAt(path)?.state ?? 'gone')
  }

  /**
   * A path with news settles. A file of another size is a new version for certain; the same size may
   * be the same bytes (a touch, a rename-over), which make no version, so nothing is said until read.
   */
  settling(origin: Origin, size: number): void {
    const open = this.#pending(origin)
    if (open !== null) {
      // Nobody reads it now: what was `checking` was not concluded.
      if (open.state !== 'settling') this.move(open.id, 'settling', null)
      return
    }
    if (this.#reopen(origin) !== null) return
    if (this.known.at(origin.path)?.identity.size !== size) this.#add(origin)
  }

  /** Its bytes are being read. */
  checking(origin: Origin): void {
    const open = this.#pending(origin)
    if (open === null || open.state === 'checking') return
    if (open.state === 'gone') this.move(open.id, 'settling', null)
    this.move(open.id, 'checking', null)
  }

  /** Its bytes could not be read: it is as it was before, and where nothing was known of them there is no version. */
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

  /** Since when the document at this path is incomplete; null where it grew, or was not read before. */
  incompleteSince(path: string, bytes: number): number | null {
    const open = this.#history.pendingVersionAt(path)
    return open === null || bytes > (open.bytes ?? 0) ? null : open.incompleteSince
  }

  /** It could not be read as one piece: it settles again, whatever was known of the path. */
  resettle(path: string, reason: Reason): void {
    const open = this.#history.pendingVersionAt(path)
    if (open?.state !== 'checking') return
    this.known.forget(path)
    this.move(open.id, 'settling', reason)
  }

  /** It cannot be taken now, for want of room for a copy, so it goes on settling. */
  keepSettling(origin: Origin, reason: Reason): void {
    this.#history.update(this.versionFor(origin).id, {}, reason)
  }

  /** It left before it could be taken, or after it was rejected. */
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
    const text = `it is not there any more; it was rejected: ${version.reason}`
    this.move(version.id, 'gone', { code: LEFT, text })
  }

  /** The version that the bytes at this path are becoming; adds it where there is none yet. */
  versionFor(origin: Origin): Version {
    return this.#pending(origin) ?? this.#reopen(origin) ?? this.#add(origin)
  }

  /** The same for bytes that are accepted: newer than all of the feed, since its writer was done with them last. */
  newestFor(origin: Origin): Version {
    const version = this.versionFor(origin)
    return isNewest(this.#history, version) ? version : this.#replace(version, origin)
  }

  /** The same bytes as a version that is there: no new one, only a `seen` event, and another try if it failed. */
  seen(origin: Origin, version: Version): void {
    this.#history.atomically(() => {
      const open = this.#pending(origin)
      if (open !== null) this.#history.forget(open.id)
      const same = { code: SAME_BYTES, text: `the same bytes at ${origin.path}` }
      this.#history.seen(version.id, same, this.#parts.clock.now())
      const again = { code: DROPPED_AGAIN, text: 'the same file was dropped again' }
      const present = this.#history.version(version.id) ?? version
      const isRetried = present.state === 'failed'
      this.#linkPath(origin, isRetried ? this.move(present.id, 'queued', again) : present)
    })
  }

  /** Ends the reading of a file: its version gets a state, and the path is known to be this version. */
  conclude(origin: Origin, to: State, reason: Reason | null, patch: VersionPatch): Version {
    return this.#history.atomically(() => {
      const isAccepted = to === 'queued' || to === 'held'
      const open = isAccepted ? this.newestFor(origin) : this.versionFor(origin)
      // Its file may have left after it was read: the bytes are ours all the same.
      const left = open.state === 'gone'
      if (left) this.move(open.id, 'settling', null)
      if (left || open.state !== 'checking') this.move(open.id, 'checking', null)
      const dated = { ...patch, modifiedAt: modifiedAt(origin.identity) }
      const moved = this.move(open.id, to, reason, dated)
      this.#linkPath(origin, moved)
      if (isAccepted)
        for (const older of replacedBy(this.#history, moved)) this.supersede(older, moved)
      return moved
    })
  }

  /** An attempt to deliver begins: its number, or null where the version is not to be sent any more. */
  startAttempt(id: number): number | null {
    return this.#history.atomically(() => {
      const state = this.#history.version(id)?.state
      if (state !== 'queued' && state !== 'uploading') return null
      if (state === 'queued') this.move(id, 'uploading', null)
      return this.#history.startAttempt(id, this.#parts.clock.now())
    })
  }

  /** The first byte is about to be sent to this key; false where a person or a newer version was faster. */
  startSending(id: number, n: number, key: string): boolean {
    return this.#history.atomically(() => {
      const version = this.#history.version(id)
      if (version?.state !== 'uploading') return false
      const newer = newerOf(this.#history, version, ['queued'])
      if (newer !== undefined) this.supersede(version, newer)
      else this.#history.setAttemptKey(id, n, key)
      return newer === undefined
    })
  }

  /** An attempt to deliver ended without success: the version waits. */
  waitAgain(id: number, reason: Reason, nextAttemptAt: number | null): Version {
    return this.#endDelivery(id, (state) =>
      state === 'queued'
        ? this.#history.update(id, { nextAttemptAt }, reason)
        : this.move(id, 'queued', reason, { nextAttemptAt }),
    )
  }

  /** A delivery ended for good. */
  fail(id: number, reason: Reason): Version {
    return this.#endDelivery(id, () => this.move(id, 'failed', reason))
  }

  /** What was discarded, superseded or held before its first attempt stays so; a newer one that waits takes its place. */
  #endDelivery(id: number, end: (state: State | undefined) => Version): Version {
    return this.#history.atomically(() => {
      const before = this.#history.version(id)
      if (before !== null && !ACCEPTED.includes(before.state)) return before
      const ended = end(before?.state)
      const newer = newerOf(this.#history, ended, ['queued'])
      return newer === undefined ? ended : this.supersede(ended, newer)
    })
  }

  supersede(older: Version, newer: Version): Version {
    return this.move(older.id, 'superseded', supersededBy(newer.id, older.id))
  }

  /** Other rules may be in force: what is not read yet, and what waits for its turn or for a person, is as they say. */
  followRules(ruleFor: (path: string) => RuleInForce): void {
    this.#history.atomically(() => {
      for (const { path } of this.#history.unread())
        this.#pending({ path, identity: null, rule: ruleFor(path) })
      for (const version of this.#history.list({ states: REPLACEABLE, all: true }))
        this.addressed(version, ruleFor(version.path))
    })
  }

  /**
   * The version with the account that the rule of its path names: where it goes next. Where that rule names another
   * feed, the version is not the rule's: it keeps its account, unless nothing could be sent with that.
   */
  addressed(version: Version, rule: RuleInForce): Version {
    const { account, feed, id } = version
    if (account === rule.account) return version
    const lastCode = () => this.#history.attempts(id, 1)[0]?.code ?? ''
    const isOurs = feed === rule.feed || WRONG_ACCOUNT.includes(lastCode())
    return isOurs ? this.#history.update(id, { account: rule.account }) : version
  }

  /** The version in the making at this path. What is not read yet belongs to the feed that the rule names by now. */
  #pending(origin: Origin): Version | null {
    const open = this.#history.pendingVersionAt(origin.path)
    if (open === null || open.feed === origin.rule.feed)
      return open && this.addressed(open, origin.rule)
    // What left belongs to the past of the other feed.
    return open.state === 'gone' ? null : this.#replace(open, origin)
  }

  /** Newer than all of its new feed, and incomplete since the same time. */
  #replace({ bytes, id, incompleteSince }: Version, origin: Origin): Version {
    const version = this.#add(origin, { bytes, incompleteSince })
    const known = this.known.at(origin.path)
    this.#history.forget(id, version.id)
    if (known?.versionId === id) this.known.remember(known.path, known.identity, version.id)
    return version
  }

  /** A file that an error of feedsyncd itself kept from being read is looked at again. */
  #reopen(origin: Origin): Version | null {
    const before = this.#history.lastVersionAt(origin.path)
    if (before?.state !== 'failed' || before.sha256 !== null) return null
    if (before.feed !== origin.rule.feed) return this.#replace(before, origin)
    return this.move(before.id, 'settling', null)
  }

  /** What another feed found at this path is not there any more: neither what it rejected, nor what waits to be sent. */
  #linkPath(origin: Origin, version: Version): void {
    const before = origin.identity === null ? null : this.#history.lastVersionAt(origin.path)
    const other = before?.feed === version.feed ? null : before
    if (other !== null) this.#rejectedGone(origin.path)
    this.known.remember(origin.path, origin.identity, version.id)
    const hasNoFile = other !== null && this.#history.pathsOf(other.id).length === 0
    if (hasNoFile && takesPlaceOf(version, other)) this.supersede(other, version)
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

  /** Any other step. */
  move(id: number, to: State, reason: Reason | null, patch: VersionPatch = {}): Version {
    const version = this.#history.move(id, to, reason, this.#parts.clock.now(), patch)
    this.#parts.inSameTransaction?.(version)
    this.#history.afterCommit(() => {
      logMoved(this.#parts.log, version)
      this.#parts.onMove(version)
    })
    return version
  }
}
