// Owns what may be concluded from the folder itself and from file systems that are mounted below it: whether they are
// there, readable, and still the ones that we knew. What is absent, broken or suddenly empty proves nothing about its
// files: a mount that went away leaves the empty directory it was mounted on, or none.

import type { BigIntStats } from 'node:fs'
import { errorCode, messageOf } from '../lib/errors.ts'
import type { FolderState } from './port.ts'

export const UNMOUNTED = {
  code: 'unreadable',
  reason: 'was another file system, which is not mounted now',
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

const ADVICE: Record<string, [reason: string, hint: string]> = {
  ENOENT: ['does not exist', 'create it, mount it, or correct inbox.directory'],
  ENOTDIR: ['is not a directory', 'put a directory in its place, or correct inbox.directory'],
  EACCES: ['cannot be read', 'let the daemon’s user read and enter it (also the folders above it)'],
  EPERM: ['cannot be read', 'let the daemon’s user read and enter it (also the folders above it)'],
  EMFILE: [
    'cannot be read',
    'raise the number of files that may be open (LimitNOFILE= of the unit)',
  ],
  ELOOP: ['leads in a circle of links', 'correct the links, or inbox.directory'],
  ESTALE: ['is a stale network mount', 'mount it again'],
  ENOTCONN: ['is a mount without its server', 'mount it again'],
  EXDEV: [
    'is empty and on another file system than before',
    'mount its file system again; if the change is meant, drop a file into it or restart',
  ],
}

export function unavailable(directory: string, error: unknown): Unavailable {
  const code = errorCode(error)
  const [reason, hint] = ADVICE[code ?? ''] ?? [
    'cannot be read',
    'look into the system’s log for its disk',
  ]
  return {
    kind: 'unavailable',
    code: code ?? 'UNKNOWN',
    reason: `the folder ${directory} ${reason} (${code ?? messageOf(error)})`,
    hint,
  }
}
