// What the listing thread and its caller say to each other.

import type { FoundPaths } from './listing.ts'
import type { Unavailable } from './mounts.ts'
import type { Sighting, Skipped } from './port.ts'

/** FolderPatterns is a folder, and which of its names might be feeds. */
export interface FolderPatterns {
  /** Absolute path. */
  directory: string
  include: readonly string[]
  exclude: readonly string[]
}

export interface ListingThreadData extends FolderPatterns {
  version: string
  /** The memory of the thread's `CallMark`. */
  mark: SharedArrayBuffer
}

export type ListingQuestion =
  | { kind: 'list'; mounts: ReadonlyMap<string, bigint> }
  | { kind: 'look'; paths: readonly string[] }

/** `hung` are the directories (`acme/`) and files about which the file system did not answer before. */
export type ListingRequest = ListingQuestion & { hung: readonly string[] }

/** DirectoryStats are the stats that tell a directory from another one at its path. */
export interface DirectoryStats {
  dev: bigint
  ino: bigint
  birthtimeNs: bigint
}

interface Listed extends Omit<FoundPaths, 'files'> {
  /** The stats of the folder. */
  stats: DirectoryStats
  /** Whether this is the first listing of the thread, so that `changed` has all files. */
  isWhole: boolean
  /** The files that are new or have changed since this thread's last listing. */
  changed: Sighting[]
  /** The paths of the files that have gone since this thread's last listing. */
  gone: string[]
  /** The device of each known mount point (`acme/`), for the next listing. */
  mounts: ReadonlyMap<string, bigint>
  /** The mount points at which this listing found files of another file system. */
  replaced: readonly string[]
}

export type ListAnswer = Unavailable | ({ kind: 'ready' } & Listed)

/** Looked is what a look found at each path; null if the path is gone. */
export type Looked = ReadonlyMap<string, Sighting | Skipped | null>

/** ROOT is the mark of a call about the folder itself. */
export const ROOT = '.'
