// Owns the watched folder: one listing at a time, and what it is worth. Everything that is true comes
// from `list`; events are hints. Never writes into the folder.

import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, isoTime, MINUTE } from '../lib/clock.ts'
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
  /** Told of a look that does not end; absent: nobody waits for it. */
  conditions?: Pick<Conditions, 'set' | 'clear'>
  /** statfs(2)'s f_type of a path; the system's by default. */
  networkFileSystem?: FilesystemProbe
  /** chokidar's by default. */
  openWatch?: WatchOpener
}

/** A listing of 100,000 files on a slow network takes less. */
const STUCK_MS = 2 * MINUTE
const STUCK =
  'check the disk or the network mount of inbox.directory; feeds are taken again once it answers'

export class Inbox implements AsyncDisposable {
  readonly #options: InboxOptions & Required<Pick<InboxOptions, 'networkFileSystem' | 'openWatch'>>
  readonly #filter: NameFilter
  /** The folder as it was last listed. */
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
   * Lists the whole folder. Never throws: an unreadable folder is a state, and its files are unknown, not gone.
   * Where a file is still what `known` says, the listing holds that very object: then it leaves little to collect.
   */
  list(known: KnownFiles = () => null): Promise<Listing> {
    this.#listing ??= this.#watched(this.#list(known)).finally(() => {
      this.#listing = null
    })
    return this.#listing
  }

  /**
   * Looks at single paths again: null where the path is not there any more, and why it is skipped where a directory
   * above it is a link by now.
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

  /** Why a path is not a feed, or null when it would be taken. */
  ignored(path: string): Ignored | null {
    return this.#filter.ignored(path)
  }

  /** Absolute path of a relative one. */
  absolute(path: string): string {
    return join(this.#options.directory, path)
  }

  /**
   * Starts to report hints: something may have changed. Correctness never depends on them. Falls back to none (mode
   * `poll`) where events do not work, with the reason.
   */
  watch(hint: () => void): Promise<void> {
    this.#keeper = new WatchKeeper({ ...this.#options, hint })
    return this.#keeper.start()
  }

  /** A watch may break, or work again, at any time. */
  get watchMode(): WatchMode {
    return this.#keeper?.mode ?? { mode: 'poll', reason: 'a single pass' }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#keeper?.close()
    await this.#listing
  }

  /** On a network whose server is gone a look may never end, and nothing else would tell why no feed is taken. */
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
      // A mount that went away leaves the empty directory it was mounted on.
      if (isEmpty && before.dev !== stats.dev)
        return { folder: unavailable(directory, NOT_MOUNTED), ...nothingKnown() }
      this.#known = stats
      // Watches on another directory than the last one are deaf.
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

  /** As on a network: any of them may lie on a mount whose server is gone. */
  async #lookAt(paths: readonly string[]): Promise<Map<string, Look>> {
    const looks = new Map<string, Look>()
    const entries = paths.map((path) => ({ path, at: this.absolute(path) }))
    await lookAtEach(entries, true, (look, { path }) => looks.set(path, look))
    return looks
  }
}

/** Another device, and nothing on it. */
const NOT_MOUNTED = Object.assign(new Error('not mounted'), { code: 'EXDEV' })

const isDirectory = (look: Look | undefined) =>
  look != null && !(look instanceof Error) && look.isDirectory()

const nothingKnown = () => ({ ...nothingFound(), unknown: [''] })

/** `a/b/c.xml` lies below `a` and `a/b`. */
function ancestors(path: string): string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}
