// Owns the reading of directories and the looks at their files, in batches, so that a large folder never holds the
// event loop. Names are bytes; those that are valid UTF-8 are text, the others are shown with their odd bytes
// percent-escaped and can be looked at by their bytes only.

import { type BigIntStats, type Dirent, lstatSync, opendirSync } from 'node:fs'
import { lstat, opendir, readdir } from 'node:fs/promises'
import { setImmediate as yieldToLoop } from 'node:timers/promises'
import { errorCode } from '../lib/errors.ts'
import { asUtf8, escaped } from '../lib/odd-names.ts'

export interface Entry {
  name: string
  /** The name's bytes where they are not UTF-8; null: the name says it all. */
  raw: Buffer | null
  /** null: the file system does not say. */
  kind: 'directory' | 'link' | 'other' | null
}

/** Direct calls that hold the event loop for half a ms, and whose paths are gone before they are collected. */
const BATCH = 64

/** Latin-1 has one character a byte, so it loses nothing, and costs a third of reading buffers. */
const ENCODING = 'latin1'
const OPTIONS = { encoding: ENCODING, bufferSize: BATCH } as const

/**
 * Throws the system's error, or one of `saysNoTypes`. Calls the system directly where it answers at once, as
 * `lstatEach` does. Where types are missing Node would look each one up, by a name that is not a page; it
 * cannot join a path of bytes and a name of text, and says so instead.
 */
export async function* readDirectory(path: string, remote: boolean): AsyncGenerator<Entry[]> {
  const bytes = Buffer.from(path)
  const directory = remote ? await opendir(bytes, OPTIONS) : opendirSync(bytes, OPTIONS)
  const next = remote ? () => directory.read() : () => directory.readSync()
  try {
    let batch: Entry[] = []
    for (let entry = await next(); entry !== null; entry = await next()) {
      batch.push({ ...named(entry.name), kind: kindOf(entry) })
      if (batch.length < BATCH) continue
      yield batch
      batch = []
    }
    yield batch
  } finally {
    await (remote ? directory.close() : directory.closeSync())
  }
}

/** The file system does not say what kind its entries are: `readNames` reads the directory. */
export function saysNoTypes(error: unknown): boolean {
  return errorCode(error) === 'ERR_INVALID_ARG_TYPE'
}

/** The same without the kinds of the entries. Throws the system's error. */
export async function* readNames(path: string): AsyncGenerator<Entry[]> {
  const names = await readdir(path, ENCODING)
  for (let from = 0; from < names.length; from += BATCH) {
    yield names.slice(from, from + BATCH).map((name) => ({ ...named(name), kind: null }))
  }
}

function kindOf(entry: Dirent): Entry['kind'] {
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

function named(latin1: string): { name: string; raw: Buffer | null } {
  if (!/[\x80-\xFF]/.test(latin1)) return { name: latin1, raw: null }
  const bytes = Buffer.from(latin1, 'latin1')
  const text = asUtf8(bytes)
  return text === null ? { name: escaped(bytes), raw: bytes } : { name: text, raw: null }
}

export type PathLike = string | Buffer

/** Stats, null where nothing is there, or the error of the call. */
export type Look = BigIntStats | null | Error

/**
 * Looks at paths without following a link at their end, in order, letting others run in between. A local lstat costs
 * 6 us when called directly and 25 us through the thread pool, so local files are looked at in short direct bursts;
 * on a network each call may wait for a server, so there they go out together and never hold the event loop.
 */
export async function lstatEach(
  paths: readonly PathLike[],
  remote: boolean,
  found: (look: Look, index: number) => void,
): Promise<void> {
  for (let start = 0; start < paths.length; start += BATCH) {
    const batch = paths.slice(start, start + BATCH)
    if (remote) {
      const looks = await Promise.all(batch.map(lstatPooled))
      looks.forEach((look, index) => {
        found(look, start + index)
      })
    } else {
      // One by one: stats that are kept for a whole batch outlive the young generation.
      batch.forEach((path, index) => {
        found(lstatDirect(path), start + index)
      })
    }
    await yieldToLoop()
  }
}

function lstatPooled(path: PathLike): Promise<Look> {
  return lstat(path, { bigint: true }).catch(nullWhenMissing)
}

function lstatDirect(path: PathLike): Look {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null
  } catch (error) {
    return nullWhenMissing(error)
  }
}

function nullWhenMissing(error: unknown): null | Error {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR' ? null : (error as Error)
}
