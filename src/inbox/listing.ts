// Owns one walk through the folder. Never follows a link, never leaves the folder, and never lets a
// directory that could not be read look like an empty one (research/ingest.md lessons 1 and 13).

import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { FileIdentity } from '../feed/port.ts'
import { errorCode } from '../lib/errors.ts'
import { type Entry, readDirectory } from './directory-entries.ts'
import { cannotBeListed, judge, NOT_UTF8 } from './file-kind.ts'
import { identityOf, NO_IDENTITY } from './identity.ts'
import type { NameFilter } from './name-filter.ts'
import type { Listing } from './port.ts'
import { type Look, lstatEach, lstatPooled, type PathLike } from './stat-batch.ts'

export type Found = Omit<Listing, 'folder'>

export interface WalkOptions {
  /** Absolute path. */
  directory: string
  filter: NameFilter
  /** On a network file system. */
  remote: boolean
}

interface Candidate {
  path: string
  at: PathLike
  use: 'feed' | 'temporary' | 'unnameable'
}

export const nothingFound = (): Found => ({ files: [], refused: [], temporary: [], unknown: [] })

/** Lists everything below the folder. Throws the system's error where the folder itself cannot be read. */
export async function walk(options: WalkOptions): Promise<Found> {
  const found = nothingFound()
  // Prefixes (`acme/`) of directories that are still to be read.
  const pending = ['']
  for (let prefix = pending.pop(); prefix !== undefined; prefix = pending.pop()) {
    const here = await readOne(prefix, options, pending)
    for (const kind of ['files', 'refused', 'temporary', 'unknown'] as const) {
      for (const one of here[kind]) (found[kind] as unknown[]).push(one)
    }
  }
  return found
}

async function readOne(prefix: string, options: WalkOptions, pending: string[]): Promise<Found> {
  const directory = `${options.directory}/${prefix}`
  const before = await directoryAt(options.directory, prefix)
  if (before === null) return nothingFound()
  if (before instanceof Error) return unreadable(prefix, NO_IDENTITY, before)
  let entries: Entry[]
  try {
    entries = await readDirectory(directory)
  } catch (error) {
    if (prefix === '') throw error
    return unreadable(prefix, identityOf(before), error)
  }
  const here = nothingFound()
  const { candidates, below } = sort(entries, prefix, options)
  let denied: Error | null = null
  await lstatEach(
    candidates.map(({ at }) => at),
    options.remote,
    (look, index) => {
      const candidate = candidates[index]
      if (candidate !== undefined && look !== null) place(here, candidate, look)
      if (errorCode(look) === 'EACCES') denied = look as Error
    },
  )
  // Names without their files: the directory may be read but not entered, which is its fault alone.
  if (denied !== null && prefix === '') throw denied
  if (denied !== null) return unreadable(prefix, identityOf(before), denied)
  const after = await directoryAt(options.directory, prefix)
  // Swapped under our hands: what we looked at may be anyone's. The next scan sees it as it is.
  const isSame = after !== null && !(after instanceof Error) && isSameDirectory(before, after)
  if (!isSame) return { ...nothingFound(), unknown: [prefix] }
  pending.push(...below)
  return here
}

/** A link below the folder is not a directory; the folder itself may be reached by one. */
async function directoryAt(root: string, prefix: string): Promise<Look> {
  if (prefix === '') return stat(root, { bigint: true })
  const look = await lstatPooled(`${root}/${prefix.slice(0, -1)}`)
  return look === null || look instanceof Error || look.isDirectory() ? look : null
}

function isSameDirectory(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino
}

/** By name alone: what to look at, and the directories to read. */
function sort(entries: Entry[], prefix: string, { directory, filter }: WalkOptions) {
  const candidates: Candidate[] = []
  const below: string[] = []
  for (const { name, raw, isDirectory } of entries) {
    const path = prefix + name
    const at = raw === null ? `${directory}/${path}` : bytesOf(`${directory}/${prefix}`, raw)
    if (isDirectory) {
      if (filter.prunes(path)) continue
      if (raw === null) below.push(`${path}/`)
      else candidates.push({ path, at, use: 'unnameable' })
      continue
    }
    const ignored = filter.ignored(path)
    if (ignored?.rule === 'temporary-name') candidates.push({ path, at, use: 'temporary' })
    else if (ignored === null) candidates.push({ path, at, use: raw ? 'unnameable' : 'feed' })
  }
  return { candidates, below }
}

function bytesOf(directory: string, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(directory), name])
}

function place(here: Found, { path, use }: Candidate, look: BigIntStats | Error): void {
  const seen = judge(path, look)
  if (use === 'temporary') {
    if (!(look instanceof Error)) here.temporary.push({ path, mtimeMs: Number(look.mtimeMs) })
  } else if (use === 'unnameable') {
    here.refused.push({ path, identity: seen.identity, reason: NOT_UTF8 })
  } else if ('reason' in seen) {
    here.refused.push(seen)
  } else {
    here.files.push(seen)
  }
}

function unreadable(prefix: string, identity: FileIdentity, error: unknown): Found {
  if (errorCode(error) === 'ENOENT') return nothingFound()
  const refusal = { path: prefix.slice(0, -1), identity, reason: cannotBeListed(error) }
  return { ...nothingFound(), refused: [refusal], unknown: [prefix] }
}
