// What the rest of the program knows of the watched folder, and of what happens to a dropped file in the end.

import type { FileIdentity } from '../lib/files.ts'

/** A regular file that a feed may be read from. `path` is relative to the folder, with `/`. */
export interface Sighting {
  path: string
  identity: FileIdentity
}

/** A path that is passed over for a reason: it cannot be read, is no regular file, or leads out of the folder. */
export interface Skipped {
  /** Of a directory with a slash at the end: `acme/`. */
  path: string
  /** A plain sentence: `it is a symbolic link, which is not followed`. */
  reason: string
  /** What a person can do, a plain sentence. */
  hint: string
}

/** The same of the daemon, which knows since when. */
export interface SkippedPath extends Skipped {
  /** Wall ms. */
  since: number
}

/** Why a path is passed over without a word in the history. */
export type Ignored =
  | { rule: 'temporary-name'; pattern: string }
  | { rule: 'excluded'; pattern: string }
  /** None of the patterns matches. */
  | { rule: 'not-included'; patterns: readonly string[] }
  /** Our own `<name>.receipt.json`. */
  | { rule: 'receipt' }

export type FolderState =
  | { kind: 'ready' }
  /** `code` is the system's (`ENOENT`, `EACCES`, `ENOTDIR`); `hint` says what to do. */
  | { kind: 'unavailable'; code: string; reason: string; hint: string }

export interface Listing {
  folder: FolderState
  files: Sighting[]
  skipped: Skipped[]
  /**
   * Paths, and prefixes (`acme/`) of what could not be listed this time: a path that begins with one is unknown, not
   * gone. The empty prefix stands for everything.
   */
  unknown: string[]
  /** Temporary names, with their mtime in ms: old ones are mentioned in `status`. */
  temporary: { path: string; mtimeMs: number }[]
  /** Files whose names no pattern of `inbox.include` matches. */
  ignored: string[]
}

export type WatchMode = { mode: 'events' } | { mode: 'poll'; reason: string }

export type Disposition = 'archive' | 'quarantine' | 'delete'

/** What became of a file in the folder. */
export type Disposed =
  /** `to`: absolute path of its new place; null: deleted. */
  | { kind: 'done'; to: string | null }
  /** Other bytes are at the path by now: left alone. */
  | ({ kind: 'changed' } & NotDone)
  | ({ kind: 'missing' } & NotDone)
  /** `code` is the system's; the file is where it was. `isPartial`: it is under its temporary name. */
  | ({ kind: 'problem'; code: string; reason: string; hint: string; isPartial?: boolean } & NotDone)

interface NotDone {
  /** The same bytes are at the path with another ctime, which our own moves there and back gave them. */
  returned?: FileIdentity
}

/**
 * A file that leaves the folder. Written into the history before the file is touched: what a crash leaves
 * half moved is known by it, and nothing else in the folder is taken for ours, whatever its name.
 */
export interface Departure extends Sighting {
  disposition: Disposition
  /** 12 random hexadecimal digits: part of the file's name meanwhile. */
  token: string
}

/** `<name>.receipt.json`, for people who only see the folder. Times are ISO 8601 UTC. */
export interface Receipt {
  schemaVersion: 1
  /** Relative to the folder, with `/`. */
  file: string
  state: string
  reason: string | null
  /** Stable: the code of the check, a guard, the system, the service or storage, or our own. */
  reasonCode: string | null
  line: number | null
  column: number | null
  sha256: string | null
  postings: number | null
  fileUrl: string | null
  at: string
}
