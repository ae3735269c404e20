// Inbox lists and watches the folder, one listing at a time. Only `list` states facts; events are hints. Inbox never
// writes into the folder. A thread of its own asks the file system (listing-thread.ts).

import { join } from 'node:path'
import type { Conditions } from '../domain/conditions.ts'
import { type Clock, HOUR, isoTime, MINUTE } from '../lib/clock.ts'
import { isSameDirectory, sameIdentity } from '../lib/files.ts'
import { longest } from '../lib/hung-calls.ts'
import type { Log } from '../lib/log.ts'
import { type FilesystemProbe, probeFilesystem } from './filesystem-type.ts'
import { nothingFound } from './listing.ts'
import type { DirectoryStats, FolderPatterns, Looked } from './listing-messages.ts'
import { ListingThread } from './listing-thread.ts'
import { unavailable } from './mounts.ts'
import type { FolderState, Listing, Sighting, WatchMode } from './port.ts'
import { WatchKeeper, type WatchOpener, watchDirectories } from './watch-keeper.ts'

export interface InboxOptions extends FolderPatterns {
  clock: Clock
  log: Log
  conditions: Conditions
  /** The default calls statfs(2). */
  networkFileSystem?: FilesystemProbe
  /** The default uses chokidar. */
  openWatch?: WatchOpener
}

/** KnownFiles returns what is known of a path from its last reading; null if nothing is known. */
type KnownFiles = (path: string) => Sighting | null

/** STUCK_MS is longer than a listing of 100,000 files on a slow network. */
const STUCK_MS = 2 * MINUTE
const STUCK_HINT = 'check its disk or network mount; its feeds are read again once it answers'

export class Inbox implements AsyncDisposable {
  readonly #clock: Clock
  readonly #conditions: Conditions
  /** Absolute path. */
  readonly #directory: string
  readonly #log: Log
  readonly #keeperFor: (hint: () => void) => WatchKeeper
  readonly #thread: ListingThread
  /** The files of the last listing. */
  readonly #files = new Map<string, Sighting>()
  /** The stats of the folder at the last listing. */
  #lastStats: DirectoryStats | null = null
  /** The device of each mount point (`acme/`) that the last listing knew. */
  #mounts: ReadonlyMap<string, bigint> = new Map()
  #keeper: WatchKeeper | null = null
  #listing: Promise<Listing> | null = null
  /** The questions to the thread that are not answered yet. `since` is the wall ms of the question. */
  readonly #asked = new Set<{ since: number }>()

  constructor({
    clock,
    conditions,
    directory,
    exclude,
    include,
    log,
    networkFileSystem = probeFilesystem,
    openWatch = watchDirectories,
  }: InboxOptions) {
    this.#clock = clock
    this.#conditions = conditions
    this.#directory = directory
    this.#log = log
    this.#keeperFor = (hint) =>
      new WatchKeeper({ clock, directory, hint, log, networkFileSystem, openWatch })
    const folder = { directory, exclude, include }
    this.#thread = new ListingThread({ answered: () => this.#answered(), clock, folder })
  }

  /**
   * list lists the whole folder; a call during a listing gets the same listing. The files of an unreadable folder, and
   * of a path that does not answer, are unknown, not gone. For an unchanged file, the listing contains the object of
   * `known`, which leaves little garbage. It rejects with `FeedsyncError` only if its thread cannot run.
   */
  list(known: KnownFiles = () => null): Promise<Listing> {
    this.#listing ??= this.#reportIfHanging(this.#list(known)).finally(() => {
      this.#listing = null
    })
    return this.#listing
  }

  /**
   * look checks single paths again. The result is null if the path is gone, and a reason to skip the path if it cannot
   * be used or a directory above it has become a link.
   */
  look(paths: readonly string[]): Promise<Looked> {
    return this.#reportIfHanging(this.#thread.look(paths))
  }

  /** absolute returns the absolute path of a relative one. */
  absolute(path: string): string {
    return join(this.#directory, path)
  }

  /**
   * watch starts to report hints that something might have changed. Correctness never depends on them. If events do not
   * work, the mode is `poll`, with the reason.
   */
  watch(hint: () => void): Promise<void> {
    this.#keeper = this.#keeperFor(hint)
    return this.#keeper.start()
  }

  /** watchMode is the current mode: a watch can break, or work again, at any time. */
  get watchMode(): WatchMode {
    return this.#keeper?.mode ?? { mode: 'poll', reason: 'a single pass' }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#keeper?.close()
    await this.#thread[Symbol.asyncDispose]()
  }

  /**
   * #reportIfHanging waits for `work`, and sets a condition while it hangs: on a network without its server, a system
   * call might never return.
   */
  async #reportIfHanging<T>(work: Promise<T>): Promise<T> {
    const asked = { since: this.#clock.now() }
    this.#asked.add(asked)
    using _timer = this.#clock.after(STUCK_MS, () => this.#reportHanging())
    try {
      return await work
    } finally {
      this.#asked.delete(asked)
      this.#reportHanging()
    }
  }

  /** #answered reports what still hangs, and hints that the path that answers again might have changed. */
  #answered(): void {
    this.#reportHanging()
    this.#keeper?.touched(null)
  }

  /** #reportHanging sets or clears the condition, which names the path that does not answer for the longest time. */
  #reportHanging(): void {
    const places = [
      ...[...this.#asked].map(({ since }) => ({ path: '', since })),
      ...this.#thread.hung(),
    ]
    const [first] = longest(places, this.#clock.now(), STUCK_MS)
    if (first === undefined) this.#conditions.clear('scan-stuck')
    else {
      const message = `listing ${this.absolute(first.path)} has not ended since ${isoTime(first.since)}`
      this.#conditions.set('scan-stuck', { message, hint: STUCK_HINT })
    }
  }

  async #list(known: KnownFiles): Promise<Listing> {
    const directory = this.#directory
    const answer = await this.#thread.list(this.#mounts)
    if (answer.kind === 'unavailable') return nothingKnown(answer)
    const { changed, gone, ignored, isWhole, skipped, stats, temporary, unknown } = answer
    if (isWhole) this.#files.clear()
    for (const path of gone) this.#files.delete(path)
    for (const seen of changed) {
      const lastRead = known(seen.path)
      const isKnown = lastRead !== null && sameIdentity(lastRead.identity, seen.identity)
      this.#files.set(seen.path, isKnown ? lastRead : seen)
    }
    const isEmpty = this.#files.size + skipped.length + unknown.length === 0
    const before = this.#lastStats ?? stats
    // A missing mount leaves an empty directory on another device.
    if (isEmpty && before.dev !== stats.dev)
      return nothingKnown(unavailable(directory, NOT_MOUNTED))
    this.#lastStats = stats
    this.#mounts = answer.mounts
    if (before.dev !== stats.dev) this.#reportChange(directory)
    for (const prefix of answer.replaced) this.#reportChange(this.absolute(prefix))
    // A watch on the previous directory reports nothing for the new one.
    if (isSameDirectory(before, stats)) this.#keeper?.retryIfDue()
    else {
      this.#log.warn(
        { event: 'folder.replaced', directory },
        'the folder was replaced by another one',
      )
      this.#keeper?.reopen()
    }
    const files = [...this.#files.values()]
    return { folder: { kind: 'ready' }, files, skipped, unknown, temporary, ignored }
  }

  /** #reportChange warns that the files at a path might be old: a mount that was there before is gone. */
  #reportChange(path: string): void {
    const words = {
      message: `${path} is on another file system than before, and has files of its own, which might be old`,
      hint: 'mount its file system again; if the change is intended, nothing has to be done',
    }
    this.#conditions.set('inbox-changed', words, CHANGE_SHOWN_MS)
  }
}

/** Nobody sees when a person has accepted the change, so the warning ends by itself. */
const CHANGE_SHOWN_MS = HOUR

/** NOT_MOUNTED stands for an empty folder on another device than before. */
const NOT_MOUNTED = Object.assign(new Error('not mounted'), { code: 'EXDEV' })

function nothingKnown(folder: FolderState): Listing {
  return { folder, ...nothingFound(), unknown: [''] }
}
