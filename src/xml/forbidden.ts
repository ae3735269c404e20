// Finds what no XML document may have: ill-formed UTF-8, and what the production Char (XML 1.0 §2.2) leaves
// out: control characters, U+FFFE and U+FFFF.

import { isUtf8 } from 'node:buffer'
import { CLASSES, CONTROL } from './bytes.ts'
import { wellFormedLength } from './encoding/decoder.ts'

export type Forbidden = { kind: 'noncharacter'; at: number } | { kind: 'undecodable'; at: number }

/** U+FFC0 to U+FFFF begin with these two bytes; the last two of them are no characters. */
const NONCHARACTER = Buffer.from([0xef, 0xbf])
export const NONCHARACTER_BYTES = 3

/** Looks at the whole characters of `data` from `from` to `to`, but for control characters. */
export function firstForbidden(data: Buffer, from: number, to: number): Forbidden | null {
  const isSound = isUtf8(data.subarray(from, to))
  const sound = isSound ? to : from + wellFormedLength(data.subarray(from, to))
  for (let at = from; ; at += 2) {
    at = data.indexOf(NONCHARACTER, at)
    if (at === -1 || at >= sound) break
    if ((data[at + 2] as number) >= 0xbe) return { kind: 'noncharacter', at }
  }
  return isSound ? null : { kind: 'undecodable', at: sound }
}

/**
 * Hot: the first control character from `from` to `to`, or `to`. Eight bytes at a time; `words` are those of
 * `data`, four bytes each.
 */
export function firstControl(data: Buffer, words: Int32Array, from: number, to: number): number {
  let at = from
  for (; at < to && (at & 3) !== 0; at++) if (isControl(data, at)) return at
  for (; at + 8 <= to; at += 8) {
    const a = words[at >> 2] as number
    const b = words[(at >> 2) + 1] as number
    // A bit is set where a byte is below 0x20: that of white space, too.
    if (((((a - 0x20202020) & ~a) | ((b - 0x20202020) & ~b)) & 0x80808080) === 0) continue
    let found = 0
    for (let i = at; i < at + 8; i++) found |= CLASSES[data[i] as number] as number
    if ((found & CONTROL) !== 0) break
  }
  for (; at < to; at++) if (isControl(data, at)) return at
  return to
}

function isControl(data: Buffer, at: number): boolean {
  return ((CLASSES[data[at] as number] as number) & CONTROL) !== 0
}
