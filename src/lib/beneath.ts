// Opens files below a folder in which others may write. Between two system calls, anybody can replace a directory of
// a path by a link. So this module opens each directory through the one above it, refuses links, and reaches the
// entries through the descriptor of the last directory. Node has no openat(2); `/proc/self/fd/N/name` does the same.

import { closeSync, constants, existsSync, openSync, open as openWithCallback } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import { errorCode } from './errors.ts'

const open = promisify(openWithCallback)

/** O_PATH of open(2) opens a directory that this user may enter but not read. Node has no constant for it. */
const O_PATH = 0o10000000
/** The configured folder itself can be a link. */
const ROOT_FLAGS = O_PATH | constants.O_DIRECTORY
const BELOW_FLAGS = ROOT_FLAGS | constants.O_NOFOLLOW

/** READ_FLAGS opens a file for reading: it follows no link, and does not wait for the writer of a fifo. */
export const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Without /proc every entry would look missing. */
const isProcThere = existsSync('/proc/self/fd')

/**
 * OpenDirectory is a directory that stays the same while it is open, even if its path then names another directory.
 * `root` is an absolute path; `path` is relative to it, with `/`, and empty for the root itself. Throws the system's
 * error: `ENOTDIR` if a part of `path` is a link or not a directory, `ENOENT` if a part is missing.
 */
export class OpenDirectory implements Disposable {
  readonly #fd: number

  private constructor(fd: number) {
    this.#fd = fd
    if (isProcThere) return
    closeSync(fd)
    throw new Error('/proc is not mounted, and feedsyncd opens files through it: mount it')
  }

  /** atSync opens the directory and blocks its thread: only the reading and listing threads, and commands, may wait. */
  static atSync(root: string, path: string): OpenDirectory {
    const parts = partsOf(path)
    let directory = new OpenDirectory(openSync(root, ROOT_FLAGS))
    for (const part of parts) {
      using above = directory
      directory = new OpenDirectory(openSync(above.entry(part), BELOW_FLAGS))
    }
    return directory
  }

  /** atCreated opens the directory and creates each missing part, the root included. */
  static atCreated(root: string, path: string): Promise<OpenDirectory> {
    return OpenDirectory.#opened(root, path, { creates: true })
  }

  /** at opens the directory without blocking the event loop: a network file system can answer late. */
  static at(root: string, path: string): Promise<OpenDirectory> {
    return OpenDirectory.#opened(root, path, { creates: false })
  }

  static async #opened(
    root: string,
    path: string,
    { creates }: { creates: boolean },
  ): Promise<OpenDirectory> {
    const parts = partsOf(path)
    if (creates) await mkdir(root, { recursive: true })
    let directory = new OpenDirectory(await open(root, ROOT_FLAGS))
    for (const part of parts) {
      using above = directory
      if (creates)
        await mkdir(above.entry(part)).catch((error) => {
          if (errorCode(error) !== 'EEXIST') throw error
        })
      directory = new OpenDirectory(await open(above.entry(part), BELOW_FLAGS))
    }
    return directory
  }

  get path(): string {
    return `/proc/self/fd/${this.#fd}`
  }

  /** entry returns a path of one entry, for use while the directory is open. The caller must refuse a link. */
  entry(name: string): string {
    return `${this.path}/${name}`
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd)
  }
}

/** partsOf splits a path into its names. Throws `ELOOP` for `..`, which no path of ours contains. */
function partsOf(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (!parts.includes('..')) return parts
  throw Object.assign(new Error(`ELOOP: ${path} leaves its folder`), { code: 'ELOOP' })
}
