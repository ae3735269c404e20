// The first byte that may begin what no document may have (XML 1.0 §2.2): control characters but tab, LF
// and CR, and 0xEF, which begins U+FFFE and U+FFFF and many that are allowed.

import { SPACE } from './bytes'

/** By the value of a control character below 16: all bits for tab, LF and CR. */
const ALLOWED = i8x16(0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 0, 0, -1, 0, 0)

/** In UTF-8 that is well formed; `to` when there is none. */
export function firstForbidden(from: u32, to: u32): u32 {
  let at = from
  while (at < to) {
    const bytes = v128.load(at)
    const low = i8x16.le_u(bytes, i8x16.splat(SPACE - 1))
    const control = v128.andnot(low, i8x16.swizzle(ALLOWED, bytes))
    const found = i8x16.bitmask(v128.or(control, i8x16.eq(bytes, i8x16.splat(<i8>0xef))))
    if (found == 0) {
      at += 16
      continue
    }
    at += ctz(found)
    if (at >= to) return to
    if (load<u8>(at) < SPACE) return at
    if (load<u8>(at, 1) == 0xbf && load<u8>(at, 2) >= 0xbe) return at
    at++
  }
  return to
}
