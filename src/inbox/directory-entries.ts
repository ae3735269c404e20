// Owns the reading of directories and the looks at their files, in batches, so that a large folder never holds the
// event loop. Names are bytes; those that are valid UTF-8 are text, the others are shown with their odd bytes
// percent-escaped and can be looked at by their bytes only.

import { type BigIntStats, lstatSync, opendirSync } from 'node:fs'
import { lstat, opendir, readdir } from 'node:fs/promises'
import { setImmediate as yieldToLoop } from 'node:timers/promises'
import { isMissing } from '../lib/errno.ts'
import { errorCode } from '../lib/errors.ts'
import { asUtf8, escapedName } from '../lib/non-utf8-names.ts'

/** What a directory says of something in it. */
export interface Entry {
  /** Relative to the inbox, as it is shown. */
  path: string
  /** What the system knows it by; bytes where they are not UTF-8. */
  at: string | Buffer
  /** null: nobody can tell at present. */
  kind: 'directory' | 'link' | 'other' | null
}

/** Direct calls that hold the event loop for half a ms, and whose paths are gone before they are collected. */
const BATCH = 64

/** Latin-1 has one character a byte, so it loses nothing, and costs a third of reading buffers. */
const ENCODING = 'latin1'
const OPTIONS = { encoding: ENCODING, bufferSize: BATCH } as const

interface Place {
  /** The inbox; absolute. */
  directory: string
  /** Of the directory to read: `acme/`; empty for the inbox itself. */
  prefix: string
  /** On a network file system. */
  remote: boolean
}

/** Yields null where all that was yielded before comes once more. Throws the system's error. */
export async function* readDirectory(place: Place): AsyncGenerator<Entry[] | null> {
  try {
    yield* withKinds(place)
  } catch (error) {
    // Where kinds are missing Node would look each one up, by a path that it cannot join of bytes and text.
    if (errorCode(error) !== 'ERR_INVALID_ARG_TYPE') throw error
    yield null
    yield* withoutKinds(place)
  }
}

/** Calls the system directly where it answers at once, as `lookAtEach` does. */
async function* withKinds(place: Place): AsyncGenerator<Entry[]> {
  const { remote } = place
  const bytes = Buffer.from(`${place.directory}/${place.prefix}`)
  const directory = remote ? await opendir(bytes, OPTIONS) : opendirSync(bytes, OPTIONS)
  const next = remote ? () => directory.read() : () => directory.readSync()
  try {
    let batch: Entry[] = []
    for (let entry = await next(); entry !== null; entry = await next()) {
      batch.push(named(entry.name, place, kindOf(entry)))
      if (batch.length < BATCH) continue
      yield batch
      batch = []
    }
    yield batch
  } finally {
    await (remote ? directory.close() : directory.closeSync())
  }
}

async function* withoutKinds(place: Place): AsyncGenerator<Entry[]> {
  const names = await readdir(`${place.directory}/${place.prefix}`, ENCODING)
  for (let from = 0; from < names.length; from += BATCH) {
    const entries = names.slice(from, from + BATCH).map((name) => named(name, place, null))
    const found: Entry[] = []
    await lookAtEach(entries, place.remote, (look, entry) => {
      if (look !== null) found.push({ ...entry, kind: look instanceof Error ? null : kindOf(look) })
    })
    yield found
  }
}

function kindOf(entry: Pick<BigIntStats, 'isDirectory' | 'isSymbolicLink'>): Entry['kind'] {
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

function named(latin1: string, { directory, prefix }: Place, kind: Entry['kind']): Entry {
  const ofText = (name: string) => {
    const path = prefix + name
    return { path, at: `${directory}/${path}`, kind }
  }
  if (!/[\x80-\xFF]/.test(latin1)) return ofText(latin1)
  const bytes = Buffer.from(latin1, 'latin1')
  const text = asUtf8(bytes)
  if (text !== null) return ofText(text)
  const at = Buffer.concat([Buffer.from(`${directory}/${prefix}`), bytes])
  return { path: prefix + escapedName(bytes), at, kind }
}

/** Stats, null where nothing is there, or the error of the call. */
export type Look = BigIntStats | null | Error

/**
 * Looks at entries without following a link at their end, in order, letting others run in between. A local lstat costs
 * 6 us when called directly and 25 us through the thread pool, so local files are looked at in short direct bursts;
 * on a network each call may wait for a server, so there they go out together and never hold the event loop.
 */
export async function lookAtEach<E extends Pick<Entry, 'at'>>(
  entries: readonly E[],
  remote: boolean,
  found: (look: Look, entry: E) => void,
): Promise<void> {
  for (let start = 0; start < entries.length; start += BATCH) {
    const batch = entries.slice(start, start + BATCH)
    if (remote) {
      const looks = await Promise.all(batch.map(({ at }) => lookPooled(at)))
      batch.forEach((entry, index) => {
        found(looks[index] ?? null, entry)
      })
    } else {
      // One by one: stats that are kept for a whole batch outlive the young generation.
      for (const entry of batch) found(lookDirect(entry.at), entry)
    }
    await yieldToLoop()
  }
}

function lookPooled(path: Entry['at']): Promise<Look> {
  return lstat(path, { bigint: true }).catch(nullWhenMissing)
}

function lookDirect(path: Entry['at']): Look {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null
  } catch (error) {
    return nullWhenMissing(error)
  }
}

function nullWhenMissing(error: unknown): null | Error {
  return isMissing(errorCode(error)) ? null : (error as Error)
}
