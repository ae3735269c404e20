import { describe, expect, it } from 'vitest'
import { Entries, NEW } from '../../../src/feed/entries.ts'
import { hashText } from '../../../src/feed/posting-values.ts'

/** ATTACKS are hashes with bits that an attacker chose, so that only a few bits differ. */
const ATTACKS: Record<string, (n: number) => [high: number, low: number]> = {
  'the same low half': (n) => [n, 7],
  'the same high half': (n) => [7, n],
  'the same low bits in both': (n) => [(n >>> 9) << 22, (n & 511) << 23],
  'two equal halves': (n) => [n, n],
}

describe('the table of ids', () => {
  it.each(Object.keys(ATTACKS))('counts quickly even ids that all have %s', (which) => {
    const entries = new Entries({ keepsContent: false, keepsRepeated: true })
    const attack = ATTACKS[which] as (n: number) => [number, number]

    // With a weak hash, the search from slot to slot would take minutes.
    for (let n = 0; n < 250_000; n++) {
      const [high, low] = attack(n)
      entries.add({ high, low }, 0)
    }

    expect([entries.count, entries.repeated]).toEqual([250_000, 0])
  })

  it('counts distinct ids exactly, even if each occurs many times', () => {
    const entries = new Entries({ keepsContent: false, keepsRepeated: false })

    for (let i = 0; i < 100_000; i++) entries.add(hashText(`R-${i % 7_000}`), 0)

    expect(entries.count).toBe(7_000)
  })

  it.each([0, 1, 16, 17, 4_096, 4_097, 20_000])('keeps %i ids in their order', (count) => {
    const entries = new Entries({ keepsContent: true, keepsRepeated: false })
    const all = Array.from({ length: count }, (_, n) => hashText(`R-${n}`))

    const found = all.map((hash, n) => entries.add(hash, n))

    expect(found.every((earlier) => earlier === NEW)).toBe(true)
    expect(all.map((hash) => entries.add(hash, 0))).toEqual(all.map((_, n) => n))
    const words = all.flatMap(({ high, low }, n) => [high | 0, low | 0, n])
    expect([...entries.parts()].flatMap((part) => [...part])).toEqual(words)
  })
})
