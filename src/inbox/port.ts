// What the rest of the program knows of the watched folder.

import type { FileIdentity } from '../feed/port.ts'

/** A regular file that a feed may be read from. `path` is relative to the folder, with `/`. */
export interface Sighting {
  path: string
  identity: FileIdentity
}

/** A path that will never be read as it is, with the reason for it: shown, and looked at again when its stat changes. */
export interface Refusal {
  path: string
  identity: FileIdentity
  /** Plain sentence: `is a symbolic link that leaves the folder`, `is not a regular file (fifo)`. */
  reason: string
}

/** Why a path is passed over without a word in the history. */
export type Ignored =
  | { rule: 'temporary-name'; pattern: string }
  | { rule: 'excluded'; pattern: string }
  | { rule: 'not-included' }

export type FolderState =
  | { kind: 'ready' }
  /** `code` is the system's (`ENOENT`, `EACCES`, `ENOTDIR`); `hint` says what to do. */
  | { kind: 'unavailable'; code: string; reason: string; hint: string }

export interface Listing {
  folder: FolderState
  files: Sighting[]
  refused: Refusal[]
  /** Temporary names, with their mtime in ms: old ones are mentioned in `status`. */
  temporary: { path: string; mtimeMs: number }[]
}

export interface Inbox extends AsyncDisposable {
  /** Lists the whole folder. Never throws: an unreadable folder is a state, and its files are unknown, not gone. */
  list(): Promise<Listing>
  /** Looks at single paths again, for what is settling: null where the path is not there any more. */
  look(paths: readonly string[]): Promise<Map<string, Sighting | Refusal | null>>
  /** Why a path is not a feed, or null when it would be taken. */
  ignored(path: string): Ignored | null
  /** Absolute path of a relative one. */
  absolute(path: string): string
  /**
   * Starts to report hints: something may have changed. Correctness never depends on them.
   * Falls back to none (mode `poll`) where events do not work, with the reason.
   */
  watch(hint: () => void): Promise<WatchMode>
}

export type WatchMode = { mode: 'events' } | { mode: 'poll'; reason: string }
