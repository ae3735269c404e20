// The names that were checked: each has an entry, found by the bytes. What is true of a name wherever it
// stands is told by its entry.

import { EQUALS, GT, SLASH, SPACE } from './bytes'

/** An entry: u32 but for `IGNORED`, then the name's bytes. */
export const LENGTH = 0
export const USES = 4
/** The number of its prefix; of a name that declares one: of that. */
export const PREFIX = 8
export const SEEN_IN = 12
/** A bit (u64) for each place in which elements of this name are never told of. */
export const IGNORED = 16
/** What it declared last: the value as written, which is kept at an address, and the number of that namespace. */
export const DECLARED = 24
export const DECLARED_BYTES = 28
export const DECLARED_URI = 32
export const BYTES = 36

/** It may name an element; an attribute; what it declares is known. */
export const IS_ELEMENT: u32 = 1
export const IS_ATTRIBUTE: u32 = 2
export const IS_DECLARED: u32 = 4

const SLOTS = 4_096
const entries = memory.data(1_024 * 1_024, 16)
const ENTRIES_END: u32 = <u32>entries + 1_024 * 1_024
const slots = memory.data(SLOTS * 4, 16)
let free: u32 = <u32>entries

/** Enters a name whose bytes are at `at`; answers its entry, or 0 when there is no room. */
export function add(at: u32, length: u32, uses: u32, prefix: u32): u32 {
  const entry = take(BYTES + length)
  if (entry == 0) return 0
  memory.fill(entry, 0, BYTES)
  store<u32>(entry, length, LENGTH)
  store<u32>(entry, uses, USES)
  store<u32>(entry, prefix, PREFIX)
  memory.copy(entry + BYTES, at, length)
  let slot = hash(at, length)
  while (load<u32>(slots + slot * 4) != 0) slot = (slot + 1) & (SLOTS - 1)
  store<u32>(slots + slot * 4, entry)
  return entry
}

/** Remembers what a name declared: `most` is the room that is kept for its value. */
export function declared(entry: u32, at: u32, length: u32, most: u32, uri: u32): void {
  if (load<u32>(entry, DECLARED) == 0) store<u32>(entry, take(most), DECLARED)
  const kept = load<u32>(entry, DECLARED)
  store<u32>(entry, kept == 0 || length > most ? 0 : IS_DECLARED, USES)
  if (load<u32>(entry, USES) == 0) return
  memory.copy(kept, at, length)
  store<u32>(entry, length, DECLARED_BYTES)
  store<u32>(entry, uri, DECLARED_URI)
}

/** Forgets all names. */
export function forget(): void {
  memory.fill(slots, 0, SLOTS * 4)
  free = <u32>entries
}

/** Elements of this name are never told of in this place. */
export function ignore(entry: u32, place: u32): void {
  store<u64>(entry, load<u64>(entry, IGNORED) | ((<u64>1) << (<u64>place)), IGNORED)
}

/** Room, with sixteen bytes behind it that may be read; 0: there is none. */
function take(bytes: u32): u32 {
  const size = (bytes + 31) & ~15
  if (free + size > ENTRIES_END) return 0
  free += size
  return free - size
}

/** The entry of the name that is these bytes; 0: none. */
@inline
export function named(at: u32, length: u32): u32 {
  let slot = hash(at, length)
  let entry = load<u32>(slots + slot * 4)
  while (entry != 0) {
    if (load<u32>(entry, LENGTH) == length && same(entry + BYTES, at, length)) break
    slot = (slot + 1) & (SLOTS - 1)
    entry = load<u32>(slots + slot * 4)
  }
  return entry
}

/** The entry of the name that stands at `at`, up to what ends it; 0: none. */
export function nameAt(at: u32): u32 {
  return named(at, delimiter(at) - at)
}

@inline
function hash(at: u32, length: u32): u32 {
  let head = load<u64>(at)
  if (length < 8) head &= ((<u64>1) << (<u64>(length * 8))) - 1
  else head ^= rotl<u64>(load<u64>(at + length - 8), 29)
  return <u32>((head * 0x9e3779b97f4a7c15) >> 52)
}

@inline
export function same(a: u32, b: u32, length: u32): bool {
  while (length > 16) {
    if (i8x16.bitmask(i8x16.eq(v128.load(a), v128.load(b))) != 0xffff) return false
    a += 16
    b += 16
    length -= 16
  }
  const wanted = (1 << length) - 1
  return (i8x16.bitmask(i8x16.eq(v128.load(a), v128.load(b))) & wanted) == wanted
}

/** What ends a name: white space, `=`, `/`, `>`; all below them too, which no name may have. */
@inline
export function delimiter(from: u32): u32 {
  let at = from
  while (true) {
    const bytes = v128.load(at)
    const found = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.le_u(bytes, i8x16.splat(SPACE)), i8x16.eq(bytes, i8x16.splat(SLASH))),
        v128.or(i8x16.eq(bytes, i8x16.splat(EQUALS)), i8x16.eq(bytes, i8x16.splat(GT))),
      ),
    )
    if (found != 0) return at + ctz(found)
    at += 16
    if (at - from > 1_024) return at
  }
}
