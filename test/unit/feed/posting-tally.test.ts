import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Entries, MOST_ENTRIES } from '../../../src/feed/entries.ts'
import { FIELDS } from '../../../src/feed/field-paths.ts'
import type { PostingChanges } from '../../../src/feed/port.ts'
import { compareIndexes, indexParts } from '../../../src/feed/posting-index.ts'
import { PostingTally } from '../../../src/feed/posting-tally.ts'
import { hashText, PostingValues } from '../../../src/feed/posting-values.ts'
import { Folder } from '../../helpers/feeds.ts'

type Entry = [high: number, low: number, content: number]

/** Few values, so that ids and contents meet; the largest, because words are unsigned. */
const word = fc.constantFrom(0, 1, 2, 2 ** 31, 2 ** 32 - 1)
const entries = fc.array(fc.tuple(word, word, word), { maxLength: 60 })

function entriesOf(postings: readonly Entry[]): Entries {
  const all = new Entries(true)
  for (const [high, low, content] of postings) all.add({ high, low }, content, true)
  return all
}

const bytesOf = (all: Entries) => Buffer.concat([...indexParts(all)])

function writeIndex(path: string, postings: readonly Entry[]): void {
  writeFileSync(path, bytesOf(entriesOf(postings)))
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
  it('tells what changed', () => {
    using folder = new Folder()
    const [older, newer] = [join(folder.path, 'older'), join(folder.path, 'newer')]
    fc.assert(
      fc.property(entries, entries, (left, right) => {
        writeIndex(older, left)
        writeIndex(newer, right)

        expect(compareIndexes(older, newer)).toEqual(changesBetween(left, right))
      }),
      { numRuns: 200 },
    )
  })

  it('counts the postings that have the id of an earlier one, however many there are', () => {
    const postings = Array.from({ length: 5_000 }, (_, i): Entry => {
      const id = Math.imul(i % 4_000, 2_654_435_761) >>> 0
      return [id, i % 4_000, i]
    })

    const { count, repeated } = entriesOf(postings)

    expect({ count, repeated }).toEqual({ count: 5_000, repeated: 1_000 })
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
})

describe('a count of distinct strings', () => {
  it('is exact, however often they come', () => {
    const count = new Entries(false)

    for (let i = 0; i < 100_000; i++) count.add(hashText(`R-${i % 7_000}`), 0, false)

    expect(count.count).toBe(7_000)
  })
})

describe('long values', () => {
  it('are forgotten but for what counts of them', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const heap = () => {
      collect()
      return process.memoryUsage().heapUsed
    }
    const tally = new PostingTally()
    const values = new PostingValues()
    const before = heap()

    for (let i = 0; i < 500; i++) {
      values.clear()
      values.put(FIELDS.indexOf('externalCampaignId'), 0, `${i} ${'€'.repeat(100_000)}`)
      tally.add(values, i)
    }
    const kept = heap() - before

    expect(Object.keys(tally.finish().externalCampaignIds)).toHaveLength(500)
    // 500 times 1,000 characters of two bytes, and not 100,000.
    expect(kept).toBeLessThan(20_000_000)
  })
})

describe('a feed of more postings than an index can hold', () => {
  const tallyOf = (postings: number, ids = postings) => {
    const tally = new PostingTally()
    const values = new PostingValues()
    for (let i = 0; i < postings; i++) {
      values.clear()
      values.put(FIELDS.indexOf('id'), 0, `R-${i % ids}`)
      tally.add(values, i)
    }
    return tally.finish()
  }

  it('is counted, and said to have no known duplicates and no index', () => {
    const { postings, duplicates, index, warnings } = tallyOf(MOST_ENTRIES + 1)

    expect({ postings, duplicates, index, warnings }).toEqual({
      postings: 1_000_001,
      duplicates: null,
      index: null,
      warnings: ['more than 1,000,000 postings; changes and duplicate ids are not counted'],
    })
  })

  it('has known duplicates where they are of few ids, so that the guards see the same page again and again', () => {
    const { duplicates, index, warnings } = tallyOf(MOST_ENTRIES + 50, 100)

    expect({ duplicates, index }).toEqual({ duplicates: 999_950, index: null })
    expect(warnings).toEqual([
      'more than 1,000,000 postings; changes are not counted',
      '999,950 postings with an id that another one has, such as "R-0", "R-1", "R-2"',
    ])
  })

  it('is told apart from one that just fits', () => {
    const { duplicates, index, warnings } = tallyOf(MOST_ENTRIES)

    expect({ duplicates, warnings }).toEqual({ duplicates: 0, warnings: [] })
    expect(index?.count).toBe(MOST_ENTRIES)
  })
})
