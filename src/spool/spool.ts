// Owns the private copies: written once under a name of their own, then kept under the version's
// name, durably. A copy is never changed, so what was checked is what is sent.

import { randomUUID } from 'node:crypto'
import { chmodSync, closeSync, fsync, mkdirSync, openSync, renameSync } from 'node:fs'
import { readdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { stateCondition } from '../lib/conditions.ts'
import { errnoText } from '../lib/errno.ts'
import { EXIT, errorCode, FeedsyncError } from '../lib/errors.ts'

const INDEX = '.index'

const GONE = 'put it back; or restart feedsyncd, which makes an empty one'

/** Private copies of what was taken. */
export type Spool = ReturnType<typeof createSpool>

/**
 * Opens the spool, and creates it where it is missing, for our user only. Throws `FeedsyncError` where the directory
 * cannot be made or written; every method rejects with one that names the system's code.
 */
export function createSpool(directory: string) {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    chmodSync(directory, 0o700)
  } catch (error) {
    throw translated('open the spool', directory, error)
  }

  const at = (name: string) => join(directory, name)
  const attempt = <T>(what: string, work: Promise<T>): Promise<T> =>
    work.catch((error) => {
      throw translated(what, directory, error)
    })

  const namesAreDurable = sharedSync(directory)
  const removed = async (path: string) => {
    const files = [path, path + INDEX].map((file) => rm(file, { force: true }))
    await attempt('remove a file of the spool', Promise.all(files))
  }

  return {
    /** Absolute path of a new file, not created yet: its writer creates it exclusively and fsyncs it. */
    prepare: () => at(`${randomUUID()}.part`),
    /** Absolute path of a kept copy. */
    path: at,
    /** Absolute path of the posting index that belongs to a prepared or kept file; it lives as long as this. */
    indexOf: (path: string) => path + INDEX,
    /** Removes a prepared file and its index, whether they were written or not. */
    discard: removed,
    /** Gives a prepared file and its index their lasting name, durably, and answers the name. */
    async keep(prepared: string, id: number): Promise<string> {
      const name = `${id}.xml`
      const renamed = async () => {
        // The index first: after a crash a file that has its name is complete. Directly, since a local rename
        // costs less than its way through the thread pool.
        renameIfThere(prepared + INDEX, at(name + INDEX))
        renameSync(prepared, at(name))
        await namesAreDurable()
      }
      await attempt('keep a file in the spool', renamed())
      return name
    },
    /** Removes a kept copy, with its index; not an error where it is not there. */
    remove: (name: string) => removed(at(name)),
    /** Names of all its files. */
    names: () => attempt('read the spool', readdir(directory)),
    /** Removes what no name in `keep` accounts for, prepared files included: at start, before anything is prepared. Answers how many files. */
    sweep(keep: ReadonlySet<string>): Promise<number> {
      const orphans = async () => {
        const names = await readdir(directory)
        const left = names.filter((name) => !keep.has(name) && !keep.has(indexed(name)))
        for (const name of left) await rm(at(name), { recursive: true, force: true })
        return left.length
      }
      return attempt('sweep the spool', orphans())
    },
    /** Bytes that its file system has left for us; infinite where it does not tell. */
    freeBytes: () => attempt('read the spool', freeBytesOf(directory)),
  }
}

const syncDescriptor = promisify(fsync)

/** Resolves when every name that the directory has by now is durable: one fsync for all that were given before it began. */
function sharedSync(directory: string): () => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  let next: Promise<void> | null = null
  const sync = async () => {
    next = null
    const descriptor = openSync(directory, 'r')
    try {
      await syncDescriptor(descriptor)
    } finally {
      closeSync(descriptor)
    }
  }
  return () => {
    // One that runs may have begun before our name was given.
    next ??= last.then(() => {
      const synced = sync()
      last = synced.catch(() => {})
      return synced
    })
    return next
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
}

/** The version's name of an index; anything else stays as it is. */
function indexed(name: string): string {
  return name.endsWith(INDEX) ? name.slice(0, -INDEX.length) : name
}

async function freeBytesOf(directory: string): Promise<number> {
  const { bavail, blocks, bsize } = await statfs(directory)
  // Some file systems, such as those in user space, do not say how large they are.
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize
}

function translated(what: string, directory: string, error: unknown): FeedsyncError {
  const subject = { name: directory, setting: 'state.directory', hints: { ENOENT: GONE } }
  const { code, hint, reason } = errnoText(error, { ...subject, use: 'write' })
  return new FeedsyncError(`${what}: ${reason}`, {
    hint,
    exitCode: code === null ? 1 : EXIT.temporary,
    condition: stateCondition(code),
    cause: error,
  })
}
