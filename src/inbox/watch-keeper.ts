// Owns the mode: events where they can be trusted, polling with a reason where not. Opens the watch
// again when the folder is another one, and gives up on a broken watch instead of on the daemon.

import { readFileSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { watch as watchFiles } from 'chokidar'
import { type Clock, MINUTE } from '../lib/clock.ts'
import { errorCode, messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { type FilesystemProbe, remoteFilesystem } from './filesystem-type.ts'
import { MOST_DEPTH } from './listing.ts'
import { unavailable } from './mounts.ts'
import { temporaryPattern } from './name-filter.ts'
import type { WatchMode } from './port.ts'

export interface Watch {
  close(): Promise<void>
}

export interface WatchEvents {
  /** `name`: last part of the path that was touched; null: not known. */
  touched(name: string | null): void
  /** The watch is not reliable any more. May be called more than once. */
  failed(error: unknown): void
}

/** Resolves when events arrive; rejects with the system's error where they cannot. */
export type WatchOpener = (directory: string, events: WatchEvents) => Promise<Watch>

/**
 * One inotify watch a directory, none a file, and nothing read after the start. Says that something was touched, never
 * what happened: events may be lost without a word.
 */
export const watchDirectories: WatchOpener = async (directory, events) => {
  let isReady = false
  const watcher = watchFiles(directory, {
    // Measured at 10,000 files: 17 MB instead of 28 MB, and no look at a file when it is touched.
    ignored: (_path, stats) => stats !== undefined && !stats.isDirectory(),
    ignoreInitial: true,
    depth: MOST_DEPTH,
    followSymlinks: false,
    atomic: false,
    ignorePermissionErrors: true,
  })
  // Directories are watched only, so what happens to files is told by the raw events of these.
  watcher.on('raw', (_event, name) => events.touched(name))
  // A new directory may have been filled before it was watched.
  watcher.on('addDir', () => events.touched(null))
  try {
    await new Promise<void>((resolve, reject) => {
      watcher.on('error', (error) => (isReady ? events.failed(error) : reject(error)))
      watcher.once('ready', resolve)
    })
  } catch (error) {
    await watcher.close()
    throw error
  }
  isReady = true
  return watcher
}

export interface WatchKeeperOptions {
  /** Absolute path. */
  directory: string
  clock: Clock
  log: Log
  networkFileSystem: FilesystemProbe
  openWatch: WatchOpener
  hint: () => void
}

/** What arrives together is one hint. How often the folder is listed is not decided here. */
const HINT_DELAY_MS = 1

/** A retry reads the whole tree, so a limit that nobody raised must not cost much. */
const RETRY_MS = 10 * MINUTE

export class WatchKeeper {
  readonly #options: WatchKeeperOptions
  #mode: WatchMode = { mode: 'poll', reason: 'it is not watched yet' }
  #watch: Watch | null = null
  /** Counts openings, so that a late word of an earlier watch is not taken for news. */
  #generation = 0
  /** One after the other: the folder may be replaced while a watch on it is being opened, which may be deaf then. */
  #opening: Promise<void> = Promise.resolve()
  /** Monotonic ms; while a watch is being opened, none is overdue. */
  #retryAt = Number.POSITIVE_INFINITY
  #hint: Disposable | null = null
  #isClosed = false

  constructor(options: WatchKeeperOptions) {
    this.#options = options
  }

  get mode(): WatchMode {
    return this.#mode
  }

  start(): Promise<void> {
    this.#opening = this.#openWatch()
    return this.#opening
  }

  /** The folder was listed: the time to open the watch again where that is needed. Does not wait for it. */
  follow(replaced: boolean): void {
    const isOverdue = this.#watch === null && this.#options.clock.monotonic() >= this.#retryAt
    if (!(replaced || isOverdue)) return
    this.#retryAt = Number.POSITIVE_INFINITY
    // Of those that wait, only the last opens: the others would each read the tree of a folder that was replaced since.
    const last: Promise<void> = this.#opening.then(() =>
      last === this.#opening ? this.#reopen() : undefined,
    )
    this.#opening = last
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#hint?.[Symbol.dispose]()
    await this.#opening
    await this.#closeWatch()
  }

  async #reopen(): Promise<void> {
    const before = JSON.stringify(this.#mode)
    await this.#openWatch()
    if (this.#isClosed) return
    if (JSON.stringify(this.#mode) !== before) this.#logMode()
    // What came between the listing and the watch was seen by neither.
    if (this.#mode.mode === 'events') this.#options.hint()
  }

  #logMode(): void {
    this.#options.log.warn(
      { event: 'folder.watch', ...this.#mode },
      'the way the folder is watched has changed',
    )
  }

  async #openWatch(): Promise<void> {
    this.#mode = await this.#open()
  }

  async #open(): Promise<WatchMode> {
    const { clock, directory, networkFileSystem, openWatch } = this.#options
    if (this.#isClosed) return this.#mode
    await this.#closeWatch()
    const generation = ++this.#generation
    let path: string
    let remote: string | null
    try {
      path = await realpath(directory)
      remote = await remoteFilesystem(path, networkFileSystem)
    } catch (error) {
      // The first listing that finds the folder brings us back.
      this.#retryAt = 0
      return { mode: 'poll', reason: unavailable(directory, error).reason }
    }
    try {
      if (remote !== null) return { mode: 'poll', reason: remoteReason(remote) }
      this.#watch = await openWatch(path, {
        touched: (name) => this.#touched(name),
        failed: (error) => this.#failed(error, generation),
      })
      return { mode: 'events' }
    } catch (error) {
      return { mode: 'poll', reason: brokenReason(error) }
    } finally {
      this.#retryAt = clock.monotonic() + RETRY_MS
    }
  }

  async #closeWatch(): Promise<void> {
    const watch = this.#watch
    this.#watch = null
    // One that cannot even be closed is not listened to any more, and that is all we need.
    await watch?.close().catch(() => {})
  }

  #touched(name: string | null): void {
    if (this.#hint !== null || this.#isClosed) return
    // A large upload under a temporary name is no news until it is renamed.
    if (name !== null && temporaryPattern(name) !== null) return
    this.#hint = this.#options.clock.after(HINT_DELAY_MS, () => {
      this.#hint = null
      this.#options.hint()
    })
  }

  #failed(error: unknown, generation: number): void {
    if (generation !== this.#generation || this.#mode.mode === 'poll') return
    this.#mode = { mode: 'poll', reason: brokenReason(error) }
    this.#retryAt = this.#options.clock.monotonic() + RETRY_MS
    void this.#closeWatch()
    this.#logMode()
  }
}

function remoteReason(name: string): string {
  return `the folder is on a network file system (${name}), which does not report what other hosts write`
}

function brokenReason(error: unknown): string {
  const code = errorCode(error)
  if (code === 'ENOSPC') {
    return `the limit of watched directories is reached (ENOSPC): raise it with ${raise('max_user_watches')}`
  }
  if (code === 'EMFILE') {
    return `the limit of watchers or of open files is reached (EMFILE): raise it with ${raise('max_user_instances')}, or LimitNOFILE= of the unit`
  }
  return `events of the folder cannot be had (${code ?? messageOf(error)})`
}

/** The command with twice the present value, which proved too small. */
function raise(limit: string): string {
  const present = Number(readFileSync(`/proc/sys/fs/inotify/${limit}`, 'utf8'))
  return `sysctl fs.inotify.${limit}=${2 * present}`
}
