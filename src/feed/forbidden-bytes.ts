// Finds the first byte that no XML document may have: ill-formed UTF-8, and what the production Char
// (XML 1.0 §2.2) leaves out. Runs over everything once, so it looks at sixteen bytes at a time.

import { isUtf8 } from 'node:buffer'
import { wellFormedLength } from './decoder.ts'

/** The first two bytes of U+FFC0 to U+FFFF, of which the last two are no characters. */
const EF_BF = Buffer.from([0xef, 0xbf])

export type Forbidden =
  /** A character that is written right, `length` bytes long, but not allowed. */
  { kind: 'character'; at: number; length: number } | { kind: 'undecodable'; at: number }

/** Looks at the whole characters of `data` from `from` to `to`. `words` are all of its bytes. */
export function firstForbidden(
  data: Buffer,
  words: Int32Array,
  from: number,
  to: number,
): Forbidden | null {
  const bytes = data.subarray(from, to)
  const sound = isUtf8(bytes) ? to : from + wellFormedLength(bytes)
  const control = firstControl(data, words, from, sound)
  const noncharacter = firstNoncharacter(data, from, control)
  if (noncharacter < control) return { kind: 'character', at: noncharacter, length: 3 }
  if (control < sound) return { kind: 'character', at: control, length: 1 }
  return sound < to ? { kind: 'undecodable', at: sound } : null
}

/** The first control character but tab, LF and CR; `to` when there is none. */
function firstControl(data: Buffer, words: Int32Array, from: number, to: number): number {
  let at = from
  for (; at < to && (at & 3) !== 0; at++) if (isControl(data[at] ?? 0)) return at
  for (; at + 16 <= to; at += 16) {
    const word = at >> 2
    const a = words[word] as number
    const b = words[word + 1] as number
    const c = words[word + 2] as number
    const d = words[word + 3] as number
    if ((plain(a) & plain(b) & plain(c) & plain(d) & HIGH_BITS) === (HIGH_BITS | 0)) continue
    if ((plainOrLineFeed(a, b) & plainOrLineFeed(c, d) & HIGH_BITS) === (HIGH_BITS | 0)) continue
    for (let i = at; i < at + 16; i++) if (isControl(data[i] ?? 0)) return i
  }
  for (; at < to; at++) if (isControl(data[at] ?? 0)) return at
  return to
}

const HIGH_BITS = 0x80808080
const LOW_BITS = 0x7f7f7f7f

/** Sets the high bit of each byte from 0x20 on (Hacker's Delight §6-1, without carries between bytes). */
function plain(word: number): number {
  return ((word & LOW_BITS) + 0x60606060) | word
}

/** The same for two words, and of each byte that is LF, which every line ends in. */
function plainOrLineFeed(a: number, b: number): number {
  return (plain(a) | lineFeedsOf(a)) & (plain(b) | lineFeedsOf(b))
}

/** Sets the high bit of each byte that is LF. */
function lineFeedsOf(word: number): number {
  const zero = word ^ 0x0a0a0a0a
  return ~(((zero & LOW_BITS) + LOW_BITS) | zero)
}

function isControl(byte: number): boolean {
  return byte < 0x20 && byte !== 0xa && byte !== 0xd && byte !== 0x9
}

/** The first U+FFFE or U+FFFF; `to` when there is none. */
function firstNoncharacter(data: Buffer, from: number, to: number): number {
  let at = data.indexOf(EF_BF, from)
  while (at !== -1 && at < to) {
    if ((data[at + 2] ?? 0) >= 0xbe) return at
    at = data.indexOf(EF_BF, at + 3)
  }
  return to
}
