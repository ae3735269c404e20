// The types that other rooms use for the watched folder and for the end of a dropped file.

import type { FileIdentity } from '../lib/files.ts'

/** Sighting is a regular file that might be a feed. `path` is relative to the folder, with `/`. */
export interface Sighting {
  path: string
  identity: FileIdentity
}

/** Skipped is a path that cannot be read, is not a regular file, or leads out of the folder. */
export interface Skipped {
  /** A directory ends with a slash: `acme/`. */
  path: string
  /** A plain sentence: `it is a symbolic link, which is not followed`. */
  reason: string
  /** A plain sentence that says what a person can do. */
  hint: string
}

/** SkippedPath adds when the daemon first skipped the path. */
export interface SkippedPath extends Skipped {
  /** Wall ms. */
  since: number
}

/** Ignored is the rule that ignores a path; the history does not mention ignored paths. */
export type Ignored =
  | { rule: 'temporary-name'; pattern: string }
  | { rule: 'excluded'; pattern: string }
  /** No pattern of `inbox.include` matches. */
  | { rule: 'not-included'; patterns: readonly string[] }
  /** Our own `<name>.receipt.json`. */
  | { rule: 'receipt' }

export type FolderState =
  | { kind: 'ready' }
  /** `code` is the system's error code (`ENOENT`, `EACCES`, `ENOTDIR`); `hint` says what to do. */
  | { kind: 'unavailable'; code: string; reason: string; hint: string }

export interface Listing {
  folder: FolderState
  files: Sighting[]
  skipped: Skipped[]
  /**
   * Paths and prefixes (`acme/`) that could not be listed this time. A path that begins with one is unknown, not gone.
   * The empty prefix stands for everything.
   */
  unknown: string[]
  /** Files with temporary names, and their mtime in wall ms; `status` mentions old ones. */
  temporary: { path: string; mtimeMs: number }[]
  /** Files that match no pattern of `inbox.include`. */
  ignored: string[]
}

export type WatchMode = { mode: 'events' } | { mode: 'poll'; reason: string }

/** Disposed says what happened to a file of the folder. */
export type Disposed =
  /** `to` is the new absolute path of the file; null if the file was deleted. */
  | { kind: 'done'; to: string | null }
  /** The path now has other bytes, so the file stays. */
  | ({ kind: 'changed' } & NotDone)
  | ({ kind: 'missing' } & NotDone)
  | DisposalProblem

/** DisposalProblem says why the file did not leave the folder. The file is where it was, unless `isPartial` is set. */
export interface DisposalProblem extends NotDone {
  kind: 'problem'
  /** The system's error code. */
  code: string
  reason: string
  hint: string
  /** Whether the file still has the temporary name that it got for the move. */
  isPartial?: boolean
  /** Whether another try with this file would end in the same way. */
  isFinal?: boolean
}

interface NotDone {
  /** The identity of a file that is at its path again: our own moves gave it a new ctime. */
  returned?: FileIdentity
}

/** Receipt is the content of `<name>.receipt.json`, for people who only see the folder. Times are ISO 8601 UTC. */
export interface Receipt {
  schemaVersion: 1
  /** Relative to the folder, with `/`. */
  file: string
  state: string
  reason: string | null
  /** A stable code: of the check, a guard, the system, the service or storage, or our own. */
  reasonCode: string | null
  line: number | null
  column: number | null
  sha256: string | null
  postings: number | null
  fileUrl: string | null
  at: string
}
