import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/xml/limits.ts'
import { NameTable, NONE } from '../../../src/xml/names.ts'

/** mixed is the hash of the table without its secret, as an attacker would compute it. */
function mixed(hash: number, word: number): number {
  const product = Math.imul(hash ^ word, 0x9e3779b1)
  return product ^ (product >>> 15)
}

/** colliding returns names of 1,000 bytes that differ only in the last four, and whose hashes share the lowest bits. */
function colliding(count: number): Buffer[] {
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

/** lookUp stores the names, then finds each name eight times and returns the CPU time of these searches in ms. */
function lookUp(names: readonly Buffer[]): number {
  const table = new NameTable(LIMITS.name)
  const bytes = Buffer.concat([...names, Buffer.alloc(4)])
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const numbers = () => names.map((_, n) => table.find(view, n * 1_000, (n + 1) * 1_000, NONE))
  expect(new Set(numbers()).size).toBe(names.length)

  const before = process.cpuUsage()
  for (let turn = 0; turn < 8; turn++) numbers()
  const { user } = process.cpuUsage(before)

  expect(table.count).toBe(names.length)
  return user / 1_000
}

describe('the table of names', () => {
  it('finds names that an attacker made to collide in at most 20 times the time of other names', () => {
    const others = Array.from({ length: 1_500 }, (_, n) => Buffer.from(`${n}`.padStart(1_000, 'x')))
    const plain = Math.max(lookUp(others), 10)

    // With collisions, the search would take a hundred times as long.
    expect(lookUp(colliding(1_500))).toBeLessThan(20 * plain)
  })
})
