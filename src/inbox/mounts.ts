// Mounts remembers the file systems that are mounted below the folder, and recognises a missing one. A missing mount
// leaves an empty directory or none. This proves nothing about its files, so they are unknown, not gone.

import type { BigIntStats } from 'node:fs'
import { errnoText } from '../lib/errno.ts'
import { errorCode } from '../lib/errors.ts'
import type { FolderState } from './port.ts'

export const UNMOUNTED = {
  reason: 'its own file system is not mounted now',
  hint: 'mount it again; if it was removed on purpose, restart feedsyncd',
} as const

export class Mounts {
  /** The device of each mount point (`acme/`) that was ever listed. */
  readonly #known = new Map<string, bigint>()
  /** The device of each directory in the running listing. */
  #seen = new Map<string, bigint>()
  /** The former mount points that have files of another file system in the running listing. */
  #replaced: string[] = []

  begin(): void {
    this.#seen = new Map()
    this.#replaced = []
  }

  /** replaced returns the mount points (`acme/`) at which this listing found files of another file system. */
  replaced(): readonly string[] {
    return this.#replaced
  }

  /** admit records a directory that was read. False: another file system should be mounted there. */
  admit(prefix: string, { dev }: BigIntStats, isEmpty: boolean): boolean {
    const before = this.#known.get(prefix)
    this.#seen.set(prefix, dev)
    if (before !== undefined && before !== dev && isEmpty) return false
    if (before !== undefined && before !== dev) this.#replaced.push(prefix)
    const above = this.#seen.get(parentOf(prefix))
    if (prefix !== '' && above !== undefined && above !== dev) this.#known.set(prefix, dev)
    else this.#known.delete(prefix)
    return true
  }

  /** missing returns the mount points that are gone although the directory above was read. */
  missing(): string[] {
    return [...this.#known.keys()].filter(
      (prefix) => !this.#seen.has(prefix) && this.#seen.has(parentOf(prefix)),
    )
  }
}

/** parentOf returns `a/` for `a/b/`, and the empty prefix of the folder for `a/`. */
function parentOf(prefix: string): string {
  return prefix.slice(0, prefix.lastIndexOf('/', prefix.length - 2) + 1)
}

type Unavailable = Extract<FolderState, { kind: 'unavailable' }>

/** EMPTIED is the code for an empty folder on another device than before. */
const EMPTIED = 'EXDEV'

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
