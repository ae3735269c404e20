import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { MOST_ENTRIES } from '../../../src/feed/entries.ts'
import { FIELDS, type Field } from '../../../src/feed/field-paths.ts'
import { PostingTally } from '../../../src/feed/posting-tally.ts'
import { PostingValues } from '../../../src/feed/posting-values.ts'
import { contentOf, Folder, readDocument } from '../../helpers/feeds.ts'

const at = (field: Field) => ({ field: FIELDS.indexOf(field), rank: 0, written: field })

describe('long values', () => {
  it('keep only their first 1,000 characters in memory', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const heap = () => {
      collect()
      return process.memoryUsage().heapUsed
    }
    const tally = new PostingTally()
    const values = new PostingValues()
    const before = heap()

    for (let i = 0; i < 200; i++) {
      values.clear()
      values.put(at('externalCampaignId'), `${i} ${'€'.repeat(50_000)}`)
      tally.add(values, i)
    }
    const kept = heap() - before

    expect(Object.keys(tally.finish().externalCampaignIds)).toHaveLength(200)
    // The limit allows 200 values of 1,000 two-byte characters, but not of 50,000.
    expect(kept).toBeLessThan(10_000_000)
  })
})

describe('a feed of more postings than an index can hold', () => {
  it('has unknown duplicates, no index and a warning; a feed of exactly the limit has known duplicates and an index', () => {
    const tally = new PostingTally()
    const values = new PostingValues()
    const add = (n: number) => {
      values.clear()
      values.put(at('id'), `R-${n}`)
      tally.add(values, n)
    }
    for (let n = 0; n < MOST_ENTRIES; n++) add(n)
    const fits = tally.finish()
    add(MOST_ENTRIES)

    expect(fits).toMatchObject({ duplicates: 0, warnings: [], index: { count: MOST_ENTRIES } })
    expect(tally.finish()).toMatchObject({
      postings: 1_000_001,
      duplicates: null,
      index: null,
      warnings: ['more than 1,000,000 postings; changes and duplicate ids are not counted'],
    })
  })

  it('has known duplicates, with a warning, if it repeats a few ids, but no index', () => {
    const tally = new PostingTally()
    const page = Array.from({ length: 100 }, (_, n) => {
      const values = new PostingValues()
      values.put(at('id'), `R-${n}`)
      return values
    })
    for (let n = 0; n < MOST_ENTRIES + 50; n++) tally.add(page[n % 100] as PostingValues, n)
    const { duplicates, index, warnings } = tally.finish()

    expect({ duplicates, index }).toEqual({ duplicates: 999_950, index: null })
    expect(warnings).toEqual([
      'more than 1,000,000 postings; changes are not counted',
      '999,950 postings with the id of another posting, such as "R-0", "R-1", "R-2"',
    ])
  })
})

describe('warnings', () => {
  const feed = (ids: string[]) =>
    `<s>${ids.map((id) => `<job><id>${id}</id><t/></job>`).join('')}</s>`

  it('report ids that are used twice, with up to three examples of at most 40 characters', async () => {
    expect((await contentOf(feed(['a', 'b', 'a', 'c', 'a', 'b']))).warnings).toEqual([
      '3 postings with the id of another posting, such as "a", "b"',
    ])
    expect((await contentOf(feed([...'abcdabcd']))).warnings[0]).toMatch(
      /^4 postings .*such as "a", "b", "c"$/,
    )
    expect((await contentOf(feed(['x'.repeat(500), 'x'.repeat(500)]))).warnings[0]).toContain(
      `"${'x'.repeat(40)}…"`,
    )
  })

  it('report that some postings have no id, that no posting has an id, or that no posting has any field', async () => {
    expect((await contentOf(feed(['a', '']))).warnings).toEqual(['1 posting without an id'])
    expect((await contentOf(feed(['', '']))).warnings).toEqual([
      'no field was found, so the path of the postings might be wrong: name it in feeds.records',
    ])
    const named = feed(['', '']).replaceAll('<job>', '<job><title>Cook</title>')
    expect((await contentOf(named)).warnings).toEqual([
      "no posting has an id; name the id's path in fields.id",
    ])
  })

  it('report ids that are used twice even if other ids are missing; an index adds equal postings without ids', async () => {
    using folder = new Folder()
    const document = feed(['a', 'a', 'b', '', ''])

    const { warnings } = await contentOf(document)
    const indexed = await readDocument(document, {}, { indexTo: join(folder.path, 'index') })

    expect(warnings).toEqual([
      '1 posting with the id of another posting, such as "a"',
      '2 postings without an id',
    ])
    expect(indexed).toMatchObject({ verdict: { content: { warnings, duplicates: 2 } } })
  })

  it('report a byte order mark and an encoding that is not UTF-8', async () => {
    expect((await contentOf(`\ufeff${feed(['a'])}`)).warnings).toEqual([
      expect.stringContaining('byte order mark'),
    ])
    expect(
      (await contentOf(`<?xml version="1.0" encoding="cp1252"?>${feed(['a'])}`)).warnings,
    ).toEqual(['the file is encoded in windows-1252; only UTF-8 works with every reader'])
  })

  it('report more than 10,000 campaign ids, of which only 10,000 are counted', async () => {
    const jobs = Array.from(
      { length: 10_050 },
      (_, i) => `<job><id>${i}</id><campaignid>${i}</campaignid></job>`,
    )

    const content = await contentOf(`<s>${jobs.join('')}</s>`)

    expect(Object.keys(content.externalCampaignIds)).toHaveLength(10_000)
    expect(content.warnings).toEqual(['more than 10,000 campaign ids; the rest are not counted'])
  })
})
