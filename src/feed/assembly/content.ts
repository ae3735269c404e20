// A hash of the bytes of a posting, by which a change of it is noticed: xxHash's 32-bit rounds, in sixteen
// lanes instead of four, of which sixteen bytes of each instruction are four. No secret: whoever wants two
// postings with one hash can have them, and deceives only the count of his own changes.

const STRIPE: u32 = 64
const PRIME_1: u32 = 0x9e3779b1
const PRIME_2: u32 = 0x85ebca77
const PRIME_3: u32 = 0xc2b2ae3d

const lanes: u32 = <u32>memory.data(64, 16)
/** The beginning of a stripe that is not there as a whole. */
const cut: u32 = <u32>memory.data(64, 16)
let length: u32 = 0

export function beginContent(): void {
  for (let lane: u32 = 0; lane < STRIPE; lane += 4) store<u32>(lanes + lane, PRIME_1)
  length = 0
}

/** The next bytes, however they are cut. */
export function takeContent(from: u32, to: u32): void {
  const held = length % STRIPE
  let at = from
  length += to - from
  if (held != 0) {
    const wanted = min(STRIPE - held, to - from)
    memory.copy(cut + held, at, wanted)
    at += wanted
    if (held + wanted < STRIPE) return
    takeStripes(cut, cut + STRIPE)
  }
  const end = at + ((to - at) & ~(STRIPE - 1))
  takeStripes(at, end)
  memory.copy(cut, end, to - end)
}

/** The hash of all that was taken. */
export function contentHash(): u32 {
  const held = length % STRIPE
  if (held != 0) {
    memory.fill(cut + held, 0, STRIPE - held)
    takeStripes(cut, cut + STRIPE)
  }
  let hash = length
  for (let lane: u32 = 0; lane < STRIPE; lane += 4) {
    hash = rotl<u32>(hash ^ load<u32>(lanes + lane), 17) * PRIME_3
  }
  hash = (hash ^ (hash >> 15)) * PRIME_2
  hash = (hash ^ (hash >> 13)) * PRIME_3
  return hash ^ (hash >> 16)
}

function takeStripes(from: u32, to: u32): void {
  let a = v128.load(lanes)
  let b = v128.load(lanes, 16)
  let c = v128.load(lanes, 32)
  let d = v128.load(lanes, 48)
  for (let at = from; at < to; at += STRIPE) {
    a = round(a, v128.load(at))
    b = round(b, v128.load(at, 16))
    c = round(c, v128.load(at, 32))
    d = round(d, v128.load(at, 48))
  }
  v128.store(lanes, a)
  v128.store(lanes, b, 16)
  v128.store(lanes, c, 32)
  v128.store(lanes, d, 48)
}

@inline
function round(lane: v128, words: v128): v128 {
  const sum = i32x4.add(lane, i32x4.mul(words, i32x4.splat(PRIME_2)))
  const turned = v128.or(i32x4.shl(sum, 13), i32x4.shr_u(sum, 19))
  return i32x4.mul(turned, i32x4.splat(PRIME_1))
}
