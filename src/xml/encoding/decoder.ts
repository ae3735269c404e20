// Decodes bytes into text, strictly: no replacement characters, no overlong forms, no lone surrogates. A piece can end
// inside a character; the decoder keeps the first bytes of the character for the next piece.

import { isUtf8 } from 'node:buffer'
import { type Encoding, UNDECODABLE, UTF_16LE } from './encodings.ts'

interface Decoded {
  text: string
  /** bad is true if the byte after `text` cannot be decoded. Then write no more pieces. */
  bad: boolean
}

const NOTHING = Buffer.alloc(0)

export class Decoder {
  readonly #method: Method
  /** #carried has the bytes of an incomplete character at the end of the last piece. */
  #carried: Buffer = NOTHING

  constructor(encoding: Encoding) {
    this.#method = methodOf(encoding)
  }

  /** write decodes the next piece up to its last complete character, or to the first bad byte. */
  write(piece: Buffer): Decoded {
    const { tail, decode } = this.#method
    const bytes = this.#carried.length === 0 ? piece : Buffer.concat([this.#carried, piece])
    const end = bytes.length - tail(bytes)
    // The rest is copied, because the next piece overwrites this memory.
    this.#carried = end === bytes.length ? NOTHING : Buffer.from(bytes.subarray(end))
    return decode(bytes.subarray(0, end))
  }

  /** isUnfinished returns true if the bytes so far end inside a character. */
  isUnfinished(): boolean {
    return this.#carried.length > 0
  }
}

interface Method {
  /** tail counts the bytes of an incomplete character at the end. */
  tail: (bytes: Buffer) => number
  decode: (bytes: Buffer) => Decoded
}

function methodOf(encoding: Encoding): Method {
  if (encoding.kind === 'utf-8') return { tail: utf8Tail, decode: decodeUtf8 }
  if (encoding.kind === 'single-byte') {
    return { tail: () => 0, decode: (bytes) => decodeTable(bytes, encoding.table) }
  }
  if (encoding === UTF_16LE) return { tail: (bytes) => utf16Tail(bytes, 1), decode: decodeUtf16 }
  const decode = (bytes: Buffer) => decodeUtf16(Buffer.from(bytes).swap16())
  return { tail: (bytes) => utf16Tail(bytes, 2), decode }
}

/** encodedLength counts the bytes of a text in an encoding. */
export function encodedLength(text: string, encoding: Encoding): number {
  if (encoding.kind === 'utf-8') return Buffer.byteLength(text, 'utf8')
  return encoding.kind === 'utf-16' ? text.length * 2 : text.length
}

function decodeUtf8(bytes: Buffer): Decoded {
  if (isUtf8(bytes)) return { text: bytes.toString('utf8'), bad: false }
  return { text: bytes.toString('utf8', 0, wellFormedLength(bytes)), bad: true }
}

/** wellFormedLength counts the bytes of UTF-8 before the first ill-formed or incomplete character. */
export function wellFormedLength(bytes: Buffer): number {
  let at = 0
  while (at < bytes.length) {
    const length = utf8Length(bytes, at)
    if (length <= 0) break
    at += length
  }
  return at
}

/** utf8Length counts the bytes of the character at `at` (Unicode 16, table 3-7): 0 if ill-formed, -1 if incomplete. */
function utf8Length(bytes: Buffer, at: number): number {
  const lead = bytes[at] ?? 0
  if (lead < 0x80) return 1
  const length = lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
  for (let i = 1; i < length; i++) {
    const byte = bytes[at + i]
    if (byte === undefined) return -1
    const least = i > 1 ? 0x80 : lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
    const most = i > 1 ? 0xbf : lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
    if (byte < least || byte > most) return 0
  }
  return length
}

/** utf8Tail counts the bytes of an incomplete character at the end of `bytes`. */
export function utf8Tail(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return utf8Length(bytes, bytes.length - back) === -1 ? back : 0
  }
  return 0
}

/** utf16Tail counts the bytes of an incomplete character at the end. `high` is 1 if the high byte is last, else 2. */
function utf16Tail(bytes: Buffer, high: number): number {
  const odd = bytes.length % 2
  const isHighSurrogate = (bytes.at(-odd - high) ?? 0) >> 2 === 0x36
  return isHighSurrogate ? odd + 2 : odd
}

function decodeUtf16(bytes: Buffer): Decoded {
  const text = bytes.toString('utf16le')
  if (text.isWellFormed()) return { text, bad: false }
  return textBefore(text, /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/)
}

function decodeTable(bytes: Buffer, table: Uint16Array): Decoded {
  const units = new Uint16Array(bytes.length)
  for (let at = 0; at < bytes.length; at++) units[at] = table[bytes[at] as number] as number
  return textBefore(Buffer.from(units.buffer).toString('utf16le'), UNDECODABLE_UNIT)
}

const UNDECODABLE_UNIT = new RegExp(String.fromCharCode(UNDECODABLE))

/** textBefore cuts the text before the first character that `bad` matches. */
function textBefore(text: string, bad: RegExp): Decoded {
  const at = text.search(bad)
  return at === -1 ? { text, bad: false } : { text: text.slice(0, at), bad: true }
}
