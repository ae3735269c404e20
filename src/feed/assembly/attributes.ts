// Attributes of a tag (XML 1.0 productions 10 and 41), as far as nothing about them is unusual: names that
// were checked, each once, values without anything but text and references.

import { AMPERSAND, APOSTROPHE, EQUALS, GT, LT, QUOTE, SLASH, SPACE } from './bytes'
import {
  DECLARED,
  DECLARED_BYTES,
  delimiter,
  IS_ATTRIBUTE,
  IS_DECLARED,
  named,
  PREFIX,
  SEEN_IN,
  same,
  USES,
} from './names'
import { declare, isBound } from './namespaces'
import { referenceEnd } from './references'
import { whereAnyOf } from './text'

let tag: u32 = 0

/** Where the `>` is of the tag whose name ends at `from`; 0: leave it to others. */
export function attributesEnd(from: u32, end: u32, most: u32): u32 {
  tag++
  let at = from
  let count: u32 = 0
  let prefixed: u32 = 0
  while (at < end) {
    let begin = at
    while (isSpace(load<u8>(begin))) begin++
    const byte = load<u8>(begin)
    if (byte == GT || byte == SLASH) {
      if (byte == SLASH && load<u8>(++begin) != GT) return 0
      return prefixed == 0 || isBound(prefixed) ? begin : 0
    }
    if (begin == at || count == most) return 0
    count++
    const equals = delimiter(begin)
    if (load<u8>(equals) != EQUALS) return 0
    const name = named(begin, equals - begin)
    if (name == 0 || load<u32>(name, SEEN_IN) == tag) return 0
    store<u32>(name, tag, SEEN_IN)
    const quote = load<u8>(equals + 1)
    if (quote != QUOTE && quote != APOSTROPHE) return 0
    const uses = load<u32>(name, USES)
    if ((uses & IS_ATTRIBUTE) != 0) {
      if (load<u32>(name, PREFIX) != 0) {
        // Two of them could be the same one by different prefixes (Namespaces §6.3).
        if (prefixed != 0) return 0
        prefixed = name
      }
      at = valueEnd(equals + 2, end, quote)
      if (at == 0) return 0
    } else {
      if ((uses & IS_DECLARED) == 0 || !declare(name)) return 0
      const length = load<u32>(name, DECLARED_BYTES)
      at = equals + 2 + length
      if (at >= end || load<u8>(at) != quote) return 0
      if (!same(load<u32>(name, DECLARED), equals + 2, length)) return 0
    }
    at++
  }
  return 0
}

/** Whether the tag that ends with the `>` at `at` is an empty-element tag. */
@inline
export function isEmptyTag(at: u32): bool {
  return load<u8>(at - 1) == SLASH
}

@inline
function isSpace(byte: u8): bool {
  return byte == SPACE || byte == 0x0a || byte == 0x09 || byte == 0x0d
}

@inline
function valueEnd(from: u32, end: u32, quote: u8): u32 {
  let at = from
  while (at < end) {
    const found = whereAnyOf(at, quote, LT, AMPERSAND)
    if (found == 0) {
      at += 16
      continue
    }
    at += ctz(found)
    const byte = load<u8>(at)
    if (byte == quote) return at
    if (byte != AMPERSAND) return 0
    at = referenceEnd(at)
    if (at == 0) return 0
  }
  return 0
}
