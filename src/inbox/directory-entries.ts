// Reads directories and looks at their files. All calls block: they run in the listing thread (listing-worker.ts), or
// in a command. A name that is valid UTF-8 is text. Any other name is shown with its odd bytes percent-escaped, and
// only its bytes open the file.

import { type BigIntStats, type Dir, lstatSync, opendirSync, readdirSync } from 'node:fs'
import { isMissing } from '../lib/errno.ts'
import { errorCode } from '../lib/errors.ts'
import { asUtf8, escapedName } from '../lib/non-utf8-names.ts'

export interface DirectoryEntry {
  /** The displayed path, relative to the inbox. */
  path: string
  /** The absolute path for system calls; bytes if it is not UTF-8. */
  at: string | Buffer
  /** null while the kind is not known. */
  kind: 'directory' | 'link' | 'other' | null
}

/** BATCH is how many entries are read at once. */
const BATCH = 64

/**
 * Latin-1 has one character for each byte, so it loses nothing. Reading names as Latin-1 takes a third of the time of
 * reading them as buffers.
 */
const ENCODING = 'latin1'

interface ListedDirectory {
  /** The absolute path of the inbox. */
  directory: string
  /** The directory to read, such as `acme/`; empty for the inbox itself. */
  prefix: string
  /** asks is called with the path that the next system call is about. */
  asks: Asks
}

/** Asks is called with the path relative to the inbox before each system call that might never return. */
export type Asks = (path: string) => void

/**
 * readDirectory yields batches of entries. It yields null before it starts all over again, and the caller then forgets
 * all entries so far. Throws the system's error.
 */
export function* readDirectory(listed: ListedDirectory): Generator<DirectoryEntry[] | null> {
  try {
    yield* withKinds(listed)
  } catch (error) {
    // If the directory names no kinds, Node looks each one up, and fails to join a path of bytes and text.
    if (errorCode(error) !== 'ERR_INVALID_ARG_TYPE') throw error
    yield null
    yield* withoutKinds(listed)
  }
}

function* withKinds(listed: ListedDirectory): Generator<DirectoryEntry[]> {
  const { asks, prefix } = listed
  asks(prefix)
  const bytes = Buffer.from(`${listed.directory}/${prefix}`)
  // The types lack the bytes that Node accepts.
  const directory: Dir = opendirSync(bytes as unknown as string, {
    encoding: ENCODING as BufferEncoding,
    bufferSize: BATCH,
  })
  try {
    let batch: DirectoryEntry[] = []
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      batch.push(entryNamed(entry.name, listed, kindOf(entry)))
      if (batch.length < BATCH) continue
      yield batch
      batch = []
      asks(prefix)
    }
    yield batch
  } finally {
    directory.closeSync()
  }
}

function* withoutKinds(listed: ListedDirectory): Generator<DirectoryEntry[]> {
  listed.asks(listed.prefix)
  const names = readdirSync(`${listed.directory}/${listed.prefix}`, ENCODING)
  for (let from = 0; from < names.length; from += BATCH) {
    const entries = names.slice(from, from + BATCH).map((name) => entryNamed(name, listed, null))
    const found: DirectoryEntry[] = []
    for (const entry of entries) {
      listed.asks(entry.path)
      const look = lookAt(entry.at)
      if (look !== null) found.push({ ...entry, kind: look instanceof Error ? null : kindOf(look) })
    }
    yield found
  }
}

function kindOf(
  entry: Pick<BigIntStats, 'isDirectory' | 'isSymbolicLink'>,
): DirectoryEntry['kind'] {
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

function entryNamed(
  latin1: string,
  { directory, prefix }: ListedDirectory,
  kind: DirectoryEntry['kind'],
): DirectoryEntry {
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

/** LstatResult is the result of lstat: stats, null if nothing is there, or the error. */
export type LstatResult = BigIntStats | null | Error

/** lookAt calls lstat, and returns an error as a value. The result is null if a part of the path is missing, too. */
export function lookAt(path: DirectoryEntry['at']): LstatResult {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null
  } catch (error) {
    return isMissing(errorCode(error)) ? null : (error as Error)
  }
}
