// Which postings a feed has and what is in them, as two hashes each: enough to count what changed between two
// versions. In memory while a feed is read, in a file beside the copy of an accepted one.

import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { errorCode } from '../lib/errors.ts'
import { type Entries, WORDS } from './entries.ts'
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
  const [oldIds, newIds] = [sorted(before, idOnly), sorted(now, idOnly)]
  const removed = missing(oldIds, newIds)
  const added = missing(newIds, oldIds)
  // What is no longer there as it was has changed, unless it was removed.
  const changed = missing(sorted(before, idAndContent), sorted(now, idAndContent)) - removed
  return { added, removed, changed }
}

/** The lower word of what stands for an entry; the upper one is that of its id. */
type LowerWord = (low: number, content: number) => number
const idOnly: LowerWord = (low) => low
/** The content is mixed, so that it does not meet the bits of another id. */
const idAndContent: LowerWord = (low, content) =>
  low ^ Math.imul(content ^ (content >>> 16), 0x9e3779b1)

/** A number for each entry, where those of an earlier call stood. */
function sorted({ entries, numbers }: Index, lower: LowerWord): BigUint64Array {
  const words = new Uint32Array(numbers.buffer)
  for (let at = 0, to = 0; at < entries.length; at += WORDS) {
    words[to++] = lower(entries[at + 1] as number, entries[at + 2] as number)
    words[to++] = entries[at] as number
  }
  return numbers.sort()
}

/** How many of `numbers` have none left in `others` that is equal; both are sorted. */
function missing(numbers: BigUint64Array, others: BigUint64Array): number {
  let count = 0
  let at = 0
  for (const number of numbers) {
    while (at < others.length && (others[at] as bigint) < number) at++
    if (others[at] === number) at++
    else count++
  }
  return count
}

interface Index {
  entries: Uint32Array
  /** CRC-32 of the path of the ids. */
  idPath: number
  numbers: BigUint64Array
}

/** Null where that is not a whole index: the file is not durable, and a power cut may have left anything. */
function indexAt(path: string): Index | null {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    if (errorCode(error) === null) throw error
    return null
  }
  const body = bytes.subarray(HEADER_BYTES)
  if (!MAGIC.equals(bytes.subarray(0, MAGIC.length)) || bytes.length < HEADER_BYTES) return null
  const count = bytes.readUInt32LE(MAGIC.length + 4)
  if (body.length !== count * WORDS * 4) return null
  if (crc32(body) !== bytes.readUInt32LE(MAGIC.length)) return null
  const entries = new Uint32Array(body.buffer, body.byteOffset, count * WORDS)
  const idPath = bytes.readUInt32LE(MAGIC.length + 8)
  return { entries, idPath, numbers: new BigUint64Array(count) }
}
