// The hash by which a change of a posting is noticed: the same wherever it is computed and however its
// bytes come, another one for any other bytes.

import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../src/feed/limits.ts'
import { Skimmer } from '../../src/feed/skimmer.ts'
import { withoutSimd } from '../../src/feed/without-simd.ts'

/** Hashes the bytes in pieces that begin at `cuts`. */
type Hash = (bytes: Uint8Array, cuts?: readonly number[]) => number

const compiled: Hash = (bytes, cuts) => {
  const skimmer = Skimmer.take(LIMITS)
  skimmer.room.set(bytes)
  skimmer.beginContent()
  inPieces(bytes, cuts, (from, to) => skimmer.takeContent(from, to))
  skimmer.giveBack()
  return skimmer.contentHash()
}

const standIn: Hash = (bytes, cuts) => {
  const { memory, INPUT, beginContent, takeContent, contentHash } = withoutSimd()
  const begin = INPUT.value
  new Uint8Array(memory.buffer, begin).set(bytes)
  beginContent()
  inPieces(bytes, cuts, (from, to) => takeContent(begin + from, begin + to))
  return contentHash() >>> 0
}

function inPieces(
  { length }: Uint8Array,
  cuts: readonly number[] = [],
  take: (from: number, to: number) => void,
): void {
  const ends = [...cuts, length]
  for (const [n, end] of ends.entries()) take(ends[n - 1] ?? 0, end)
}

describe('the hash of a posting', () => {
  it('is the same with and without the instructions that the compiled one needs', () => {
    for (const length of [0, 1, 63, 64, 65, 127, 128, 4_000]) {
      const bytes = randomBytes(length)
      expect(standIn(bytes)).toBe(compiled(bytes))
    }
  })

  it('is the same however its bytes come', () => {
    const bytes = randomBytes(300)
    const whole = compiled(bytes)

    for (let first = 0; first <= 140; first++) {
      const cuts = [first, first + (first % 70)]
      expect([compiled(bytes, cuts), standIn(bytes, cuts)]).toEqual([whole, whole])
    }
  })

  it('is another one for any bit and any length', () => {
    const bytes = Buffer.alloc(200)
    const hashes = new Set([compiled(bytes)])
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const other = Buffer.from(bytes)
      other[bit >> 3] = 1 << (bit & 7)
      hashes.add(compiled(other))
    }
    for (let length = 0; length < bytes.length; length++) {
      hashes.add(compiled(bytes.subarray(0, length)))
    }

    expect(hashes.size).toBe(1 + 200 * 8 + 200)
  })

  it('is another one where words, lanes or stripes change places', () => {
    const bytes = randomBytes(256)
    const swapped = [4, 16, 64].map((size) =>
      Buffer.concat([
        bytes.subarray(size, 2 * size),
        bytes.subarray(0, size),
        bytes.subarray(2 * size),
      ]),
    )

    expect(new Set([bytes, ...swapped].map((each) => compiled(each))).size).toBe(4)
  })
})
