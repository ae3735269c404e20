// Character data (XML 1.0 production 14) and CDATA sections (18).

import { AMPERSAND, CLOSE_BRACKET, LT, OPEN_BRACKET } from './bytes'
import { referenceEnd } from './references'

/** `<![CDATA[` but for its last byte, and the two that begin its end. */
const CDATA_BEGINS: u64 = 0x41_54_41_44_43_5b_21_3c
export const CDATA_BYTES = 9
const CDATA_ENDS: u32 = 0x3e5d5d

/** Where the `<` behind the text at `from` is; 0: it is not there, or something else has to be looked at. */
@inline
export function textEnd(from: u32, end: u32): u32 {
  let at = from
  while (at < end) {
    const found = whereAnyOf(at, LT, AMPERSAND, CLOSE_BRACKET)
    if (found == 0) {
      at += 16
      continue
    }
    at += ctz(found)
    const byte = load<u8>(at)
    if (byte == LT) return at < end ? at : 0
    if (byte == AMPERSAND) {
      at = referenceEnd(at)
      if (at == 0) return 0
    } else if ((load<u32>(at) & 0xffffff) == CDATA_ENDS) return 0
    else at++
  }
  return 0
}

/** Behind the CDATA section whose `<` is at `from`, or 0. */
@inline
export function cdataEnd(from: u32, end: u32): u32 {
  if (load<u64>(from) != CDATA_BEGINS || load<u8>(from, 8) != OPEN_BRACKET) return 0
  let at = from + CDATA_BYTES
  while (at < end) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(at), i8x16.splat(CLOSE_BRACKET)))
    if (found == 0) {
      at += 16
      continue
    }
    at += ctz(found)
    if ((load<u32>(at) & 0xffffff) == CDATA_ENDS) return at + 3 <= end ? at + 3 : 0
    at++
  }
  return 0
}

/** A bit for each of the sixteen bytes at `at` that is one of these. */
@inline
export function whereAnyOf(at: u32, a: u8, b: u8, c: u8): i32 {
  const bytes = v128.load(at)
  const isA = i8x16.eq(bytes, i8x16.splat(a))
  const isB = i8x16.eq(bytes, i8x16.splat(b))
  const isC = i8x16.eq(bytes, i8x16.splat(c))
  return i8x16.bitmask(v128.or(isA, v128.or(isB, isC)))
}
