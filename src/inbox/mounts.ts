// Mounts remembers the file systems that are mounted below the folder, and recognises a missing one. A missing mount
// leaves an empty directory or none. This proves nothing about its files, so they are unknown, not gone.

import { errnoText } from '../lib/errno.ts'
import { errorCode } from '../lib/errors.ts'
import type { FolderState } from './port.ts'

export const UNMOUNTED = {
  reason: 'its own file system is not mounted now',
  hint: 'mount it again; if it was removed on purpose, restart feedsyncd',
} as const

/** Mounts is for one listing. */
export class Mounts {
  /** The device of each mount point (`acme/`) that was ever listed; the next listing needs it. */
  readonly known: Map<string, bigint>
  /** The mount points at which this listing found files of another file system. */
  readonly replaced: string[] = []
  /** The device of each directory. */
  readonly #seen = new Map<string, bigint>()

  /** `known` has the mount points of the previous listing. */
  constructor(known: ReadonlyMap<string, bigint> = new Map()) {
    this.known = new Map(known)
  }

  /** admit records a directory that was read, and returns false if its own file system is missing. */
  admit(prefix: string, { dev, isEmpty }: { dev: bigint; isEmpty: boolean }): boolean {
    const before = this.known.get(prefix)
    this.#seen.set(prefix, dev)
    if (before !== undefined && before !== dev && isEmpty) return false
    if (before !== undefined && before !== dev) this.replaced.push(prefix)
    const above = this.#seen.get(parentOf(prefix))
    if (prefix !== '' && above !== undefined && above !== dev) this.known.set(prefix, dev)
    else this.known.delete(prefix)
    return true
  }

  /** missing returns the mount points that are gone although the directory above was read. */
  missing(): string[] {
    return [...this.known.keys()].filter(
      (prefix) => !this.#seen.has(prefix) && this.#seen.has(parentOf(prefix)),
    )
  }
}

/** parentOf returns `a/` for `a/b/`, and the empty prefix of the folder for `a/`. */
function parentOf(prefix: string): string {
  return prefix.slice(0, prefix.lastIndexOf('/', prefix.length - 2) + 1)
}

export type Unavailable = Extract<FolderState, { kind: 'unavailable' }>

/** EMPTIED is the code for an empty folder on another device than before. */
const EMPTIED = 'EXDEV'

/** unavailable says why the folder cannot be listed, and what a person can do. */
export function unavailable(directory: string, error: unknown): Unavailable {
  const name = `the folder ${directory}`
  if (errorCode(error) === EMPTIED) {
    const reason = `${name} is empty and on another file system than before (${EMPTIED})`
    const hint =
      'mount its file system again; if the change is intended, drop a file into the folder or restart'
    return { kind: 'unavailable', code: EMPTIED, reason, hint }
  }
  const found = errnoText(error, { name, setting: 'inbox.directory', use: 'read' })
  return { kind: 'unavailable', ...found, code: found.code ?? 'UNKNOWN' }
}
