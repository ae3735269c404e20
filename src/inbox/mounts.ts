// Owns what may be concluded from the folder itself and from file systems that are mounted below it: whether they are
// there, readable, and still the ones that we knew. What is absent, broken or suddenly empty proves nothing about its
// files: a mount that went away leaves the empty directory it was mounted on, or none.

import type { BigIntStats } from 'node:fs'
import { errnoText } from '../lib/errno.ts'
import { errorCode } from '../lib/errors.ts'
import type { FolderState } from './port.ts'

export const UNMOUNTED = {
  reason: 'it was another file system, which is not mounted now',
  hint: 'mount it again; if that is meant, restart feedsyncd',
} as const

export class Mounts {
  /** Device of each mount point (`acme/`) that was ever listed. */
  readonly #known = new Map<string, bigint>()
  /** Devices of the directories of the listing that runs. */
  #seen = new Map<string, bigint>()

  begin(): void {
    this.#seen = new Map()
  }

  /** A directory was read. False: it is only the place where another file system should be. */
  admit(prefix: string, { dev }: BigIntStats, isEmpty: boolean): boolean {
    const before = this.#known.get(prefix)
    this.#seen.set(prefix, dev)
    if (before !== undefined && before !== dev && isEmpty) return false
    const above = this.#seen.get(parentOf(prefix))
    if (prefix !== '' && above !== undefined && above !== dev) this.#known.set(prefix, dev)
    else this.#known.delete(prefix)
    return true
  }

  /** Mount points that are not even directories any more, in a directory that was read. */
  missing(): string[] {
    return [...this.#known.keys()].filter(
      (prefix) => !this.#seen.has(prefix) && this.#seen.has(parentOf(prefix)),
    )
  }
}

/** Of `a/b/` it is `a/`, of `a/` the folder itself. */
function parentOf(prefix: string): string {
  return prefix.slice(0, prefix.lastIndexOf('/', prefix.length - 2) + 1)
}

type Unavailable = Extract<FolderState, { kind: 'unavailable' }>

/** A device that is another one than before, and an empty folder on it. */
const EMPTIED = 'EXDEV'

export function unavailable(directory: string, error: unknown): Unavailable {
  const name = `the folder ${directory}`
  if (errorCode(error) === EMPTIED) {
    const reason = `${name} is empty and on another file system than before (${EMPTIED})`
    const hint =
      'mount its file system again; if the change is meant, drop a file into it or restart'
    return { kind: 'unavailable', code: EMPTIED, reason, hint }
  }
  const found = errnoText(error, { name, setting: 'inbox.directory', use: 'read' })
  return { kind: 'unavailable', ...found, code: found.code ?? 'UNKNOWN' }
}
