// Owns the file form of a posting index. It is written without fsync, so whatever a power cut left of
// it must read as nothing: length and checksum guard it, and the counts are then simply not known.

import { crc32 } from 'node:zlib'
import type { PostingIndex } from '../feed/port.ts'

/** Names the layout: magic, CRC-32 of the rest, then all ids, then all contents, in the machine's order. */
const MAGIC = Buffer.from('FSIX1\0\0\0')
const HEADER = MAGIC.length + 8
const ENTRY = BigUint64Array.BYTES_PER_ELEMENT + Uint32Array.BYTES_PER_ELEMENT

export function encodeIndex({ ids, contents }: PostingIndex): Buffer {
  const header = Buffer.alloc(HEADER)
  MAGIC.copy(header)
  const body = Buffer.concat([bytesOf(ids), bytesOf(contents)])
  header.writeUInt32LE(crc32(body), MAGIC.length)
  header.writeUInt32LE(ids.length, MAGIC.length + 4)
  return Buffer.concat([header, body])
}

/** Null for anything but a whole index. */
export function decodeIndex(bytes: Buffer): PostingIndex | null {
  if (bytes.length < HEADER || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return null
  const body = bytes.subarray(HEADER)
  const count = bytes.readUInt32LE(MAGIC.length + 4)
  if (body.length !== count * ENTRY || crc32(body) !== bytes.readUInt32LE(MAGIC.length)) return null
  // The arrays need aligned memory of their own, which a slice of a file's buffer is not.
  const aligned = new Uint8Array(body).buffer
  return {
    ids: new BigUint64Array(aligned, 0, count),
    contents: new Uint32Array(aligned, count * BigUint64Array.BYTES_PER_ELEMENT, count),
  }
}

function bytesOf(array: BigUint64Array | Uint32Array): Buffer {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength)
}
