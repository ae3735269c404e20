// Owns the private copies: written once under a name of their own, then kept under the version's
// name, durably. Nothing in here is ever changed, so what was checked is what is sent
// (design promise 1).

import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync } from 'node:fs'
import { lstat, open, readdir, readFile, rename, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode, FeedsyncError, messageOf } from '../lib/errors.ts'
import type { Spool } from './port.ts'
import { decodeIndex, encodeIndex } from './posting-index-file.ts'

const INDEX = '.index'
const TEMPORARY = 75

const HINTS: Record<string, string> = {
  ENOSPC: 'make room on the disk of state.directory',
  EDQUOT: 'raise the disk quota of the daemon’s user',
  EROFS: 'mount the file system of state.directory writable',
  EACCES: 'let the daemon’s user read and write state.directory',
  EPERM: 'let the daemon’s user read and write state.directory',
  EIO: 'look into the system’s log for the disk of state.directory',
}

/**
 * Opens the spool, and creates it where it is missing, for our user only.
 * Throws `FeedsyncError` where the directory cannot be made or written.
 */
export function createSpool({ directory }: { directory: string }): Spool {
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

  return {
    prepare: () => at(`${randomUUID()}.part`),
    path: at,
    discard: (prepared) => attempt('remove a file of the spool', rm(prepared, { force: true })),
    keep(prepared, id) {
      const name = `${id}.xml`
      return attempt('keep a file in the spool', renameDurably(prepared, at(name), directory)).then(
        () => name,
      )
    },
    remove(name) {
      const files = [at(name), at(name + INDEX)]
      const removed = Promise.all(files.map((file) => rm(file, { force: true })))
      return attempt('remove a file of the spool', removed).then(() => undefined)
    },
    sweep(keep) {
      const orphans = async () => {
        const names = await readdir(directory)
        const left = names.filter((name) => !keep.has(name) && !keep.has(indexed(name)))
        for (const name of left) await rm(at(name), { recursive: true, force: true })
        return left.length
      }
      return attempt('sweep the spool', orphans())
    },
    saveIndex(name, index) {
      return attempt('write into the spool', writeFile(at(name + INDEX), encodeIndex(index)))
    },
    loadIndex(name) {
      const bytes = readFile(at(name + INDEX)).catch((error) => {
        if (errorCode(error) === 'ENOENT') return null
        throw error
      })
      return attempt('read the spool', bytes).then((found) => found && decodeIndex(found))
    },
    space: () => attempt('read the spool', spaceOf(directory)),
  }
}

/** The version's name of an index; anything else stays as it is. */
function indexed(name: string): string {
  return name.endsWith(INDEX) ? name.slice(0, -INDEX.length) : name
}

async function renameDurably(from: string, to: string, directory: string): Promise<void> {
  await rename(from, to)
  await using handle = await open(directory, 'r')
  await handle.sync()
}

async function spaceOf(directory: string): Promise<{ usedBytes: number; freeBytes: number }> {
  let usedBytes = 0
  for (const name of await readdir(directory)) {
    // A file may be removed while we count.
    usedBytes += await lstat(join(directory, name)).then(
      ({ size }) => size,
      () => 0,
    )
  }
  const { bavail, bsize } = await statfs(directory)
  return { usedBytes, freeBytes: bavail * bsize }
}

function translated(what: string, directory: string, error: unknown): FeedsyncError {
  const code = errorCode(error)
  return new FeedsyncError(`${what} ${directory}: ${code ?? messageOf(error)}`, {
    hint: HINTS[code ?? ''] ?? 'check that state.directory is a directory of the daemon’s user',
    exitCode: code === null ? 1 : TEMPORARY,
    cause: error,
  })
}
