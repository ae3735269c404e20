// What stands in for the compiled skimmer where the processor cannot run it (no SSE4.1, as some virtual
// machines have it): it knows no names and passes over nothing, so that the readers read everything.

import type { SkimmerParts } from './skimmer.ts'

const TABLE_BYTES = 4 * 1_024 * 1_024

/** `input`: bytes of the room for the document. */
export function withoutSimd(input: number): SkimmerParts {
  const buffer = new ArrayBuffer(input + TABLE_BYTES)
  const bytes = new Uint8Array(buffer)
  let free = 0
  const take = (size: number) => {
    const value = free
    free += size
    return { value }
  }
  return {
    memory: { buffer },
    INPUT: take(input),
    STATE: take(64),
    OPEN: take(8_192),
    OPENED_AT: take(8_192),
    NAMESPACE_OF: take(524_288),
    BOUND_PREFIX: take(262_144),
    BOUND_DEPTH: take(262_144),
    BOUND_BEFORE: take(262_144),
    BINDINGS: take(64),
    skim: (from) => from,
    firstForbidden(from, to) {
      let at = from
      while (at < to && !isForbidden(bytes, at)) at++
      return at
    },
    add: () => 0,
    nameAt: () => 0,
    ignore() {},
    declared() {},
    forget() {},
  }
}

function isForbidden(bytes: Uint8Array, at: number): boolean {
  const byte = bytes[at] as number
  if (byte < 0x20) return byte !== 0x9 && byte !== 0xa && byte !== 0xd
  return byte === 0xef && bytes[at + 1] === 0xbf && (bytes[at + 2] as number) >= 0xbe
}
