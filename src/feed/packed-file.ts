// Unpacks a gzip-compressed feed while it is read. Several members are one document; nothing may follow them. Memory is
// bounded, whatever the file says of itself.

import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { errorCode, messageOf } from '../lib/errors.ts'
import { formatBytes } from '../lib/units.ts'
import type { Verdict } from './port.ts'
import { readAt, type SourceFile } from './source-file.ts'

/** No feed packs as well: what unpacks to more is made to fill a disk. */
const MOST_RATIO = 200
const RATIO_FROM = 2 ** 20

const PACKED_PIECE = 65_536
/** Each is new memory: of 1 MiB, they took 65 MB more for a bomb. */
const UNPACKED_PIECE = 65_536
/** A whole file may end in so many bytes of NUL: those of its last member, where that is empty. */
const NULS_OF_AN_END = 9

export type PackingFault = Exclude<Verdict, { kind: 'ok' }>

export class PackedFile {
  readonly #file: SourceFile
  /** Where the bytes of NUL begin that the file ends in. */
  readonly #end: number
  readonly #most: number
  /** Why not all was unpacked, once the pieces have come to an end. */
  fault: PackingFault | null = null

  /** `most`: bytes that it may unpack to. */
  constructor(file: SourceFile, end: number, most: number) {
    this.#file = file
    this.#end = end
    this.#most = most
  }

  /** From the beginning, at each call. Throws `Unreadable`. */
  async *pieces(pieceSize: number): AsyncGenerator<Buffer, void, void> {
    const gunzip = createGunzip({ chunkSize: Math.min(pieceSize, UNPACKED_PIECE) })
    // What cannot be read ends the unpacking, with its error.
    pipeline(Readable.from(this.#packed(), { highWaterMark: 1 }), gunzip, () => {})
    let bytes = 0
    try {
      for await (const piece of gunzip) {
        bytes += piece.length
        this.fault = this.#limit(bytes)
        if (this.fault !== null) return
        yield piece
      }
    } catch (error) {
      if (!errorCode(error)?.startsWith('Z_')) throw error
      this.fault = this.#faultOf(error)
      return
    }
    // A byte of NUL behind a member ends the unpacking.
    const { bytesWritten } = gunzip
    if (bytesWritten < this.#end) this.fault = TRAILING
    else if (bytesWritten < this.#file.size)
      this.fault = paddingFault(this.#file.size - bytesWritten)
  }

  /** Each in memory of its own: it is unpacked while the next one is read. */
  *#packed(): Generator<Buffer, void, void> {
    for (const piece of this.#file.pieces(PACKED_PIECE, this.#file.size)) yield Buffer.from(piece)
  }

  #limit(bytes: number): PackingFault | null {
    const { size } = this.#file
    if (bytes > this.#most) return tooLarge(`more than ${formatBytes(this.#most)}`)
    const isBomb = bytes > RATIO_FROM && bytes > size * MOST_RATIO
    return isBomb ? tooLarge(`more than ${MOST_RATIO} times its ${formatBytes(size)}`) : null
  }

  #faultOf(error: unknown): PackingFault {
    const padding = this.#file.size - this.#end
    if (padding > NULS_OF_AN_END) return paddingFault(padding)
    if (errorCode(error) === 'Z_BUF_ERROR') return CUT
    if (messageOf(error) !== 'incorrect header check') return CORRUPT
    const head = Buffer.alloc(2)
    readAt(this.#file.descriptor, head, head.length, 0)
    return head.equals(MAGIC) ? TRAILING : NOT_GZIP
  }
}

const MAGIC = Buffer.from([0x1f, 0x8b])

const CUT: PackingFault = {
  kind: 'incomplete',
  reason: 'the gzip-compressed file ends early',
  position: null,
}
const CORRUPT = corrupt('the gzip-compressed file is damaged: it cannot be unpacked')
const TRAILING = corrupt('something else follows the gzip-compressed feed in the file')
const NOT_GZIP = corrupt('the name ends in .gz, but the file is not gzip-compressed')

function corrupt(reason: string): PackingFault {
  return { kind: 'broken', code: 'gzip-corrupt', reason, position: null }
}

function tooLarge(size: string): PackingFault {
  const reason = `the gzip-compressed file unpacks to ${size}, which is too much`
  return { kind: 'broken', code: 'gzip-too-large', reason, position: null }
}

/** Its writer may have set the size of the file first. */
function paddingFault(padding: number): PackingFault {
  return { kind: 'incomplete', reason: paddingReason(padding), position: null }
}

export function paddingReason(padding: number): string {
  const bytes = `${padding.toLocaleString('en-US')} NUL byte${padding === 1 ? '' : 's'}`
  return `the file ends in ${bytes}, so its writer may not be done`
}
