// Owns one walk through the folder, and what can be a feed at all: a regular file. Never follows a link, never leaves
// the folder, and never lets a directory that could not be read look like an empty one.

import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { OpenDirectory } from '../lib/beneath.ts'
import { errnoText, isMissing } from '../lib/errno.ts'
import { errorCode } from '../lib/errors.ts'
import { identityOf, isSameDirectory, sameIdentity } from '../lib/files.ts'
import { nonUtf8Path } from '../lib/non-utf8-names.ts'
import { type Entry, type Look, lookAtEach, readDirectory } from './directory-entries.ts'
import { type Mounts, UNMOUNTED } from './mounts.ts'
import type { NameFilter } from './name-filter.ts'
import type { Listing, Sighting, Skipped } from './port.ts'

export type Found = Omit<Listing, 'folder'>

export interface WalkOptions {
  /** Absolute path. */
  directory: string
  filter: NameFilter
  /** The folder's own file system: what is mounted below it may be a network's. */
  device: bigint
  /** On a network file system. */
  remote: boolean
  mounts: Mounts
  known: KnownFiles
}

/** What stat said of a path when it was last read. */
export type KnownFiles = (path: string) => Sighting | null

/** Directories in each other. Each look at one goes through all above it, and a tree costs as many looks as it has folders. */
export const MOST_DEPTH = 32

type Explanation = Omit<Skipped, 'path'>

const TOO_DEEP: Explanation = {
  reason: `it lies more than ${MOST_DEPTH} directories deep`,
  hint: 'move it further up',
}
const NOT_UTF8: Explanation = {
  reason: 'it has a name that is not valid UTF-8',
  hint: 'rename it; its odd bytes are shown as %XX',
}
const LINK: Explanation = {
  reason: 'it is a symbolic link, which is not followed',
  hint: 'put the file or directory itself in its place',
}
const DIRECTORY: Explanation = { reason: 'it is a directory', hint: 'look at a file in it' }

export const nothingFound = (): Found => ({
  files: [],
  skipped: [],
  unknown: [],
  temporary: [],
  ignored: [],
})

/** What is in one directory; `below`: prefixes (`acme/`) of the directories in it. */
type Here = Found & { below: string[] }

const nothingHere = (): Here => ({ ...nothingFound(), below: [] })

const KINDS = Object.keys(nothingFound()) as (keyof Found)[]

/** Lists everything below the folder. Throws the system's error where the folder itself cannot be read. */
export async function walk(options: WalkOptions): Promise<Found> {
  const found = nothingFound()
  const pending = ['']
  options.mounts.begin()
  for (let prefix = pending.pop(); prefix !== undefined; prefix = pending.pop()) {
    const here = await readOne(prefix, options)
    pending.push(...here.below)
    for (const kind of KINDS) for (const one of here[kind]) (found[kind] as unknown[]).push(one)
  }
  const unlisted = new Set(found.unknown)
  for (const path of options.mounts.missing()) {
    if (!unlisted.has(path)) skipUnknown(found, path, UNMOUNTED)
  }
  return found
}

async function readOne(prefix: string, all: WalkOptions): Promise<Here> {
  let here = nothingHere()
  if (prefix.split('/').length > MOST_DEPTH + 1) {
    here.skipped.push({ path: prefix, ...TOO_DEEP })
    return here
  }
  const before = await directoryAt(prefix, all)
  if (before === null) return here
  if (before instanceof Error) return notListed(prefix, before)
  const options = { ...all, remote: all.remote || before.dev !== all.device }
  try {
    for await (const entries of readDirectory({ ...options, prefix })) {
      if (entries === null) here = nothingHere()
      else await place(entries, prefix, options, here)
    }
  } catch (error) {
    if (prefix === '') throw error
    return notListed(prefix, error)
  }
  const after = await directoryAt(prefix, options)
  // Swapped under our hands: what we looked at may be anyone's. The next scan sees it as it is.
  const isSame = after !== null && !(after instanceof Error) && isSameDirectory(before, after)
  if (!isSame) return { ...nothingHere(), unknown: [prefix] }
  const isEmpty = here.below.length + here.files.length + here.skipped.length === 0
  return options.mounts.admit(prefix, before, isEmpty)
    ? here
    : skipUnknown(nothingHere(), prefix, UNMOUNTED)
}

/** No part below the folder may be a link; the folder itself may be reached by one. Throws the folder's error. */
async function directoryAt(prefix: string, { directory }: WalkOptions): Promise<Look> {
  if (prefix === '') return stat(directory, { bigint: true })
  try {
    using opened = await OpenDirectory.at(directory, prefix)
    return await stat(opened.entry('.'), { bigint: true })
  } catch (error) {
    return isMissing(errorCode(error)) ? null : (error as Error)
  }
}

/** Throws `EACCES` where the directory may be read but not entered: names without their files. */
async function place(
  entries: readonly Entry[],
  prefix: string,
  { directory, filter, known, remote }: WalkOptions,
  here: Here,
): Promise<void> {
  const files: Entry[] = []
  const temporary: Entry[] = []
  for (const entry of entries) sort(entry, filter, here, files, temporary)
  await lookAtEach(temporary, remote, (look, { path }) => {
    if (look !== null && !(look instanceof Error))
      here.temporary.push({ path, mtimeMs: Number(look.mtimeMs) })
  })
  let denied: Error | null = null
  await lookAtEach(files, remote, (look, { kind, path }) => {
    const seen = judge(path, look)
    if (errorCode(look) === 'EACCES') denied = look as Error
    if (look instanceof Error || kind === null) {
      // It may be a directory: what is below it is not gone.
      if (kind === null) here.unknown.push(`${path}/`)
      if (seen !== null && 'reason' in seen) skipUnknown(here, path, seen)
      else here.unknown.push(path)
    } else if (seen === null) return
    else if ('reason' in seen) here.skipped.push(seen)
    else {
      const before = known(path)
      here.files.push(before && sameIdentity(before.identity, seen.identity) ? before : seen)
    }
  })
  if (denied === null) return
  await lookAtEach([{ at: `${directory}/${prefix}.` }], remote, (look) => {
    if (errorCode(look) === 'EACCES') throw denied
  })
}

/** By name and kind alone: what to look at; all else has its place in `here`. */
function sort(
  entry: Entry,
  filter: NameFilter,
  here: Here,
  files: Entry[],
  temporary: Entry[],
): void {
  const { at, kind, path } = entry
  const isNotUtf8 = typeof at !== 'string'
  if (kind === 'directory') {
    if (filter.prunes(path)) return
    if (isNotUtf8) here.skipped.push({ path: `${nonUtf8Path(path)}/`, ...NOT_UTF8 })
    else here.below.push(`${path}/`)
    return
  }
  const rule = filter.ignored(path)?.rule ?? null
  if (rule === 'temporary-name') temporary.push(entry)
  else if (rule !== null && rule !== 'not-included') return
  else if (isNotUtf8 && rule === null) here.skipped.push({ path: nonUtf8Path(path), ...NOT_UTF8 })
  else if (kind === 'link')
    here.skipped.push({ path: isNotUtf8 ? nonUtf8Path(path) : path, ...LINK })
  else if (kind === 'other' && rule === 'not-included') here.ignored.push(path)
  else files.push(entry)
}

/** What a look at a path is, or why it is skipped; null: nothing is there. */
export function judge(path: string, look: Look): Sighting | Skipped | null {
  if (look === null) return null
  if (look instanceof Error) return { path, ...explain(look) }
  if (look.isFile()) return { path, identity: identityOf(look) }
  if (look.isDirectory()) return { path: `${path}/`, ...DIRECTORY }
  return { path, ...(look.isSymbolicLink() ? LINK : special(look)) }
}

function special(stats: BigIntStats): Explanation {
  const kind = stats.isFIFO() ? 'fifo' : stats.isSocket() ? 'socket' : 'device'
  return { reason: `it is not a regular file (${kind})`, hint: 'put a regular file in its place' }
}

function explain(error: unknown): Explanation {
  const { hint, reason } = errnoText(error, { name: 'it', setting: 'the path', use: 'read' })
  return { reason, hint }
}

/** What is below it is unknown, unless there is nothing, or no directory, by now. */
function notListed(path: string, error: unknown): Here {
  const here = nothingHere()
  return isMissing(errorCode(error)) ? here : skipUnknown(here, path, explain(error))
}

/** Nobody can tell what is there, or below it. */
function skipUnknown<F extends Found>(found: F, path: string, { hint, reason }: Explanation): F {
  found.skipped.push({ path, reason, hint })
  found.unknown.push(path)
  return found
}
