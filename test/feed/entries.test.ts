import { describe, expect, it } from 'vitest'
import { Entries, WORDS } from '../../src/feed/entries.ts'
import { sortEntries } from '../../src/feed/entry-sort.ts'

/** Pairs of words whose bits an attacker chose: nothing but the high half, or its highest bits, differ. */
const MADE: Record<string, (n: number) => [high: number, low: number]> = {
  'the same low half': (n) => [n, 7],
  'the same high half': (n) => [7, n],
  'the same low bits in both': (n) => [(n >>> 9) << 22, (n & 511) << 23],
  'each half the other': (n) => [n, n],
}

describe('the table of ids', () => {
  it.each(Object.keys(MADE))('counts ids that were made to have %s in a moment', (which) => {
    const entries = new Entries(false)
    const made = MADE[which] as (n: number) => [number, number]

    // A search from slot to slot would take minutes.
    for (let n = 0; n < 250_000; n++) {
      const [high, low] = made(n)
      entries.add({ high, low }, 0, true)
    }

    expect([entries.count, entries.repeated]).toEqual([250_000, 0])
  })
})

describe('sorting the entries', () => {
  it('takes a moment also where the largest was put into the middle of each part', () => {
    const count = 200_000
    const entries = new Uint32Array(count * WORDS)
    const places = Array.from({ length: count }, (_, n) => n)
    for (let last = count - 1; last >= 0; last--) {
      const middle = last >>> 1
      entries[(places[middle] as number) * WORDS] = last
      places[middle] = places[last] as number
    }

    sortEntries(entries)

    expect(entries.every((word, n) => word === (n % WORDS === 0 ? n / WORDS : 0))).toBe(true)
  })
})
