import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareIndexes } from '../../src/feed/index-changes.ts'
import type { PostingChanges } from '../../src/feed/port.ts'
import { DistinctCount, PostingIndexBuilder } from '../../src/feed/posting-index.ts'
import { NoRoom } from '../../src/lib/no-room.ts'
import { Folder } from './helpers/feeds.ts'

type Entry = [high: number, low: number, content: number]

/** Few values, so that ids and contents meet; the largest, because words are unsigned. */
const word = fc.constantFrom(0, 1, 2, 2 ** 31, 2 ** 32 - 1)
const entries = fc.array(fc.tuple(word, word, word), { maxLength: 60 })

function writeIndex(path: string, postings: readonly Entry[], segment?: number): number {
  using folder = new Folder()
  using builder = new PostingIndexBuilder(folder.path, segment)
  for (const entry of postings) builder.add(...entry)
  const { duplicates } = builder.finish(path)
  expect(readdirSync(folder.path)).toEqual([])
  return duplicates
}

/** What must come out, counted in the plainest way. */
function changesBetween(older: readonly Entry[], newer: readonly Entry[]): PostingChanges {
  const changes = { added: 0, removed: 0, changed: 0 }
  for (const id of new Set([...older, ...newer].map(idOf))) {
    const left = older.filter((entry) => idOf(entry) === id).map(([, , content]) => content)
    const right = newer.filter((entry) => idOf(entry) === id).map(([, , content]) => content)
    for (const content of left.slice()) {
      if (!right.includes(content)) continue
      right.splice(right.indexOf(content), 1)
      left.splice(left.indexOf(content), 1)
    }
    const pairs = Math.min(left.length, right.length)
    changes.changed += pairs
    changes.removed += left.length - pairs
    changes.added += right.length - pairs
  }
  return changes
}

const idOf = ([high, low]: Entry) => `${high} ${low}`

describe('the posting index', () => {
  it('tells what changed, however often it had to put postings aside', () => {
    using folder = new Folder()
    const [older, newer] = [join(folder.path, 'older'), join(folder.path, 'newer')]
    let n = 0
    fc.assert(
      fc.property(entries, entries, fc.constantFrom(1, 3, 8, 1_000), (left, right, segment) => {
        n++
        writeIndex(older + n, left, segment)
        writeIndex(newer + n, right, segment)

        expect(compareIndexes(older + n, newer + n)).toEqual(changesBetween(left, right))
      }),
      { numRuns: 200 },
    )
  })

  it('is the same file and counts the same duplicates with and without postings put aside', () => {
    using folder = new Folder()
    const postings = Array.from({ length: 5_000 }, (_, i): Entry => {
      const id = Math.imul(i % 4_000, 2_654_435_761) >>> 0
      return [id, i % 4_000, i]
    })
    const [whole, parted] = [join(folder.path, 'whole'), join(folder.path, 'parted')]

    const duplicates = [writeIndex(whole, postings), writeIndex(parted, postings, 300)]

    expect(duplicates).toEqual([1_000, 1_000])
    expect(readFileSync(parted).equals(readFileSync(whole))).toBe(true)
  })

  it('reads as nothing when it is torn at any byte, or altered', () => {
    using folder = new Folder()
    const [file, other] = [join(folder.path, 'torn'), join(folder.path, 'other')]
    const postings: Entry[] = [
      [1, 2, 3],
      [2 ** 32 - 1, 0, 2 ** 32 - 1],
    ]
    writeIndex(file, postings)
    writeIndex(other, postings)
    const whole = readFileSync(file)
    expect(compareIndexes(file, other)).toEqual({ added: 0, removed: 0, changed: 0 })

    const answers: unknown[] = []
    for (let at = 0; at < whole.length; at++) {
      writeFileSync(file, whole)
      truncateSync(file, at)
      answers.push(compareIndexes(file, other))
      const altered = Buffer.from(whole)
      altered[at] = (altered[at] ?? 0) ^ 1
      writeFileSync(file, altered)
      answers.push(compareIndexes(other, file))
    }

    expect(answers.filter((answer) => answer !== null)).toEqual([])
  })

  it('says that there is no room where it cannot put postings aside', () => {
    using folder = new Folder()
    using builder = new PostingIndexBuilder(join(folder.path, 'missing'), 2)
    const fill = () => {
      for (let i = 0; i < 3; i++) builder.add(i, i, i)
    }

    expect(fill).toThrow(NoRoom)
  })
})

describe('a count of distinct strings', () => {
  it.each([
    ['in memory', undefined],
    ['put aside', 100],
    ['of which few are distinct, so that none is put aside', 20_000],
  ])('is exact, however often they come: %s', (_, segment) => {
    using folder = new Folder()
    using count = new DistinctCount(folder.path, segment)

    for (let i = 0; i < 100_000; i++) count.add(`R-${i % 7_000}`)

    expect(count.finish()).toBe(7_000)
  })
})
