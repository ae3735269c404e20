// Inbox lists and watches the folder, one listing at a time. Only `list` states facts; events are hints. Inbox never
// writes into the folder.

import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, HOUR, isoTime, MINUTE } from '../lib/clock.ts'
import type { Conditions } from '../lib/conditions.ts'
import { isSameDirectory } from '../lib/files.ts'
import type { Log } from '../lib/log.ts'
import { type Look, lookAtEach } from './directory-entries.ts'
import { type FilesystemProbe, probeFilesystem, remoteFilesystem } from './filesystem-type.ts'
import { judge, type KnownFiles, nothingFound, walk } from './listing.ts'
import { Mounts, unavailable } from './mounts.ts'
import { createNameFilter, type NameFilter } from './name-filter.ts'
import type { Ignored, Listing, Sighting, Skipped, WatchMode } from './port.ts'
import { WatchKeeper, type WatchOpener, watchDirectories } from './watch-keeper.ts'

export interface InboxOptions {
  /** Absolute path. */
  directory: string
  include: readonly string[]
  exclude: readonly string[]
  clock: Clock
  log: Log
  /** Receives the condition of a listing that does not end; optional. */
  conditions?: Pick<Conditions, 'set' | 'clear'>
  /** The default calls statfs(2). */
  networkFileSystem?: FilesystemProbe
  /** The default uses chokidar. */
  openWatch?: WatchOpener
}

/** STUCK_MS is longer than a listing of 100,000 files on a slow network. */
const STUCK_MS = 2 * MINUTE
const STUCK =
  'check the disk or the network mount of inbox.directory; feeds are taken again once it answers'

export class Inbox implements AsyncDisposable {
  readonly #options: InboxOptions & Required<Pick<InboxOptions, 'networkFileSystem' | 'openWatch'>>
  readonly #filter: NameFilter
  /** The stats of the folder at the last listing. */
  #known: BigIntStats | null = null
  readonly #mounts = new Mounts()
  #keeper: WatchKeeper | null = null
  #listing: Promise<Listing> | null = null
  #isRemote: boolean | null = null

  constructor(options: InboxOptions) {
    this.#options = {
      networkFileSystem: probeFilesystem,
      openWatch: watchDirectories,
      ...options,
    }
    this.#filter = createNameFilter(options)
  }

  /**
   * list lists the whole folder. It never throws: in an unreadable folder, all files are unknown, not gone. For an
   * unchanged file, the listing contains the object of `known`, which leaves little garbage.
   */
  list(known: KnownFiles = () => null): Promise<Listing> {
    this.#listing ??= this.#watched(this.#list(known)).finally(() => {
      this.#listing = null
    })
    return this.#listing
  }

  /**
   * look checks single paths again. The result is null if the path is gone, and a reason to skip it if a directory
   * above it has become a link.
   */
  look(paths: readonly string[]): Promise<Map<string, Sighting | Skipped | null>> {
    return this.#watched(this.#look(paths))
  }

  async #look(paths: readonly string[]): Promise<Map<string, Sighting | Skipped | null>> {
    const above = await this.#lookAt([...new Set(paths.flatMap(ancestors))])
    const itself = await this.#lookAt(paths)
    return new Map(
      paths.map((path) => {
        const wrong = ancestors(path).find((one) => !isDirectory(above.get(one)))
        if (wrong === undefined) return [path, judge(path, itself.get(path) ?? null)]
        const skipped = judge(wrong, above.get(wrong) ?? null)
        return [path, skipped !== null && 'reason' in skipped ? skipped : null]
      }),
    )
  }

  /** ignored returns the rule that ignores a path, or null if the path may be a feed. */
  ignored(path: string): Ignored | null {
    return this.#filter.ignored(path)
  }

  /** absolute returns the absolute path of a relative one. */
  absolute(path: string): string {
    return join(this.#options.directory, path)
  }

  /**
   * watch starts to report hints that something may have changed. Correctness never depends on them. If events do not
   * work, the mode is `poll`, with the reason.
   */
  watch(hint: () => void): Promise<void> {
    this.#keeper = new WatchKeeper({ ...this.#options, hint })
    return this.#keeper.start()
  }

  /** watchMode is the present mode: a watch may break, or work again, at any time. */
  get watchMode(): WatchMode {
    return this.#keeper?.mode ?? { mode: 'poll', reason: 'a single pass' }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#keeper?.close()
    await this.#listing
  }

  /** #watched sets a condition if `work` hangs: on a network without its server, a system call may never return. */
  async #watched<T>(work: Promise<T>): Promise<T> {
    const { clock, conditions, directory } = this.#options
    const began = isoTime(clock.now())
    const message = `listing ${directory} has not ended since ${began}`
    using _timer = clock.after(STUCK_MS, () =>
      conditions?.set('scan-stuck', { message, hint: STUCK }),
    )
    try {
      return await work
    } finally {
      conditions?.clear('scan-stuck')
    }
  }

  async #list(known: KnownFiles): Promise<Listing> {
    const { directory, networkFileSystem } = this.#options
    try {
      const stats = await stat(directory, { bigint: true })
      this.#isRemote ??= (await remoteFilesystem(directory, networkFileSystem)) !== null
      const found = await walk({
        directory,
        device: stats.dev,
        filter: this.#filter,
        known,
        mounts: this.#mounts,
        remote: this.#isRemote,
      })
      const isEmpty = found.files.length + found.skipped.length + found.unknown.length === 0
      const before = this.#known ?? stats
      // A missing mount leaves an empty directory on another device.
      if (isEmpty && before.dev !== stats.dev)
        return { folder: unavailable(directory, NOT_MOUNTED), ...nothingKnown() }
      this.#known = stats
      if (before.dev !== stats.dev) this.#reportChange(directory)
      for (const prefix of this.#mounts.replaced()) this.#reportChange(this.absolute(prefix))
      // A watch on the previous directory reports nothing for the new one.
      const replaced = !isSameDirectory(before, stats)
      if (replaced) {
        this.#isRemote = null
        this.#options.log.warn(
          { event: 'folder.replaced', directory },
          'the folder was replaced by another one',
        )
      }
      this.#keeper?.follow(replaced)
      return { folder: { kind: 'ready' }, ...found }
    } catch (error) {
      return { folder: unavailable(directory, error), ...nothingKnown() }
    }
  }

  /** #reportChange warns of files that may be old: they lay below a mount that is gone. */
  #reportChange(path: string): void {
    const words = {
      message: `${path} is on another file system than before, and has files of its own, which may be old`,
      hint: 'mount its file system again; if the change is intended, nothing has to be done',
    }
    this.#options.conditions?.set('inbox-changed', words, CHANGE_SHOWN_MS)
  }

  /** #lookAt treats all paths as remote, because any path may lie on a mount without its server. */
  async #lookAt(paths: readonly string[]): Promise<Map<string, Look>> {
    const looks = new Map<string, Look>()
    const entries = paths.map((path) => ({ path, at: this.absolute(path) }))
    await lookAtEach(entries, true, (look, { path }) => looks.set(path, look))
    return looks
  }
}

/** Nobody sees when a person has accepted the change, so the warning ends by itself. */
const CHANGE_SHOWN_MS = HOUR

/** NOT_MOUNTED stands for an empty folder on another device than before. */
const NOT_MOUNTED = Object.assign(new Error('not mounted'), { code: 'EXDEV' })

const isDirectory = (look: Look | undefined) =>
  look != null && !(look instanceof Error) && look.isDirectory()

const nothingKnown = () => ({ ...nothingFound(), unknown: [''] })

/** ancestors returns the directories above a path: `a` and `a/b` for `a/b/c.xml`. */
function ancestors(path: string): string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}
