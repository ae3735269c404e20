// Turns places in a document into offsets, lines and columns. It decodes the file again, so only a faulty document
// takes this time.

import { Decoder, encodedLength } from './encoding/decoder.ts'
import type { Encoding } from './encoding/encodings.ts'

export interface Position {
  /** Bytes from the start of the file. */
  offset: number
  /** Counted from 1. */
  line: number
  /** Characters (code points), counted from 1. */
  column: number
}

/**
 * locate returns the position of each place. `pieces` are the bytes of the file from its start, and `bom` is the length
 * of its byte order mark. `places` count bytes in UTF-8 after the byte order mark, in any order. A place after the end
 * of the file gets the position of the end. Lines end at LF, CR LF or CR (XML 1.0 §2.11).
 */
export async function locate(
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
  encoding: Encoding,
  bom: number,
  places: readonly number[],
): Promise<Position[]> {
  const decoder = new Decoder(encoding)
  const found = new Map<number, Position>()
  const ahead = [...new Set(places)].sort((a, b) => a - b)
  const at = { utf8: 0, offset: bom, line: 1, column: 1, afterCr: false }
  let skip = bom
  const advance = (text: string) => {
    at.utf8 += Buffer.byteLength(text)
    at.offset += encodedLength(text, encoding)
    countLines(at, text)
  }
  for await (const piece of pieces) {
    const bytes = piece.subarray(Math.min(skip, piece.length))
    skip -= piece.length - bytes.length
    let { text } = decoder.write(bytes)
    while (ahead.length > 0 && at.utf8 + Buffer.byteLength(text) >= (ahead[0] ?? 0)) {
      const place = ahead.shift() ?? 0
      const before = Buffer.from(text).toString('utf8', 0, place - at.utf8)
      advance(before)
      text = text.slice(before.length)
      found.set(place, { offset: at.offset, line: at.line, column: at.column })
    }
    if (ahead.length === 0) break
    advance(text)
  }
  const end = { offset: at.offset, line: at.line, column: at.column }
  return places.map((place) => found.get(place) ?? end)
}

/** countLines moves `at` to the end of `text`. */
function countLines(at: { line: number; column: number; afterCr: boolean }, text: string): void {
  if (text.length === 0) return
  // The LF of a CR LF that a piece has cut does not end another line.
  const from = at.afterCr && text.startsWith('\n') ? 1 : 0
  at.afterCr = text.endsWith('\r')
  const lines = text.slice(from).split(/\r\n?|\n/)
  const last = lines.at(-1) ?? ''
  if (lines.length > 1) at.column = 1
  at.line += lines.length - 1
  at.column += last.length - (last.match(/[\ud800-\udbff]/g)?.length ?? 0)
}
