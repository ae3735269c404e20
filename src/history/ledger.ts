// What each path of the folder was last found to be, and the steps of a version that go together in
// one transaction: its state, the path it came from, and the older versions that it replaces. The
// history under it only knows single rows; when a step happens is the pipeline's.

import type { FileIdentity } from '../feed/port.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { History, State, Version, VersionPatch } from './port.ts'

/** A path in the folder, and the feed that its bytes belong to. */
export interface Origin {
  path: string
  /** null: a file that a person named, taken as it is. */
  identity: FileIdentity | null
  feed: string
  account: string | null
}

/** States of a version whose bytes are not known yet. */
export const UNREAD: readonly State[] = ['settling', 'incomplete', 'checking', 'gone']
/** States in which a version still waits, so that a newer one takes its place. */
const WAITING: readonly State[] = ['held', 'queued', 'failed']
/** What an operator reads in the journal without asking for more. */
const LOUD: Partial<Record<State, 'info' | 'warn'>> = {
  uploaded: 'info',
  incomplete: 'info',
  superseded: 'info',
  gone: 'info',
  rejected: 'warn',
  held: 'warn',
  failed: 'warn',
}

export class Ledger {
  readonly #history: History
  readonly #clock: Clock
  readonly #log: Log
  readonly #onMove: (version: Version) => void
  readonly #known = new Map<string, { identity: FileIdentity; versionId: number }>()
  /** Versions whose bytes are not known yet, by path. */
  readonly #unread = new Map<string, number>()
  /** What a transaction that still runs will have to tell; null outside of one. */
  #untold: (() => void)[] | null = null

  /** `onMove` hears of every new state, for progress; it must not write. */
  constructor(history: History, clock: Clock, log: Log, onMove: (version: Version) => void) {
    this.#history = history
    this.#clock = clock
    this.#log = log
    this.#onMove = onMove
    for (const file of history.knownFiles()) this.#known.set(file.path, file)
    for (const version of history.list({ states: UNREAD, all: true }).reverse()) {
      this.#unread.set(version.path, version.id)
    }
  }

  /** Runs `work` in one transaction; its moves are told of once they are true. */
  atomically<T>(work: () => T): T {
    if (this.#untold !== null) return work()
    const untold: (() => void)[] = []
    this.#untold = untold
    try {
      return this.#history.atomically(work)
    } catch (error) {
      untold.length = 0
      throw error
    } finally {
      this.#untold = null
      for (const tell of untold) tell()
    }
  }

  /** False where the path is still what it was last found to be. */
  isNews(path: string, identity: FileIdentity): boolean {
    const known = this.#known.get(path)
    return known === undefined || !sameIdentity(known.identity, identity)
  }

  /** The version that a path was last found to be; null while that is not known. */
  foundAt(path: string): Version | null {
    const known = this.#known.get(path)
    return known === undefined ? null : this.#history.version(known.versionId)
  }

  /** What stat said of the path when it was last read; null while that is not known. */
  identityAt(path: string): FileIdentity | null {
    return this.#known.get(path)?.identity ?? null
  }

  unreadPaths(): Iterable<string> {
    return this.#unread.keys()
  }

  /**
   * A path with news settles. Bytes of another size are a new version for certain; the same size may
   * be the same bytes (a touch, a rename-over), which make no version, so nothing is said until read.
   */
  settling(origin: Origin, size: number): void {
    const open = this.#openAt(origin.path)
    if (open !== null) {
      // What is being read has news until it was read: a listing meanwhile says nothing about it.
      const stays = open.state === 'settling' || open.state === 'checking'
      if (!stays) this.#move(open.id, 'settling', null, { hint: null })
      return
    }
    if (this.#reopen(origin.path) !== null) return
    if (this.foundAt(origin.path)?.bytes !== size) this.#add(origin)
  }

  /** Its bytes are being read. */
  checking(path: string): void {
    const open = this.#openAt(path)
    if (open !== null && open.state !== 'checking') this.#move(open.id, 'checking', null)
  }

  /** Until when the document at this path may stay incomplete; null where it grew, or was not read before. */
  deadlineAt(path: string, bytes: number): number | null {
    const open = this.#openAt(path)
    return open === null || bytes > (open.bytes ?? 0) ? null : open.deadlineAt
  }

  /** It could not be read as one piece: it settles again. */
  again(path: string, reason: string): void {
    const open = this.#openAt(path)
    if (open?.state === 'checking') this.#move(open.id, 'settling', reason)
  }

  /** It left before it could be taken. */
  gone(path: string): void {
    const open = this.#openAt(path)
    if (open === null || open.state === 'gone') return
    this.#forgetPath(path)
    this.#move(open.id, 'gone', 'the file left the folder before it was taken; nothing was sent', {
      deadlineAt: null,
      hint: null,
    })
  }

  /** Versions that a person wants to be read once more are news again; answers whether there are any. */
  heedRetries(): boolean {
    const retried = this.#history
      .list({ states: ['settling'], all: true })
      .filter(({ path }) => !this.#unread.has(path))
    for (const { id, path } of retried) {
      this.#unread.set(path, id)
      this.#known.delete(path)
    }
    return retried.length > 0
  }

  /** The version that the bytes at this path are becoming; adds it where there is none yet. */
  versionFor(origin: Origin): Version {
    return this.#openAt(origin.path) ?? this.#reopen(origin.path) ?? this.#add(origin)
  }

  /** The same bytes as a version that is there: no new one, only a `seen` event. */
  seen(origin: Origin, version: Version): void {
    this.#history.atomically(() => {
      const open = this.#openAt(origin.path)
      if (open !== null) this.#history.forget(open.id)
      this.#history.seen(version.id, `the same bytes at ${origin.path}`, this.#clock.now())
      this.#know(origin, version.id)
    })
    this.#remember(origin, version.id)
    this.#unread.delete(origin.path)
  }

  /** Ends the reading of a file: its version gets a state, and the path is known to be this version. */
  conclude(origin: Origin, to: State, reason: string | null, patch: VersionPatch): Version {
    const version = this.atomically(() => {
      const open = this.versionFor(origin)
      if (open.state === 'settling') this.#move(open.id, 'checking', null)
      const moved = this.#move(open.id, to, reason, patch)
      this.#know(origin, open.id)
      if (to === 'queued' || to === 'held') this.#supersedeOlder(moved)
      return moved
    })
    this.#remember(origin, version.id)
    if (!UNREAD.includes(to)) this.#unread.delete(origin.path)
    return version
  }

  /** An attempt to deliver ended without success: the version waits, unless a newer one waits already. */
  waitAgain(
    id: number,
    reason: string,
    hint: string | null,
    nextAttemptAt: number | null,
  ): Version {
    return this.atomically(() => {
      const waiting = this.#move(id, 'queued', reason, { hint, nextAttemptAt })
      const newer = this.#history
        .list({ feed: waiting.feed, states: ['queued'], all: true, limit: 1 })
        .find((other) => other.id > id)
      return newer === undefined ? waiting : this.#supersede(waiting, newer)
    })
  }

  /** Any other step of a version that is being delivered. */
  move(id: number, to: State, reason: string | null, patch: VersionPatch = {}): Version {
    return this.#move(id, to, reason, patch)
  }

  #supersedeOlder(newer: Version): void {
    // What is held cannot take the place of what was accepted: a person may still discard it.
    const replaced = newer.state === 'held' ? (['held'] as const) : WAITING
    const older = this.#history.list({ feed: newer.feed, states: replaced, all: true })
    for (const version of older) if (version.id < newer.id) this.#supersede(version, newer)
  }

  #supersede(older: Version, newer: Version): Version {
    return this.#move(
      older.id,
      'superseded',
      `version ${newer.id} took the place of version ${older.id}`,
      {
        hint: null,
        nextAttemptAt: null,
      },
    )
  }

  #openAt(path: string): Version | null {
    const id = this.#unread.get(path)
    const version = id === undefined ? null : this.#history.version(id)
    // After a rolled-back transaction the remembered id may be nobody's, or somebody else's.
    return version?.path === path && UNREAD.includes(version.state) ? version : null
  }

  /** A path that could not be read as it was (a symlink, no permission) is looked at again. */
  #reopen(path: string): Version | null {
    const before = this.foundAt(path)
    if (before === null || before.sha256 !== null) return null
    if (before.state !== 'rejected' && before.state !== 'failed') return null
    this.#unread.set(path, before.id)
    return this.#move(before.id, 'settling', null, { hint: null })
  }

  #add(origin: Origin): Version {
    const { path, feed, account } = origin
    const version = this.#history.add({
      feed,
      path,
      account,
      state: 'settling',
      reason: null,
      at: this.#clock.now(),
    })
    this.#unread.set(path, version.id)
    this.#tell(() => {
      this.#log.info({ id: version.id, feed, path }, 'feed noticed')
      this.#onMove(version)
    })
    return version
  }

  #move(id: number, to: State, reason: string | null, patch: VersionPatch = {}): Version {
    const version = this.#history.move(id, to, reason, this.#clock.now(), patch)
    const level = LOUD[to] ?? 'debug'
    this.#tell(() => {
      this.#log[level]({ id, feed: version.feed, state: to, reason }, 'feed changed state')
      this.#onMove(version)
    })
    return version
  }

  #tell(news: () => void): void {
    if (this.#untold === null) news()
    else this.#untold.push(news)
  }

  #know(origin: Origin, versionId: number): void {
    const { path, identity } = origin
    if (identity !== null) this.#history.know({ path, identity, versionId })
  }

  /** Only once it is committed: what is remembered and not written would never be read again. */
  #remember(origin: Origin, versionId: number): void {
    const { path, identity } = origin
    if (identity !== null) this.#known.set(path, { identity, versionId })
  }

  #forgetPath(path: string): void {
    if (this.#known.delete(path)) this.#history.unknow(path)
  }
}

export function sameIdentity(a: FileIdentity, b: FileIdentity): boolean {
  return (
    a.ino === b.ino &&
    a.size === b.size &&
    a.mtimeNs === b.mtimeNs &&
    a.ctimeNs === b.ctimeNs &&
    a.dev === b.dev
  )
}
