import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { MOST_ENTRIES } from '../../../src/feed/entries.ts'
import { FIELDS } from '../../../src/feed/field-paths.ts'
import { PostingTally } from '../../../src/feed/posting-tally.ts'
import { PostingValues } from '../../../src/feed/posting-values.ts'

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
