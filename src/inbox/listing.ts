// Owns one walk through the folder. Never follows a link, never leaves the folder, and never lets a
// directory that could not be read look like an empty one.

import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { FileIdentity } from '../feed/port.ts'
import { OpenDirectory } from '../lib/beneath.ts'
import { errorCode } from '../lib/errors.ts'
import { isLasting, isMissing } from '../lib/file-errors.ts'
import { identityOf, NO_IDENTITY, sameIdentity } from '../lib/file-identity.ts'
import { type Entry, readDirectory, readNames, saysNoTypes } from './directory-entries.ts'
import { cannotBeListed, judge, MOST_DEPTH, NOT_UTF8, TOO_DEEP } from './file-kind.ts'
import { type Mounts, UNMOUNTED } from './mounts.ts'
import type { NameFilter } from './name-filter.ts'
import type { Listing, Refusal, Sighting } from './port.ts'
import { type Look, lstatEach, type PathLike } from './stat-batch.ts'

export type Found = Omit<Listing, 'folder'>

export interface WalkOptions {
  /** Absolute path. */
  directory: string
  filter: NameFilter
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
  temporary: [],
  ignored: [],
  unreadable: [],
  unknown: [],
})

const KINDS = ['files', 'refused', 'temporary', 'ignored', 'unreadable', 'unknown'] as const

/** Lists everything below the folder. Throws the system's error where the folder itself cannot be read. */
export async function walk(options: WalkOptions): Promise<Found> {
  const found = nothingFound()
  // Prefixes (`acme/`) of directories that are still to be read.
  const pending = ['']
  options.mounts.begin()
  for (let prefix = pending.pop(); prefix !== undefined; prefix = pending.pop()) {
    const here = await readOne(prefix, options, pending)
    for (const kind of KINDS) {
      for (const one of here[kind]) (found[kind] as unknown[]).push(one)
    }
  }
  for (const prefix of options.mounts.missing()) {
    found.refused.push(unmounted(prefix))
    found.unknown.push(prefix)
  }
  return found
}

async function readOne(prefix: string, options: WalkOptions, pending: string[]): Promise<Found> {
  if (prefix.split('/').length > MOST_DEPTH + 1) return tooDeep(prefix)
  const before = await directoryAt(prefix, options)
  if (before === null) return nothingFound()
  if (before instanceof Error) return unreadable(prefix, NO_IDENTITY, before)
  let here = nothingFound()
  let below: string[] = []
  const readAll = async (batches: AsyncGenerator<Entry[]>) => {
    here = nothingFound()
    below = []
    for await (const entries of batches) {
      await lookAt(sort(entries, prefix, options, here, below), options, here, below)
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
    return unreadable(prefix, identityOf(before), error)
  }
  const after = await directoryAt(prefix, options)
  // Swapped under our hands: what we looked at may be anyone's. The next scan sees it as it is.
  const isSame = after !== null && !(after instanceof Error) && isSameDirectory(before, after)
  if (!isSame) return { ...nothingFound(), unknown: [prefix] }
  const isEmpty = below.length + here.files.length + here.refused.length === 0
  if (!options.mounts.admit(prefix, before, isEmpty)) {
    return { ...nothingFound(), refused: [unmounted(prefix)], unknown: [prefix] }
  }
  pending.push(...below)
  tellApart(here)
  return here
}

/** A file may really be called `caf%E9.xml`, as another is only shown: two paths must not be told as one. */
function tellApart({ files, refused }: Found): void {
  const shown = refused.filter(({ reason }) => reason === NOT_UTF8)
  if (shown.length === 0) return
  const taken = new Set(
    [...files, ...refused].filter((one) => !shown.includes(one as Refusal)).map(({ path }) => path),
  )
  for (const refusal of shown) {
    while (taken.has(refusal.path)) refusal.path += '%'
    taken.add(refusal.path)
  }
}

/** Throws `EACCES`: names without their files, so the directory may be read but not entered. */
async function lookAt(
  candidates: Candidate[],
  options: WalkOptions,
  here: Found,
  below: string[],
): Promise<void> {
  let denied: Error | null = null
  const paths = candidates.map(({ at }) => at)
  await lstatEach(paths, options.remote, (look, index) => {
    const candidate = candidates[index]
    if (candidate !== undefined && look !== null) place(here, below, candidate, look, options)
    if (errorCode(look) === 'EACCES') denied = look as Error
  })
  if (denied !== null) throw denied
}

/** No part below the folder may be a link; the folder itself may be reached by one. Throws the folder's error. */
async function directoryAt(prefix: string, { directory, remote }: WalkOptions): Promise<Look> {
  if (prefix === '') return stat(directory, { bigint: true })
  try {
    using opened = remote
      ? await OpenDirectory.at(directory, prefix)
      : OpenDirectory.atSync(directory, prefix)
    return await stat(opened.entry('.'), { bigint: true })
  } catch (error) {
    return isMissing(errorCode(error) ?? '') ? null : (error as Error)
  }
}

function isSameDirectory(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino
}

/** By name alone: what to look at; directories to read go to `below`, what is no feed to `here`. */
function sort(
  entries: Entry[],
  prefix: string,
  { directory, filter }: WalkOptions,
  here: Found,
  below: string[],
): Candidate[] {
  const candidates: Candidate[] = []
  for (const { name, raw, isDirectory } of entries) {
    const path = prefix + name
    const use = isDirectory === null ? null : useOf(path, raw, isDirectory, filter)
    if (use === 'directory') below.push(`${path}/`)
    else if (use === 'foreign') here.ignored.push(path)
    else if (use !== 'ignored') {
      const at = raw === null ? `${directory}/${path}` : bytesOf(`${directory}/${prefix}`, raw)
      candidates.push({ path, at, raw, use })
    }
  }
  return candidates
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
  here: Found,
  below: string[],
  { path, raw, use: told }: Candidate,
  look: BigIntStats | Error,
  { filter, known }: WalkOptions,
): void {
  const isDirectory = !(look instanceof Error) && look.isDirectory()
  const use = told ?? useOf(path, raw, isDirectory, filter)
  if (use === 'ignored') return
  const seen = judge(path, look)
  if (use === 'foreign') {
    here.ignored.push(path)
  } else if (use === 'directory') {
    below.push(`${path}/`)
  } else if (use === 'temporary') {
    if (!(look instanceof Error)) here.temporary.push({ path, mtimeMs: Number(look.mtimeMs) })
  } else if (use === 'unnameable') {
    here.refused.push({ path, identity: seen.identity, reason: NOT_UTF8 })
  } else if ('reason' in seen) {
    putDown(here, seen, look)
  } else {
    const before = known(path)
    const isSame = before !== null && sameIdentity(before.identity, seen.identity)
    here.files.push(isSame ? before : seen)
  }
}

/** An error of the moment says nothing about the path, nor about what is below it. */
function putDown(here: Found, refusal: Refusal, error: unknown, prefix = refusal.path): void {
  const code = errorCode(error)
  if (code === null || isLasting(code)) here.refused.push(refusal)
  else here.unreadable.push(refusal)
  if (code !== null) here.unknown.push(prefix)
}

function unmounted(prefix: string): Refusal {
  return { path: prefix.slice(0, -1), identity: NO_IDENTITY, reason: UNMOUNTED }
}

function tooDeep(prefix: string): Found {
  const path = prefix.slice(0, -1)
  return { ...nothingFound(), refused: [{ path, identity: NO_IDENTITY, reason: TOO_DEEP }] }
}

function unreadable(prefix: string, identity: FileIdentity, error: unknown): Found {
  const here = nothingFound()
  if (errorCode(error) === 'ENOENT') return here
  const reason = cannotBeListed(error)
  putDown(here, { path: prefix.slice(0, -1), identity, reason }, error, prefix)
  return here
}
