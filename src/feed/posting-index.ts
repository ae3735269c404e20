// The posting index of a feed: the hashes of each posting's id and content, enough to count the changes between two
// versions. It is in memory while a feed is read, and in a file beside the copy of an accepted feed.

import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { errorCode } from '../lib/errors.ts'
import { type Entries, WORDS } from './entries.ts'
import type { PostingChanges } from './port.ts'

/**
 * MAGIC names this layout: magic, CRC-32 of the entries, number of entries, CRC-32 of the id path, then the entries in
 * the machine's byte order.
 */
const MAGIC = Buffer.from('FSIX7\0\0\0')
const HEADER_BYTES = MAGIC.length + 12

/** indexParts returns the bytes of an index file. `idPath` is the configured path of the ids; empty: detected. */
export function* indexParts(entries: Entries, idPath = ''): Generator<Uint8Array, void, void> {
  const header = Buffer.alloc(HEADER_BYTES)
  MAGIC.copy(header)
  let crc = 0
  for (const words of entries.parts()) crc = crc32(bytesOf(words), crc)
  header.writeUInt32LE(crc, MAGIC.length)
  header.writeUInt32LE(entries.count, MAGIC.length + 4)
  header.writeUInt32LE(crc32(idPath), MAGIC.length + 8)
  // Most feeds have one part, so one write is enough and a crash can interrupt only that one.
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
 * compareIndexes counts the changes between two versions, given the paths of their index files. It returns null if a
 * file is missing, damaged or unreadable, or if the ids come from different fields. The feed is sent anyway. Postings
 * that share an id are compared by their contents, and each is counted once.
 */
export function compareIndexes(older: string, newer: string): PostingChanges | null {
  const [before, now] = [indexAt(older), indexAt(newer)]
  if (before === null || now === null || before.idPath !== now.idPath) return null
  const [oldIds, newIds] = [sorted(before, idOnly), sorted(now, idOnly)]
  const removed = missing(oldIds, newIds)
  const added = missing(newIds, oldIds)
  // A posting that no longer exists unchanged was either changed or removed.
  const changed = missing(sorted(before, idAndContent), sorted(now, idAndContent)) - removed
  return { added, removed, changed }
}

/** LowerWord computes the lower half of the number of an entry; the upper half comes from the id's hash. */
type LowerWord = (low: number, content: number) => number
const idOnly: LowerWord = (low) => low
/** idAndContent mixes the bits of the content, so that they do not cancel those of an id. */
const idAndContent: LowerWord = (low, content) =>
  low ^ Math.imul(content ^ (content >>> 16), 0x9e3779b1)

/** sorted returns the sorted numbers of all entries. Each call overwrites the numbers of the previous one. */
function sorted({ entries, numbers }: Index, lower: LowerWord): BigUint64Array {
  const words = new Uint32Array(numbers.buffer)
  for (let at = 0, to = 0; at < entries.length; at += WORDS) {
    words[to++] = lower(entries[at + 1] as number, entries[at + 2] as number)
    words[to++] = entries[at] as number
  }
  return numbers.sort()
}

/** missing counts the `numbers` without an equal partner in `others`; both lists are sorted. */
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

/** indexAt returns null if the file is missing or damaged: it is not durable, so a power cut may leave any bytes. */
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
