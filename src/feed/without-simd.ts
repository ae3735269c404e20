// What stands in for the compiled skimmer where the processor cannot run it (no SSE4.1, as some virtual
// machines have it): it knows no names and passes over nothing, so that the readers read everything.

import {
  type Addresses,
  MOST_BINDINGS,
  MOST_OPEN,
  MOST_PREFIXES,
  ROOM,
  type SkimmerParts,
  STATE_BYTES,
} from './skimmer-parts.ts'

const BYTES: Readonly<Record<keyof Addresses, number>> = {
  INPUT: ROOM,
  STATE: STATE_BYTES,
  OPEN: MOST_OPEN * Int32Array.BYTES_PER_ELEMENT,
  OPENED_AT: MOST_OPEN * Float64Array.BYTES_PER_ELEMENT,
  NAMESPACE_OF: MOST_PREFIXES * Int32Array.BYTES_PER_ELEMENT,
  BOUND_PREFIX: MOST_BINDINGS * Int32Array.BYTES_PER_ELEMENT,
  BOUND_DEPTH: MOST_BINDINGS * Int32Array.BYTES_PER_ELEMENT,
  BOUND_BEFORE: MOST_BINDINGS * Int32Array.BYTES_PER_ELEMENT,
  BINDINGS: STATE_BYTES,
}

export function withoutSimd(): SkimmerParts {
  let end = 0
  const places = Object.entries(BYTES).map(([name, bytes]) => {
    const value = end
    end += bytes
    return [name, { value }]
  })
  const buffer = new ArrayBuffer(end)
  const bytes = new Uint8Array(buffer)
  return {
    memory: { buffer },
    ...(Object.fromEntries(places) as Addresses),
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
