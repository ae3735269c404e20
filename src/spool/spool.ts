// Owns the private copies. A copy is written once under a temporary name, then durably renamed to the name of its
// version. A copy never changes, so the bytes that are sent are the bytes that were checked.

import { randomUUID } from 'node:crypto'
import { chmodSync, closeSync, fsync, mkdirSync, openSync, renameSync } from 'node:fs'
import { type FileHandle, open, readdir, rm, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ConditionError, stateCondition } from '../domain/conditions.ts'
import { copyName, type SpoolCopy } from '../domain/spool-name.ts'
import { OpenDirectory, READ_FLAGS } from '../lib/beneath.ts'
import { systemClock } from '../lib/clock.ts'
import { errnoText } from '../lib/errno.ts'
import { EXIT, errorCode, type FeedsyncError } from '../lib/errors.ts'
import { tryClone } from '../lib/files.ts'

const INDEX = '.index'

const GONE = 'put it back; or restart feedsyncd, which makes an empty one'

/** Every asynchronous method rejects with a `FeedsyncError` that names the system's error code. */
export interface Spool {
  /** prepare returns the absolute path of a new file. The writer must create it exclusively and fsync it. */
  prepare(): string
  /** path returns the absolute path of a kept file. */
  path(name: string): string
  /** indexOf returns the absolute path of the posting index of a prepared or kept file. Both are removed together. */
  indexOf(path: string): string
  /** discard removes a prepared file and its index, if they exist. */
  discard(path: string): Promise<void>
  /** keep renames a prepared file and its index durably to a name that says what they are, and returns that name. */
  keep(prepared: string, copy: SpoolCopy): Promise<string>
  /** remove removes a kept file and its index, if they exist. */
  remove(name: string): Promise<void>
  /** names returns the names of all files of the spool, with indexes and prepared files. */
  names(): Promise<string[]>
  /**
   * sweep removes all files except the copies named in `keep` and their indexes, and returns how many. It also
   * removes prepared files, so it runs only at the start.
   */
  sweep(keep: ReadonlySet<string>): Promise<number>
  /** freeBytes returns the free bytes of the file system, or infinity when the file system does not say. */
  freeBytes(): Promise<number>
  /**
   * canClone returns whether a copy of the file would share the blocks of the file and take no room; false if the file
   * cannot be opened. It makes a clone and removes the clone. `path` is relative to `root`, and no link below `root` is
   * followed.
   */
  canClone(root: string, path: string): Promise<boolean>
}

/**
 * createSpool opens the spool and makes a missing directory, for our user only. Throws `FeedsyncError` when the
 * directory cannot be made or written.
 */
export function createSpool(directory: string): Spool {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    chmodSync(directory, 0o700)
  } catch (error) {
    throw translated('open the spool', directory, error)
  }

  const at = (name: string) => join(directory, name)
  const prepare = () => at(`${randomUUID()}.part`)
  const translating = <T>(what: string, work: Promise<T>): Promise<T> =>
    work.catch((error) => {
      throw translated(what, directory, error)
    })

  const sync = new SharedSync(directory)
  const removeWithIndex = async (path: string) => {
    const files = [path, path + INDEX].map((file) => rm(file, { force: true }))
    await translating('remove a file of the spool', Promise.all(files))
  }

  return {
    prepare,
    path: at,
    indexOf: (path) => path + INDEX,
    discard: removeWithIndex,
    async keep(prepared, copy) {
      const name = copyName(copy)
      const renamed = async () => {
        // The index first, so that after a crash a copy with its final name always has its index. Synchronously,
        // because a local rename costs less than a trip through the thread pool.
        renameIfThere(prepared + INDEX, at(name + INDEX))
        renameSync(prepared, at(name))
        await sync.whenDurable()
      }
      await translating('keep a file in the spool', renamed())
      return name
    },
    remove: (name) => removeWithIndex(at(name)),
    names: () => translating('read the spool', readdir(directory)),
    sweep(keep) {
      const orphans = async () => {
        const names = await readdir(directory)
        const left = names.filter((name) => !keep.has(name) && !keep.has(copyOfIndex(name)))
        for (const name of left) await rm(at(name), { recursive: true, force: true })
        return left.length
      }
      return translating('sweep the spool', orphans())
    },
    freeBytes: () => translating('read the spool', freeBytesOf(directory)),
    async canClone(root, path) {
      await using source = await openRegular(root, path)
      if (source === null) return false
      const clone = prepare()
      const tried = async () => {
        await using target = await open(clone, 'wx', 0o600)
        return await tryClone(source.fd, target.fd)
      }
      try {
        return await translating('make a file in the spool', tried())
      } finally {
        await removeWithIndex(clone)
      }
    },
  }
}

const syncDescriptor = promisify(fsync)

/** Many small feeds are kept one after the other. With this rest between two syncs, most feeds share a sync. */
const SYNC_REST_MS = 10

/** SharedSync makes the names of a directory durable. One fsync serves all calls that were made before it began. */
class SharedSync {
  readonly #directory: string
  #last: Promise<void> = Promise.resolve()
  /** The rest after the beginning of the last sync. */
  #rest: Promise<void> = Promise.resolve()
  /** The sync that has not begun yet; null if none is planned. */
  #next: Promise<void> | null = null

  constructor(directory: string) {
    this.#directory = directory
  }

  /** whenDurable resolves when all current names of the directory are durable. Rejects with the system's error. */
  whenDurable(): Promise<void> {
    // A running fsync might miss the file we just renamed; wait for the next one.
    this.#next ??= Promise.all([this.#last, this.#rest]).then(() => {
      const synced = this.#sync()
      this.#last = synced.catch(() => {})
      return synced
    })
    return this.#next
  }

  async #sync(): Promise<void> {
    this.#next = null
    this.#rest = systemClock.sleep(SYNC_REST_MS)
    const descriptor = openSync(this.#directory, 'r')
    try {
      await syncDescriptor(descriptor)
    } finally {
      closeSync(descriptor)
    }
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
}

/** copyOfIndex returns the name of the copy to which an index belongs. Other names stay unchanged. */
function copyOfIndex(name: string): string {
  return name.endsWith(INDEX) ? name.slice(0, -INDEX.length) : name
}

async function freeBytesOf(directory: string): Promise<number> {
  const { bavail, blocks, bsize } = await statfs(directory)
  // Some file systems, such as those in user space, do not report their size.
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize
}

/** openRegular opens a file for reading; null if the file cannot be opened or is not a regular file. */
async function openRegular(root: string, path: string): Promise<FileHandle | null> {
  try {
    using folder = await OpenDirectory.at(root, dirname(path))
    const file = await open(folder.entry(basename(path)), READ_FLAGS)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch {}
  return null
}

function translated(what: string, directory: string, error: unknown): FeedsyncError {
  const subject = { name: directory, setting: 'state.directory', hints: { ENOENT: GONE } }
  const { code, hint, reason } = errnoText(error, { ...subject, use: 'write' })
  return new ConditionError(stateCondition(code), `${what}: ${reason}`, {
    hint,
    exitCode: code === null ? 1 : EXIT.temporary,
    cause: error,
  })
}
