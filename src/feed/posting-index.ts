// The posting index of a feed: the hashes of each posting's id and content, enough to count the changes between two
// versions. It is in memory while a feed is read, and in a file beside the copy of a feed that passed the check.

import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { PostingChanges } from '../domain/difference.ts'
import { errorCode } from '../lib/errors.ts'
import { type Entries, WORDS } from './entries.ts'
import { changesOf, matchPostings } from './posting-matches.ts'

/**
 * MAGIC names this layout: magic, CRC-32 of the entries, number of entries, CRC-32 of the id path, then the entries in
 * the machine's byte order.
 */
const MAGIC = Buffer.from('FSIX7\0\0\0')
const HEADER_BYTES = MAGIC.length + 12

/**
 * indexParts returns the bytes of an index file. `idPath` is the path of the ids if it is configured, or was detected
 * after another path whose ids postings share; else it is empty.
 */
export function* indexParts(entries: Entries, idPath = ''): Generator<Uint8Array, void, void> {
  const header = Buffer.alloc(HEADER_BYTES)
  MAGIC.copy(header)
  let crc = 0
  for (const words of entries.parts()) crc = crc32(bytesOf(words), crc)
  header.writeUInt32LE(crc, MAGIC.length)
  header.writeUInt32LE(entries.count, MAGIC.length + 4)
  header.writeUInt32LE(crc32(idPath), MAGIC.length + 8)
  // Most feeds have one part, so one write is enough, and a crash can interrupt only this write.
  let before: Uint8Array = header
  for (const words of entries.parts()) {
    yield before.length === 0 ? bytesOf(words) : Buffer.concat([before, bytesOf(words)])
    before = new Uint8Array()
  }
  if (before.length > 0) yield before
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array) =>
  new Uint8Array(buffer, byteOffset, byteLength)

/**
 * compareIndexes counts the changes between two versions, given the paths of their index files. It returns null if a
 * file is missing, damaged or unreadable, or if the ids come from different fields. Then nobody knows the changes, and
 * the feed is sent all the same.
 */
export function compareIndexes(older: string, newer: string): PostingChanges | null {
  const [before, now] = [indexAt(older), indexAt(newer)]
  if (before === null || now === null || before.idPath !== now.idPath) return null
  return changesOf(matchPostings(before.entries, now.entries))
}

interface Index {
  entries: Int32Array
  /** CRC-32 of the path of the ids. */
  idPath: number
}

/** indexAt returns null if the file is missing, unreadable or damaged. A power cut can damage it: it is not durable. */
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
  const entries = new Int32Array(body.buffer, body.byteOffset, count * WORDS)
  const idPath = bytes.readUInt32LE(MAGIC.length + 8)
  return { entries, idPath }
}
