// What stands in for the compiled skimmer where the processor cannot run it (no SSE4.1, as some virtual
// machines have it): it knows no names and passes over nothing, so that the readers read everything.

import {
  type Addresses,
  MOST_BINDINGS,
  MOST_OPEN,
  MOST_PREFIXES,
  ROOM,
  type SkimmerParts,
} from './skimmer-parts.ts'

/** More than `State` and the number of bindings take. */
const STATE_BYTES = 64

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
    ...hashOf(bytes),
  }
}

function isForbidden(bytes: Uint8Array, at: number): boolean {
  const byte = bytes[at] as number
  if (byte < 0x20) return byte !== 0x9 && byte !== 0xa && byte !== 0xd
  return byte === 0xef && bytes[at + 1] === 0xbf && (bytes[at + 2] as number) >= 0xbe
}

const STRIPE = 64
const PRIME_1 = 0x9e3779b1
const PRIME_2 = 0x85ebca77
const PRIME_3 = 0xc2b2ae3d

/** The same hash as that of assembly/content.ts. */
function hashOf(
  bytes: Uint8Array<ArrayBuffer>,
): Pick<SkimmerParts, 'beginContent' | 'takeContent' | 'contentHash'> {
  const lanes = new Uint32Array(STRIPE / 4)
  const stripe = new Uint8Array(STRIPE)
  const words = new DataView(stripe.buffer)
  let length = 0
  const takeStripe = () => {
    for (let lane = 0; lane < lanes.length; lane++) {
      const word = words.getUint32(lane * 4, true)
      const sum = ((lanes[lane] as number) + Math.imul(word, PRIME_2)) | 0
      lanes[lane] = Math.imul(turned(sum, 13), PRIME_1)
    }
  }
  return {
    beginContent() {
      lanes.fill(PRIME_1)
      length = 0
    },
    takeContent(from, to) {
      for (let at = from; at < to; ) {
        const held = length % STRIPE
        const taken = Math.min(STRIPE - held, to - at)
        stripe.set(bytes.subarray(at, at + taken), held)
        at += taken
        length += taken
        if (length % STRIPE === 0) takeStripe()
      }
    },
    contentHash() {
      const held = length % STRIPE
      if (held !== 0) {
        stripe.fill(0, held)
        takeStripe()
      }
      let hash = length | 0
      for (const lane of lanes) hash = Math.imul(turned(hash ^ lane, 17), PRIME_3)
      hash = Math.imul(hash ^ (hash >>> 15), PRIME_2)
      hash = Math.imul(hash ^ (hash >>> 13), PRIME_3)
      return hash ^ (hash >>> 16)
    },
  }
}

function turned(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}
