// Reads directories and looks at their files in batches, so that a large folder never blocks the event loop. A name
// that is valid UTF-8 is text. Any other name is shown with its odd bytes percent-escaped, and only its bytes open the
// file.

import { type BigIntStats, lstatSync, opendirSync } from 'node:fs'
import { lstat, opendir, readdir } from 'node:fs/promises'
import { setImmediate as yieldToLoop } from 'node:timers/promises'
import { isMissing } from '../lib/errno.ts'
import { errorCode } from '../lib/errors.ts'
import { asUtf8, escapedName } from '../lib/non-utf8-names.ts'

export interface Entry {
  /** The displayed path, relative to the inbox. */
  path: string
  /** The absolute path for system calls; bytes if it is not UTF-8. */
  at: string | Buffer
  /** null: the kind is unknown at present. */
  kind: 'directory' | 'link' | 'other' | null
}

/** BATCH direct calls block the event loop for half a ms, and their paths are short-lived garbage. */
const BATCH = 64

/** Latin-1 has one character for each byte, so it loses nothing; it costs a third of reading buffers. */
const ENCODING = 'latin1'
const OPTIONS = { encoding: ENCODING, bufferSize: BATCH } as const

interface Place {
  /** The absolute path of the inbox. */
  directory: string
  /** The directory to read, such as `acme/`; empty for the inbox itself. */
  prefix: string
  /** The directory is on a network file system. */
  remote: boolean
}

/** readDirectory yields batches of entries, and null before it starts all over again. It throws the system's error. */
export async function* readDirectory(place: Place): AsyncGenerator<Entry[] | null> {
  try {
    yield* withKinds(place)
  } catch (error) {
    // If the directory names no kinds, Node looks each one up, and fails to join a path of bytes and text.
    if (errorCode(error) !== 'ERR_INVALID_ARG_TYPE') throw error
    yield null
    yield* withoutKinds(place)
  }
}

/** withKinds reads the entries with their kinds. Like `lookAtEach`, it calls a local file system directly. */
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

/** Look is the result of lstat: stats, null if nothing is there, or the error. */
export type Look = BigIntStats | null | Error

/**
 * lookAtEach calls lstat for the entries in order and yields to the event loop in between. A local lstat costs 6 us
 * when called directly and 25 us through the thread pool, so local files are checked in short direct bursts. On a
 * network each call may wait for a server, so the calls of a batch run together in the thread pool.
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
      // Handle each result at once: stats that are kept for a whole batch outlive the young generation.
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
