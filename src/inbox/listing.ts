// Walks through the folder once and lists the regular files. It never follows a link and never leaves the folder. The
// files of an unreadable directory are unknown, not gone. All calls block (see directory-entries.ts).

import { type BigIntStats, statSync } from 'node:fs'
import { OpenDirectory } from '../lib/beneath.ts'
import { errnoText, isMissing } from '../lib/errno.ts'
import { errorCode } from '../lib/errors.ts'
import { identityOf, isSameDirectory, specialKind } from '../lib/files.ts'
import { nonUtf8Path } from '../lib/non-utf8-names.ts'
import {
  type Asks,
  type DirectoryEntry,
  type LstatResult,
  lookAt,
  readDirectory,
} from './directory-entries.ts'
import { type Mounts, UNMOUNTED } from './mounts.ts'
import type { NameFilter } from './name-filter.ts'
import type { Listing, Sighting, Skipped } from './port.ts'

export type FoundPaths = Omit<Listing, 'folder'>

/** FolderCalls are the system calls about a folder. */
interface FolderCalls {
  /** Absolute path. */
  directory: string
  asks: Asks
  /**
   * isHung returns whether the file system did not answer about this directory (`acme/`) or file before. Then it is not
   * asked.
   */
  isHung: (path: string) => boolean
}

interface WalkOptions extends FolderCalls {
  filter: NameFilter
  mounts: Mounts
}

/** MOST_DEPTH limits nested directories: a look at a directory opens all directories above it. */
export const MOST_DEPTH = 32

type Explanation = Omit<Skipped, 'path'>

const TOO_DEEP: Explanation = {
  reason: `it lies more than ${MOST_DEPTH} directories deep`,
  hint: 'move it to a directory further up',
}
const NOT_UTF8: Explanation = {
  reason: 'it has a name that is not valid UTF-8',
  hint: 'rename it; its odd bytes are shown as %XX',
}
const LINK: Explanation = {
  reason: 'it is a symbolic link, which is not followed',
  hint: 'put the file or directory itself in its place',
}
const HANGS: Explanation = {
  reason: 'its file system does not answer',
  hint: 'check its disk or network mount; feedsyncd looks again once it answers',
}
const DIRECTORY: Explanation = { reason: 'it is a directory', hint: 'name a file in it' }

export const nothingFound = (): FoundPaths => ({
  files: [],
  skipped: [],
  unknown: [],
  temporary: [],
  ignored: [],
})

/** DirectoryContent is what one directory contains. `below` has the prefixes (`acme/`) of its directories. */
type DirectoryContent = FoundPaths & { below: string[] }

const emptyContent = (): DirectoryContent => ({ ...nothingFound(), below: [] })

const KINDS = Object.keys(nothingFound()) as (keyof FoundPaths)[]

/** walk lists everything below the folder. Throws the system's error if the folder itself cannot be read. */
export function walk(options: WalkOptions): FoundPaths {
  const found = nothingFound()
  const pending = ['']
  for (let prefix = pending.pop(); prefix !== undefined; prefix = pending.pop()) {
    const here = options.isHung(prefix)
      ? skipUnknown(emptyContent(), prefix, HANGS)
      : readContent(prefix, options)
    pending.push(...here.below)
    for (const kind of KINDS) for (const one of here[kind]) (found[kind] as unknown[]).push(one)
  }
  const unlisted = new Set(found.unknown)
  for (const path of options.mounts.missing()) {
    if (!unlisted.has(path)) skipUnknown(found, path, UNMOUNTED)
  }
  return found
}

/**
 * readContent lists one directory. A directory that was replaced meanwhile, cannot be read or is not mounted has no
 * entries and is reported as unknown or skipped. Throws only for the folder itself.
 */
function readContent(prefix: string, options: WalkOptions): DirectoryContent {
  let here = emptyContent()
  if (prefix.split('/').length > MOST_DEPTH + 1) {
    here.skipped.push({ path: prefix, ...TOO_DEEP })
    return here
  }
  const before = directoryAt(prefix, options)
  if (before === null) return here
  if (before instanceof Error) return notListed(prefix, before)
  try {
    for (const entries of readDirectory({ ...options, prefix })) {
      // The reading starts again, so the entries so far do not count.
      if (entries === null) here = emptyContent()
      else addEntries(entries, here, { ...options, prefix })
    }
  } catch (error) {
    if (prefix === '') throw error
    return notListed(prefix, error)
  }
  const after = directoryAt(prefix, options)
  // If the directory was replaced meanwhile, the entries might belong to another one. The next scan lists the new one.
  const isSame = after !== null && !(after instanceof Error) && isSameDirectory(before, after)
  if (!isSame) return { ...emptyContent(), unknown: [prefix] }
  const isEmpty = here.below.length + here.files.length + here.skipped.length === 0
  return options.mounts.admit(prefix, { dev: before.dev, isEmpty })
    ? here
    : skipUnknown(emptyContent(), prefix, UNMOUNTED)
}

/**
 * directoryAt stats a directory and follows no link below the folder. Returns null if the directory is gone. Throws
 * only for the folder itself.
 */
function directoryAt(prefix: string, { asks, directory }: WalkOptions): LstatResult {
  asks(prefix)
  if (prefix === '') return statSync(directory, { bigint: true })
  try {
    using opened = OpenDirectory.atSync(directory, prefix)
    return statSync(opened.entry('.'), { bigint: true })
  } catch (error) {
    return isMissing(errorCode(error)) ? null : (error as Error)
  }
}

/** addEntries adds entries to `here`. Throws `EACCES` if the directory can be read but not entered. */
function addEntries(
  entries: readonly DirectoryEntry[],
  here: DirectoryContent,
  options: WalkOptions & { prefix: string },
): void {
  const byKind = Map.groupBy(entries, (entry) => addByName(entry, here, options.filter))
  addTemporary(byKind.get('temporary') ?? [], here, options)
  addFiles(byKind.get('file') ?? [], here, options)
}

/** addTemporary adds the files with temporary names that still exist. */
function addTemporary(
  entries: readonly DirectoryEntry[],
  here: DirectoryContent,
  { asks, isHung }: FolderCalls,
): void {
  for (const { at, path } of entries) {
    if (isHung(path)) continue
    asks(path)
    const look = lookAt(at)
    if (look !== null && !(look instanceof Error))
      here.temporary.push({ path, mtimeMs: Number(look.mtimeMs) })
  }
}

/** addFiles adds each entry as a file, or as skipped. Throws `EACCES` if the directory cannot be entered. */
function addFiles(
  entries: readonly DirectoryEntry[],
  here: DirectoryContent,
  { asks, directory, isHung, prefix }: FolderCalls & { prefix: string },
): void {
  let denied: Error | null = null
  for (const { at, kind, path } of entries) {
    if (isHung(path)) {
      skipUnknown(here, path, HANGS)
      continue
    }
    asks(path)
    const look = lookAt(at)
    const seen = judge(path, look)
    if (errorCode(look) === 'EACCES') denied = look as Error
    if (look instanceof Error || kind === null) {
      // The entry might be a directory: the files below it are unknown, not gone.
      if (kind === null) here.unknown.push(`${path}/`)
      if (seen !== null && 'reason' in seen) skipUnknown(here, path, seen)
      else here.unknown.push(path)
    } else if (seen === null) continue
    else if ('reason' in seen) here.skipped.push(seen)
    else here.files.push(seen)
  }
  if (denied !== null && errorCode(lookAt(`${directory}/${prefix}.`)) === 'EACCES') throw denied
}

/**
 * lookAtPaths looks at single paths. The result is null if the path is gone, and a reason to skip it if a directory
 * above it has become a link.
 */
export function lookAtPaths(
  paths: readonly string[],
  { asks, directory, isHung }: FolderCalls,
): Map<string, Sighting | Skipped | null> {
  const isHanging = (path: string) => isHung(path) || isHung(`${path}/`)
  /**
   * whyNotDirectory returns why no file can be below a path: the reason to skip the path, or null if nothing or only a
   * file is there. It returns undefined if a directory is there.
   */
  const whyNotDirectory = (path: string): Skipped | null | undefined => {
    const prefix = `${path}/`
    if (isHanging(path)) return { path: prefix, ...HANGS }
    asks(prefix)
    const look = lookAt(`${directory}/${path}`)
    if (look !== null && !(look instanceof Error) && look.isDirectory()) return undefined
    const seen = judge(path, look)
    return seen !== null && 'reason' in seen ? seen : null
  }
  const above = new Map<string, Skipped | null | undefined>()
  const look = (path: string): Sighting | Skipped | null => {
    for (const directoryAbove of ancestors(path)) {
      if (!above.has(directoryAbove)) above.set(directoryAbove, whyNotDirectory(directoryAbove))
      const whyNot = above.get(directoryAbove)
      if (whyNot !== undefined) return whyNot
    }
    if (isHanging(path)) return { path, ...HANGS }
    asks(path)
    return judge(path, lookAt(`${directory}/${path}`))
  }
  return new Map(paths.map((path) => [path, look(path)]))
}

/** ancestors returns the directories above a path, from the top: `a` and `a/b` for `a/b/c.xml`. */
function ancestors(path: string): string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/**
 * addByName adds an entry to `here`, or leaves it out, and returns null. If the name and kind of the entry do not
 * suffice for that, it returns what the entry seems to be.
 */
function addByName(
  { at, kind, path }: DirectoryEntry,
  here: DirectoryContent,
  filter: NameFilter,
): 'file' | 'temporary' | null {
  const isNotUtf8 = typeof at !== 'string'
  if (kind === 'directory') {
    if (filter.prunes(path)) return null
    if (isNotUtf8) here.skipped.push({ path: `${nonUtf8Path(path)}/`, ...NOT_UTF8 })
    else here.below.push(`${path}/`)
    return null
  }
  const rule = filter.ignored(path)?.rule ?? null
  if (rule === 'temporary-name') return 'temporary'
  if (rule !== null && rule !== 'not-included') return null
  if (isNotUtf8 && rule === null) here.skipped.push({ path: nonUtf8Path(path), ...NOT_UTF8 })
  else if (kind === 'link')
    here.skipped.push({ path: isNotUtf8 ? nonUtf8Path(path) : path, ...LINK })
  else if (kind === 'other' && rule === 'not-included') here.ignored.push(path)
  else return 'file'
  return null
}

/** judge returns the regular file at a path, or why the path is skipped; null if nothing is there. */
function judge(path: string, look: LstatResult): Sighting | Skipped | null {
  if (look === null) return null
  if (look instanceof Error) return { path, ...explain(look) }
  if (look.isFile()) return { path, identity: identityOf(look) }
  if (look.isDirectory()) return { path: `${path}/`, ...DIRECTORY }
  return { path, ...(look.isSymbolicLink() ? LINK : special(look)) }
}

function special(stats: BigIntStats): Explanation {
  const reason = `it is not a regular file (${specialKind(stats)})`
  return { reason, hint: 'put a regular file in its place' }
}

function explain(error: unknown): Explanation {
  const { hint, reason } = errnoText(error, { name: 'it', setting: 'the path', use: 'read' })
  return { reason, hint }
}

/** notListed marks everything below a directory as unknown, unless the directory is gone. */
function notListed(path: string, error: unknown): DirectoryContent {
  const here = emptyContent()
  return isMissing(errorCode(error)) ? here : skipUnknown(here, path, explain(error))
}

/** skipUnknown adds a path to `skipped`, marks the path and everything below it as unknown, and returns `found`. */
function skipUnknown<F extends FoundPaths>(
  found: F,
  path: string,
  { hint, reason }: Explanation,
): F {
  found.skipped.push({ path, reason, hint })
  found.unknown.push(path)
  return found
}
