// WatchKeeper chooses the watch mode: events if they are reliable, otherwise polling with a reason. It opens the watch
// again after the folder was replaced. A broken watch ends events, never the daemon.

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

interface Watch {
  close(): Promise<void>
}

export interface WatchEvents {
  /** touched reports a change. `name` is the last part of the path; null if it is not known. */
  touched(name: string | null): void
  /** failed reports that the watch is no longer reliable. It can be called more than once. */
  failed(error: unknown): void
}

/** WatchOpener resolves when events arrive, or rejects with the system's error. */
export type WatchOpener = (directory: string, events: WatchEvents) => Promise<Watch>

/**
 * watchDirectories uses one inotify watch for each directory and none for files, and reads nothing after the start. It
 * reports only that something changed, because single events can be lost silently.
 */
export const watchDirectories: WatchOpener = async (directory, events) => {
  let isReady = false
  const watcher = watchFiles(directory, {
    // Ignoring files saves memory (17 MB instead of 28 MB at 10,000 files, measured) and a stat for each event.
    ignored: (_path, stats) => stats !== undefined && !stats.isDirectory(),
    ignoreInitial: true,
    depth: MOST_DEPTH,
    followSymlinks: false,
    atomic: false,
    ignorePermissionErrors: true,
  })
  // Only directories are watched; their raw events include changes of files.
  watcher.on('raw', (_event, name) => events.touched(name))
  // A new directory can contain files from before it was watched.
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

/** HINT_DELAY_MS joins events that arrive together into one hint. */
const HINT_DELAY_MS = 1

/** RETRY_MS is long, because each retry reads the whole tree. */
const RETRY_MS = 10 * MINUTE

export class WatchKeeper {
  readonly #clock: Clock
  /** Absolute path. */
  readonly #directory: string
  readonly #hint: () => void
  readonly #log: Log
  readonly #networkFileSystem: FilesystemProbe
  readonly #openWatch: WatchOpener
  #mode: WatchMode = { mode: 'poll', reason: 'it is not watched yet' }
  #watch: Watch | null = null
  /** Counts openings, so that a late event of an earlier watch is ignored. */
  #generation = 0
  /** The last opening of a watch. Watches open one after the other, because the folder can be replaced meanwhile. */
  #opening: Promise<void> = Promise.resolve()
  /** Monotonic ms of the next try to open a watch; infinite while a watch is being opened. */
  #retryAt = Number.POSITIVE_INFINITY
  #nextHint: Disposable | null = null
  #isClosed = false

  constructor({
    clock,
    directory,
    hint,
    log,
    networkFileSystem,
    openWatch,
  }: {
    clock: Clock
    directory: string
    hint: () => void
    log: Log
    networkFileSystem: FilesystemProbe
    openWatch: WatchOpener
  }) {
    this.#clock = clock
    this.#directory = directory
    this.#hint = hint
    this.#log = log
    this.#networkFileSystem = networkFileSystem
    this.#openWatch = openWatch
  }

  get mode(): WatchMode {
    return this.#mode
  }

  /** start opens the watch. It resolves when `mode` says whether events work. */
  start(): Promise<void> {
    this.#opening = this.#open()
    return this.#opening
  }

  /** retryIfDue opens a broken watch again once its time has come. It does not wait for the watch. */
  retryIfDue(): void {
    if (this.#watch === null && this.#clock.monotonic() >= this.#retryAt) this.reopen()
  }

  /** reopen opens the watch again, for example after the folder was replaced. It does not wait for the watch. */
  reopen(): void {
    this.#retryAt = Number.POSITIVE_INFINITY
    // Only the last waiting call opens a watch: the others would read the tree of a folder that was replaced since.
    const last: Promise<void> = this.#opening.then(() =>
      last === this.#opening ? this.#openAgain() : undefined,
    )
    this.#opening = last
  }

  /** touched joins events that arrive together into one hint. `name` is the last part of the path; null if unknown. */
  touched(name: string | null): void {
    if (this.#nextHint !== null || this.#isClosed) return
    // A file with a temporary name matters only after it is renamed.
    if (name !== null && temporaryPattern(name) !== null) return
    this.#nextHint = this.#clock.after(HINT_DELAY_MS, () => {
      this.#nextHint = null
      this.#hint()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#nextHint?.[Symbol.dispose]()
    await this.#opening
    await this.#closeWatch()
  }

  async #openAgain(): Promise<void> {
    const before = JSON.stringify(this.#mode)
    await this.#open()
    if (this.#isClosed) return
    if (JSON.stringify(this.#mode) !== before) this.#logMode()
    // A file that arrived between the listing and the watch was seen by neither.
    if (this.#mode.mode === 'events') this.#hint()
  }

  #logMode(): void {
    const mode = this.#mode
    this.#log.warn({ event: 'folder.watch', ...mode }, 'the way to watch the folder has changed')
  }

  async #open(): Promise<void> {
    this.#mode = await this.#opened()
  }

  async #opened(): Promise<WatchMode> {
    if (this.#isClosed) return this.#mode
    await this.#closeWatch()
    const generation = ++this.#generation
    let path: string
    let remote: string | null
    try {
      path = await realpath(this.#directory)
      remote = await remoteFilesystem(path, this.#networkFileSystem)
    } catch (error) {
      // The first listing that finds the folder opens the watch.
      this.#retryAt = 0
      return { mode: 'poll', reason: unavailable(this.#directory, error).reason }
    }
    try {
      if (remote !== null) return { mode: 'poll', reason: remoteReason(remote) }
      this.#watch = await this.#openWatch(path, {
        touched: (name) => this.touched(name),
        failed: (error) => this.#failed(error, generation),
      })
      return { mode: 'events' }
    } catch (error) {
      return { mode: 'poll', reason: brokenReason(error) }
    } finally {
      this.#retryAt = this.#clock.monotonic() + RETRY_MS
    }
  }

  async #closeWatch(): Promise<void> {
    const watch = this.#watch
    this.#watch = null
    // Ignore a failed close: nothing listens to this watch now.
    await watch?.close().catch(() => {})
  }

  #failed(error: unknown, generation: number): void {
    if (generation !== this.#generation || this.#mode.mode === 'poll') return
    this.#mode = { mode: 'poll', reason: brokenReason(error) }
    this.#retryAt = this.#clock.monotonic() + RETRY_MS
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
    return `the limit of watched directories is reached (ENOSPC): raise it with ${commandToRaise('max_user_watches')}`
  }
  if (code === 'EMFILE') {
    return `the limit of watchers or of open files is reached (EMFILE): raise it with ${commandToRaise('max_user_instances')}, or LimitNOFILE= of the unit`
  }
  return `events of the folder are not available (${code ?? messageOf(error)})`
}

/** commandToRaise returns the command that doubles a limit. */
function commandToRaise(limit: string): string {
  const current = Number(readFileSync(`/proc/sys/fs/inotify/${limit}`, 'utf8'))
  return `sysctl fs.inotify.${limit}=${2 * current}`
}
