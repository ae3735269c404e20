import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/xml/limits.ts'
import { NameTable, NONE } from '../../../src/xml/names.ts'

/** What a name's place in the table could be told from, were there no secret in it. */
function mixed(hash: number, word: number): number {
  const product = Math.imul(hash ^ word, 0x9e3779b1)
  return product ^ (product >>> 15)
}

/** Names of 1,000 bytes, different in the last four alone, of which the lowest bits of the hash are the same. */
function made(count: number): Buffer[] {
  const beginning = Buffer.alloc(996, 'x')
  let hash = 1_000
  for (let at = 0; at < beginning.length; at += 4) hash = mixed(hash, beginning.readInt32LE(at))
  const names: Buffer[] = []
  const end = Buffer.alloc(4)
  for (let n = 0; names.length < count; n++) {
    end.write(n.toString(36).padStart(4, '0'))
    if ((mixed(hash, end.readInt32LE()) & 1_023) === 7) names.push(Buffer.concat([beginning, end]))
  }
  return names
}

describe('the table of names', () => {
  it('finds names that were made to meet in one place in a moment', () => {
    const table = new NameTable(LIMITS.name)
    const names = made(1_500)
    const bytes = Buffer.concat([...names, Buffer.alloc(4)])
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const place = (n: number) => (n % names.length) * 1_000

    // A search from name to name would take minutes.
    const numbers = new Set<number>()
    for (let n = 0; n < 300_000; n++) {
      numbers.add(table.find(view, place(n), place(n) + 1_000, NONE))
    }

    expect(numbers.size).toBe(1_500)
    expect(table.count).toBe(1_500)
  })
})
