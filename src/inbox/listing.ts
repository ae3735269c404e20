// Owns one walk through the folder. Never follows a link, never leaves the folder, and never lets a
// directory that could not be read look like an empty one.

import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { FileIdentity } from '../feed/port.ts'
import { OpenDirectory } from '../lib/beneath.ts'
import { isLasting, isMissing } from '../lib/errno.ts'
import { errorCode } from '../lib/errors.ts'
import { identityOf, isSameDirectory, NO_IDENTITY, sameIdentity } from '../lib/files.ts'
import { oddPath } from '../lib/odd-names.ts'
import {
  type Entry,
  type Look,
  lstatEach,
  type PathLike,
  readDirectory,
  readNames,
  saysNoTypes,
} from './directory-entries.ts'
import { cannotBeListed, judge, MOST_DEPTH, NOT_UTF8, TOO_DEEP } from './file-kind.ts'
import { type Mounts, UNMOUNTED } from './mounts.ts'
import type { NameFilter } from './name-filter.ts'
import type { Listing, Sighting } from './port.ts'

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

/** `foreign`: no feed by its name, as far as `inbox.include` says; `ignored`: by any other rule. */
type Use = 'feed' | 'temporary' | 'unnameable' | 'directory' | 'foreign' | 'ignored'

interface Candidate {
  path: string
  at: PathLike
  raw: Buffer | null
  /** null: not known before it was looked at, since the directory says no kinds. */
  use: Use | null
}

export const nothingFound = (): Found => ({
  files: [],
  refused: [],
  unlisted: [],
  temporary: [],
  ignored: [],
  links: [],
  unreadable: [],
  unknown: [],
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
  for (const prefix of options.mounts.missing()) {
    if (unlisted.has(prefix)) continue
    found.unlisted.push({ path: prefix, ...UNMOUNTED })
    found.unknown.push(prefix)
  }
  return found
}

async function readOne(prefix: string, all: WalkOptions): Promise<Here> {
  let here = nothingHere()
  if (prefix.split('/').length > MOST_DEPTH + 1) {
    here.refused.push({ path: prefix, identity: NO_IDENTITY, ...TOO_DEEP })
    return here
  }
  const before = await directoryAt(prefix, all)
  if (before === null) return here
  if (before instanceof Error) return notListed(prefix, NO_IDENTITY, before)
  const options = { ...all, remote: all.remote || before.dev !== all.device }
  const readAll = async (batches: AsyncGenerator<Entry[]>) => {
    here = nothingHere()
    for await (const entries of batches) {
      await lookAt(sort(entries, prefix, options, here), `${path}.`, options, here)
    }
  }
  const path = `${options.directory}/${prefix}`
  try {
    await readAll(readDirectory(path, options.remote)).catch((error) => {
      if (!saysNoTypes(error)) throw error
      return readAll(readNames(path))
    })
  } catch (error) {
    if (prefix === '') throw error
    return notListed(prefix, identityOf(before), error)
  }
  const after = await directoryAt(prefix, options)
  // Swapped under our hands: what we looked at may be anyone's. The next scan sees it as it is.
  const isSame = after !== null && !(after instanceof Error) && isSameDirectory(before, after)
  if (!isSame) return { ...nothingHere(), unknown: [prefix] }
  const isEmpty = here.below.length + here.files.length + here.refused.length === 0
  if (!options.mounts.admit(prefix, before, isEmpty)) {
    return { ...nothingHere(), unlisted: [{ path: prefix, ...UNMOUNTED }], unknown: [prefix] }
  }
  return here
}

/** Throws `EACCES` where the directory, at `itself`, may be read but not entered: names without their files. */
async function lookAt(
  candidates: Candidate[],
  itself: string,
  options: WalkOptions,
  here: Here,
): Promise<void> {
  let denied: Error | null = null
  const paths = candidates.map(({ at }) => at)
  await lstatEach(paths, options.remote, (look, index) => {
    const candidate = candidates[index]
    if (candidate !== undefined && look !== null) place(here, candidate, look, options)
    if (errorCode(look) === 'EACCES') denied = look as Error
  })
  if (denied === null) return
  await lstatEach([itself], options.remote, (look) => {
    if (errorCode(look) === 'EACCES') throw denied
  })
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

/** By name alone: what to look at; all else has its place in `here`. */
function sort(
  entries: Entry[],
  prefix: string,
  { directory, filter }: WalkOptions,
  here: Here,
): Candidate[] {
  const candidates: Candidate[] = []
  for (const { name, raw, kind } of entries) {
    const path = prefix + name
    const use = kind === null ? null : useOf(path, raw, kind === 'directory', filter)
    if (!isPlaced(here, use, path, kind === 'link')) {
      const at = raw === null ? `${directory}/${path}` : bytesOf(`${directory}/${prefix}`, raw)
      candidates.push({ path, at, raw, use })
    }
  }
  return candidates
}

/** Whether its use says it all. */
function isPlaced(here: Here, use: Use | null, path: string, isLink: boolean): boolean {
  if (use === 'directory') here.below.push(`${path}/`)
  if (use === 'foreign') (isLink ? here.links : here.ignored).push(path)
  return use === 'directory' || use === 'foreign' || use === 'ignored'
}

function useOf(path: string, raw: Buffer | null, isDirectory: boolean, filter: NameFilter): Use {
  const named = raw === null ? null : 'unnameable'
  if (isDirectory) return filter.prunes(path) ? 'ignored' : (named ?? 'directory')
  const ignored = filter.ignored(path)
  if (ignored === null) return named ?? 'feed'
  if (ignored.rule === 'temporary-name') return 'temporary'
  return ignored.rule === 'not-included' ? 'foreign' : 'ignored'
}

function bytesOf(directory: string, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(directory), name])
}

function place(
  here: Here,
  { path, raw, use: told }: Candidate,
  look: BigIntStats | Error,
  { filter, known }: WalkOptions,
): void {
  const isDirectory = !(look instanceof Error) && look.isDirectory()
  const use = told ?? useOf(path, raw, isDirectory, filter)
  // It may be a directory: what is below it is not gone.
  if (told === null && look instanceof Error) {
    here.unknown.push(`${path}/`)
    if (use === 'foreign')
      return void here.unlisted.push({ path: `${path}/`, ...cannotBeListed(look) })
  }
  const isLink = !(look instanceof Error) && look.isSymbolicLink()
  if (isPlaced(here, use, path, isLink)) return
  const seen = judge(path, look)
  if (use === 'temporary') {
    if (!(look instanceof Error)) here.temporary.push({ path, mtimeMs: Number(look.mtimeMs) })
  } else if (use === 'unnameable') {
    const odd = `${oddPath(path)}${isDirectory ? '/' : ''}`
    here.refused.push({ path: odd, identity: seen.identity, ...NOT_UTF8 })
  } else if (!('reason' in seen)) {
    const before = known(path)
    const isSame = before !== null && sameIdentity(before.identity, seen.identity)
    here.files.push(isSame ? before : seen)
  } else if (look instanceof Error) {
    // An error of the moment says nothing about the file.
    const isOfMoment = !isLasting(errorCode(look) ?? '')
    ;(isOfMoment ? here.unreadable : here.refused).push(seen)
    here.unknown.push(path)
  } else {
    here.refused.push(seen)
  }
}

/** What is below it is unknown, unless there is nothing, or no directory, by now. */
function notListed(path: string, identity: FileIdentity, error: unknown): Here {
  const code = errorCode(error) ?? ''
  const here = nothingHere()
  if (isMissing(code)) return here
  const words = cannotBeListed(error)
  if (isLasting(code)) here.refused.push({ path, identity, ...words })
  else here.unlisted.push({ path, ...words })
  here.unknown.push(path)
  return here
}
