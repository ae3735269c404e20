// Which postings a feed has and what is in them, as two hashes each: enough to count what changed between two
// versions. In memory while a feed is read, in a file beside the copy of an accepted one.

import { closeSync, openSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { errorCode } from '../lib/errors.ts'
import { readWhole } from '../lib/read-whole.ts'
import { type Entries, MOST_ENTRIES, WORDS } from './entries.ts'
import { sortEntries } from './entry-sort.ts'
import type { PostingChanges } from './port.ts'

/**
 * Names the layout: magic, CRC-32 of the entries, their number, CRC-32 of the path of the ids, the entries in the
 * machine's byte order.
 */
const MAGIC = Buffer.from('FSIX7\0\0\0')
const HEADER_BYTES = MAGIC.length + 12

/** The bytes of an index file, in parts. `idPath`: where the ids were read from; empty: where they were found. */
export function* indexParts(entries: Entries, idPath = ''): Generator<Uint8Array, void, void> {
  const header = Buffer.alloc(HEADER_BYTES)
  MAGIC.copy(header)
  let crc = 0
  for (const words of entries.parts()) crc = crc32(bytesOf(words), crc)
  header.writeUInt32LE(crc, MAGIC.length)
  header.writeUInt32LE(entries.count, MAGIC.length + 4)
  header.writeUInt32LE(crc32(idPath), MAGIC.length + 8)
  // Most feeds have one part, and one write is one place where a crash can happen.
  let before: Uint8Array = header
  for (const words of entries.parts()) {
    yield before.length === 0 ? bytesOf(words) : Buffer.concat([before, bytesOf(words)])
    before = new Uint8Array()
  }
  if (before.length > 0) yield before
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array | Uint32Array) =>
  new Uint8Array(buffer, byteOffset, byteLength)

/**
 * Counts what changed between two versions, from the paths of their index files. Null where one of them
 * is not there, not whole or cannot be read, or where their ids come from different fields: then nothing is
 * known, which is no reason to hold up a feed. Several postings of one id are compared by their contents, each counted once.
 */
export function compareIndexes(older: string, newer: string): PostingChanges | null {
  const [before, now] = [indexAt(older), indexAt(newer)]
  if (before === null || now === null || before.idPath !== now.idPath) return null
  const [a, b] = [before.entries, now.entries]
  sortEntries(a)
  sortEntries(b)
  const changes = { added: 0, removed: 0, changed: 0 }
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const [of, at] = isBefore(b, j, a, i) ? [b, j] : [a, i]
    let left = 0
    let right = 0
    for (;;) {
      const inA = sameId(a, i, of, at)
      const inB = sameId(b, j, of, at)
      if (!inA && !inB) break
      const order = inA && inB ? (a[i + 2] as number) - (b[j + 2] as number) : inA ? -1 : 1
      if (order < 0) left++
      if (order > 0) right++
      if (order <= 0) i += WORDS
      if (order >= 0) j += WORDS
    }
    const pairs = Math.min(left, right)
    changes.changed += pairs
    changes.removed += left - pairs
    changes.added += right - pairs
  }
  return changes
}

/** Whether there are entries at both places, of the same id. */
function sameId(a: Uint32Array, i: number, b: Uint32Array, j: number): boolean {
  return i < a.length && j < b.length && a[i] === b[j] && a[i + 1] === b[j + 1]
}

/** Whether the entry of `a` comes before that of `b`; what is over comes last. */
function isBefore(a: Uint32Array, i: number, b: Uint32Array, j: number): boolean {
  if (i >= a.length || j >= b.length) return j >= b.length
  const high = (a[i] as number) - (b[j] as number)
  return high < 0 || (high === 0 && (a[i + 1] as number) < (b[j + 1] as number))
}

interface Index {
  entries: Uint32Array
  /** CRC-32 of the path of the ids. */
  idPath: number
}

/** Null where that is not a whole index: the file is not durable, and a power cut may have left anything. */
function indexAt(path: string): Index | null {
  let fd: number | null = null
  try {
    fd = openSync(path, 'r')
    return indexIn(fd)
  } catch (error) {
    if (errorCode(error) === null) throw error
    return null
  } finally {
    if (fd !== null) closeSync(fd)
  }
}

function indexIn(fd: number): Index | null {
  const read = (to: Uint8Array, at: number) => readWhole(fd, to, 0, to.length, at)
  const header = Buffer.alloc(HEADER_BYTES)
  if (read(header, 0) < HEADER_BYTES) return null
  const count = header.readUInt32LE(MAGIC.length + 4)
  if (!MAGIC.equals(header.subarray(0, MAGIC.length)) || count > MOST_ENTRIES) return null
  const entries = new Uint32Array(count * WORDS)
  if (read(bytesOf(entries), HEADER_BYTES) < entries.byteLength) return null
  if (crc32(bytesOf(entries)) !== header.readUInt32LE(MAGIC.length)) return null
  return { entries, idPath: header.readUInt32LE(MAGIC.length + 8) }
}
