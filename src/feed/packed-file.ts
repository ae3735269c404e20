// Unpacks a gzip-compressed feed while it is read. Several gzip members form one document, and nothing may follow them.
// Memory stays bounded for every file.

import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { errorCode, messageOf } from '../lib/errors.ts'
import { countOf, formatBytes } from '../lib/units.ts'
import type { Verdict } from './port.ts'
import { readAt, type SourceFile } from './source-file.ts'

/** MOST_UNPACKED limits the unpacked size of a feed, in bytes. */
export const MOST_UNPACKED = 5 * 2 ** 30
/** MOST_RATIO limits how many times larger a file can become. No feed reaches it, only a file made to fill a disk. */
const MOST_RATIO = 200
/** RATIO_CHECKED_FROM is how many unpacked bytes are accepted at any ratio. */
const RATIO_CHECKED_FROM = 2 ** 20

/** PACKED_PIECE is how many bytes of the file are read at once. */
const PACKED_PIECE = 65_536
/**
 * UNPACKED_PIECE, in bytes, is small because each piece is new memory: with 1 MiB, a gzip bomb took 65 MB more memory.
 */
const UNPACKED_PIECE = 65_536
/** LAST_MEMBER_NULS is how many NUL bytes a complete gzip file ends in, if its last member is empty. */
const LAST_MEMBER_NULS = 9

export type PackingFault = Exclude<Verdict, { kind: 'ok' }>

export class PackedFile {
  readonly #file: SourceFile
  /** #end is where the NUL bytes at the end of the file begin. */
  readonly #end: number
  readonly #most: number
  /** fault says, after the last piece, why the file could not be unpacked completely; null if it could. */
  fault: PackingFault | null = null

  /** `most` limits the unpacked size, in bytes. */
  constructor(file: SourceFile, end: number, most: number) {
    this.#file = file
    this.#end = end
    this.#most = most
  }

  /** pieces unpacks the file from its beginning at each call, and sets `fault`. Throws `Unreadable`. */
  async *pieces(pieceSize: number): AsyncGenerator<Buffer, void, void> {
    const gunzip = createGunzip({ chunkSize: Math.min(pieceSize, UNPACKED_PIECE) })
    // A read error ends the unpacking and reaches the loop below.
    pipeline(Readable.from(this.#packed(), { highWaterMark: 1 }), gunzip, () => {})
    let bytes = 0
    try {
      for await (const piece of gunzip) {
        this.fault = bytes === 0 && isGzip(piece) ? TWICE : null
        bytes += piece.length
        this.fault ??= this.#sizeFault(bytes)
        if (this.fault !== null) return
        yield piece
      }
    } catch (error) {
      if (!errorCode(error)?.startsWith('Z_')) throw error
      this.fault = this.#faultOf(error)
      return
    }
    // The unpacking also ends at a NUL byte after a member.
    const { bytesWritten } = gunzip
    if (bytesWritten < this.#end) this.fault = TRAILING
    else if (bytesWritten < this.#file.size)
      this.fault = paddingFault(this.#file.size - bytesWritten)
  }

  /** #packed reads the file and copies each piece, because gunzip still reads one piece while the next arrives. */
  *#packed(): Generator<Buffer, void, void> {
    for (const piece of this.#file.pieces(PACKED_PIECE, this.#file.size)) yield Buffer.from(piece)
  }

  /** #sizeFault returns the fault of a file that unpacks to too many bytes, or null. */
  #sizeFault(bytes: number): PackingFault | null {
    const { size } = this.#file
    if (bytes > this.#most) return tooLarge(`more than ${formatBytes(this.#most)}`)
    const isBomb = bytes > RATIO_CHECKED_FROM && bytes > size * MOST_RATIO
    return isBomb ? tooLarge(`more than ${MOST_RATIO} times its ${formatBytes(size)}`) : null
  }

  /** #faultOf returns the fault behind an error of zlib. */
  #faultOf(error: unknown): PackingFault {
    const padding = this.#file.size - this.#end
    if (padding > LAST_MEMBER_NULS) return paddingFault(padding)
    if (errorCode(error) === 'Z_BUF_ERROR') return CUT
    if (messageOf(error) !== 'incorrect header check') return CORRUPT
    const head = Buffer.alloc(2)
    readAt(this.#file.descriptor, head, 0)
    return isGzip(head) ? TRAILING : NOT_GZIP
  }
}

function isGzip(head: Buffer): boolean {
  return head[0] === 0x1f && head[1] === 0x8b
}

const CUT: PackingFault = {
  kind: 'incomplete',
  reason: 'the gzip-compressed file ends early',
  position: null,
}
const CORRUPT = corrupt('the gzip-compressed file is damaged: it cannot be unpacked')
const TRAILING = corrupt('something else follows the gzip-compressed feed in the file')
const TWICE = corrupt('the file is compressed twice; compress it once')
const NOT_GZIP = corrupt('the name ends in .gz, but the file is not gzip-compressed')

function corrupt(reason: string): PackingFault {
  return { kind: 'broken', code: 'gzip-corrupt', reason, position: null }
}

function tooLarge(size: string): PackingFault {
  const reason = `the gzip-compressed file unpacks to ${size}, which is too much`
  return { kind: 'broken', code: 'gzip-too-large', reason, position: null }
}

/** paddingFault is incomplete, not broken: the writer might have set the size of the file before writing it. */
function paddingFault(padding: number): PackingFault {
  return { kind: 'incomplete', reason: paddingReason(padding), position: null }
}

export function paddingReason(padding: number): string {
  return `the file ends in ${countOf(padding, 'NUL byte')}, so its writer might not have finished`
}
