// References (XML 1.0 productions 66 to 68): the five predefined entities (§4.6) and numbers of characters.

import { HASH, SEMICOLON } from './bytes'

const X: u8 = 0x78
/** Digits of the largest character's number. */
const MOST_DIGITS: u32 = 7

/** `lt;`, `gt;`, `amp;`, `quot` and `apos`, as the machine reads them. */
const LT: u32 = 0x3b_74_6c
const GT: u32 = 0x3b_74_67
const AMP: u32 = 0x3b_70_6d_61
const QUOT: u32 = 0x74_6f_75_71
const APOS: u32 = 0x73_6f_70_61

/** Behind the reference whose `&` is at `at`; 0: it is another one. */
@inline
export function referenceEnd(at: u32): u32 {
  const name = load<u32>(at, 1)
  const three = name & 0xffffff
  if (three == LT || three == GT) return at + 4
  if (name == AMP) return at + 5
  if ((name == QUOT || name == APOS) && load<u8>(at, 5) == SEMICOLON) return at + 6
  return load<u8>(at, 1) == HASH ? numberEnd(at + 2) : 0
}

function numberEnd(from: u32): u32 {
  const isHexadecimal = load<u8>(from) == X
  const first = isHexadecimal ? from + 1 : from
  let code: u32 = 0
  for (let at = first; at - first <= MOST_DIGITS; at++) {
    const byte = load<u8>(at)
    if (byte == SEMICOLON) return at != first && isCharacter(code) ? at + 1 : 0
    const letter = (byte | 0x20) - 0x61
    if (<u8>(byte - 0x30) <= 9) code = code * (isHexadecimal ? 16 : 10) + (byte - 0x30)
    else if (isHexadecimal && <u8>letter <= 5) code = code * 16 + letter + 10
    else return 0
  }
  return 0
}

/** Char (production 2). */
function isCharacter(code: u32): bool {
  if (code < 0x20) return code == 0x9 || code == 0xa || code == 0xd
  if (code < 0xe000) return code < 0xd800
  return code <= 0x10ffff && code != 0xfffe && code != 0xffff
}
