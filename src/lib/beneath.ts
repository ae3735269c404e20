// Reaches what lies below a folder that others write in. A path there is only text: any directory of it
// may become a link between two looks. So each directory is opened through the one above it, links are
// refused, and entries are reached through the descriptor of the last one. Node has no openat(2);
// `/proc/self/fd/N/name` is the same.

import { closeSync, constants, existsSync, openSync, open as openWithCallback } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import { errorCode } from './errors.ts'

const open = promisify(openWithCallback)

/** open(2): stands for a directory, also where that may be entered and not read. Node has no name for it. */
const O_PATH = 0o10000000
/** The folder itself: whether a link leads to it is the choice of the configuration. */
const FOLDER = O_PATH | constants.O_DIRECTORY
const BELOW = FOLDER | constants.O_NOFOLLOW

/** Without it every entry would look missing. */
const isProcThere = existsSync('/proc/self/fd')

/**
 * A directory that stays the same one while it is open, whatever its path names by then.
 * `root`: absolute path. `path`: below it, with `/`; empty for the root itself. Throws the system's error:
 * `ENOTDIR` where a part of `path` is a link or no directory, `ENOENT` where it is missing.
 */
export class OpenDirectory implements Disposable {
  readonly #fd: number

  private constructor(fd: number) {
    this.#fd = fd
    if (isProcThere) return
    closeSync(fd)
    throw new Error('/proc is not mounted, and feedsyncd opens files through it: mount it')
  }

  /** In this thread: for the checking thread, which may wait. */
  static atSync(root: string, path: string): OpenDirectory {
    const parts = partsOf(path)
    let directory = new OpenDirectory(openSync(root, FOLDER))
    for (const part of parts) {
      using above = directory
      directory = new OpenDirectory(openSync(above.entry(part), BELOW))
    }
    return directory
  }

  /** The same, and creates what is missing, the root included. */
  static atCreated(root: string, path: string): Promise<OpenDirectory> {
    return OpenDirectory.at(root, path, true)
  }

  /** Beside the event loop, since a network may have to be waited for. */
  static async at(root: string, path: string, makes = false): Promise<OpenDirectory> {
    const parts = partsOf(path)
    if (makes) await mkdir(root, { recursive: true })
    let directory = new OpenDirectory(await open(root, FOLDER))
    for (const part of parts) {
      using above = directory
      if (makes)
        await mkdir(above.entry(part)).catch((error) => {
          if (errorCode(error) !== 'EEXIST') throw error
        })
      directory = new OpenDirectory(await open(above.entry(part), BELOW))
    }
    return directory
  }

  /** Path of the directory itself, for as long as it is open. */
  get path(): string {
    return `/proc/self/fd/${this.#fd}`
  }

  /** Path of an entry, for as long as this is open. A link at its end is the caller's to refuse. */
  entry(name: string): string {
    return `${this.path}/${name}`
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd)
  }
}

/** Throws `ELOOP` for a path that leads upwards: none of ours does. */
function partsOf(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (!parts.includes('..')) return parts
  throw Object.assign(new Error(`ELOOP: ${path} leaves its folder`), { code: 'ELOOP' })
}
