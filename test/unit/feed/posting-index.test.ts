import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Entries } from '../../../src/feed/entries.ts'
import type { FieldPaths } from '../../../src/feed/port.ts'
import { compareIndexes, indexParts } from '../../../src/feed/posting-index.ts'
import { hashText } from '../../../src/feed/posting-values.ts'
import {
  type Baseline,
  type GuardedVersion,
  type GuardLimits,
  guard,
} from '../../../src/pipeline/guards.ts'
import { Folder, readDocument } from '../../helpers/feeds.ts'

let folder: Folder
let files = 0

beforeAll(() => {
  folder = new Folder()
})

afterAll(() => {
  folder[Symbol.dispose]()
})

const newPath = () => join(folder.path, `${files++}.index`)

/** The path of the index file. */
const indexOf = (...jobs: string[]) => indexBy({}, ...jobs)

async function indexBy(fields: FieldPaths, ...jobs: string[]): Promise<string> {
  const indexTo = newPath()
  const document = `<s>${jobs.map((job) => `<job>${job}</job>`).join('\n')}<job><id>last</id></job></s>`
  const { verdict } = await readDocument(document, { fields }, {}, { indexTo })
  if (verdict.kind !== 'ok') throw new Error(verdict.reason)
  return indexTo
}

const nurse = '<id>1</id><title>Nurse</title>'
const cook = '<id>2</id><title>Cook</title>'

describe('changes between two versions', () => {
  it('counts postings that were added, removed and changed, in any order', async () => {
    const older = await indexOf(nurse, cook, '<id>3</id>')
    const newer = await indexOf('<id>4</id>', cook.replace('Cook', 'Chef'), '<id>5</id>', nurse)

    expect(compareIndexes(older, newer)).toEqual({ added: 2, removed: 1, changed: 1 })
    expect(compareIndexes(newer, older)).toEqual({ added: 1, removed: 2, changed: 1 })
    expect(compareIndexes(older, older)).toEqual({ added: 0, removed: 0, changed: 0 })
  })

  it('counts a posting that is written in another way', async () => {
    const older = await indexOf(nurse)
    for (const title of [
      '<title>Nurse </title>',
      '\n<title>Nurse</title>',
      '<title>Nurse</title><!---->',
    ]) {
      const newer = await indexOf(nurse.replace('<title>Nurse</title>', title))
      expect(compareIndexes(older, newer)).toEqual({ added: 0, removed: 0, changed: 1 })
    }
  })

  it('counts a change in an attribute, a name and the end of a long text', async () => {
    const long = (end: string) => `<id>1</id><d>${'x'.repeat(100_000)}${end}</d>`
    for (const [a, b] of [
      ['<id>1</id><a b="c"/>', '<id>1</id><a b="d"/>'],
      ['<id>1</id><a/>', '<id>1</id><b/>'],
      [long('y'), long('z')],
    ] as const) {
      expect(compareIndexes(await indexOf(a), await indexOf(b))).toEqual({
        added: 0,
        removed: 0,
        changed: 1,
      })
    }
  })

  it('pairs postings that share an id, and takes the content for the id where there is none', async () => {
    const twice = await indexOf('<id>1</id><a/>', '<id>1</id><b/>')

    expect(compareIndexes(twice, await indexOf('<id>1</id><b/>'))).toEqual({
      added: 0,
      removed: 1,
      changed: 0,
    })
    expect(compareIndexes(twice, await indexOf('<id>1</id><b/>', '<id>1</id><c/>'))).toEqual({
      added: 0,
      removed: 0,
      changed: 1,
    })
    expect(compareIndexes(await indexOf('<t>x</t>'), await indexOf('<t>y</t>'))).toEqual({
      added: 1,
      removed: 1,
      changed: 0,
    })
  })

  it('is right for many postings', () => {
    const build = (from: number, to: number) => {
      const path = newPath()
      const entries = new Entries(true)
      for (let i = from; i < to; i++) {
        entries.add(hashText(`id-${i}`), i % 1000 === 0 ? from : i, true)
      }
      expect(entries.repeated).toBe(0)
      writeFileSync(path, Buffer.concat([...indexParts(entries)]))
      return path
    }

    expect(compareIndexes(build(0, 50_000), build(10_000, 70_000))).toEqual({
      added: 20_000,
      removed: 10_000,
      changed: 40,
    })
  })

  it('is not known where the ids of the two were read from different fields', async () => {
    const byTitle = await indexBy({ id: 'title' }, nurse)
    const nothing = { added: 0, removed: 0, changed: 0 }

    expect(compareIndexes(await indexOf(nurse), byTitle)).toBeNull()
    expect(compareIndexes(byTitle, await indexBy({ id: 'title' }, nurse))).toEqual(nothing)
    expect(compareIndexes(await indexBy({ city: 'town' }, nurse), await indexOf(nurse))).toEqual(
      nothing,
    )
  })

  it('is not known where an index is missing', async () => {
    expect(compareIndexes(newPath(), await indexOf(nurse))).toBeNull()
    expect(compareIndexes(await indexOf(nurse), newPath())).toBeNull()
  })
})

describe('guards', () => {
  const limits: GuardLimits = {
    ...{ maxDropPercent: 50, minPostings: 1, maxShrinkPercent: 50, maxReplacedPercent: 90 },
  }
  const version = (postings: number, more: Partial<GuardedVersion> = {}): GuardedVersion => ({
    root: 'source',
    records: postings === 0 ? null : '/source/job',
    postings,
    bytes: postings * 1000,
    encoding: 'UTF-8',
    withoutId: 0,
    duplicates: 0,
    ...more,
  })
  const older = (postings: number, more: Partial<Baseline> = {}): Baseline => {
    return { id: 7, changes: null, ...version(postings), ...more }
  }
  const held = (
    newer: GuardedVersion,
    baselines: readonly Baseline[],
    more: Partial<GuardLimits> = {},
    turnovers: number[] = [],
  ) => {
    return guard(newer, baselines, { ...limits, ...more }, () => turnovers)?.guard ?? 'pass'
  }
  const outcome = (newer: number, baseline: Baseline | null, more: Partial<GuardLimits> = {}) =>
    held(version(newer), baseline === null ? [] : [baseline], more)

  it('hold a feed without postings, also the first one', () => {
    expect(outcome(0, null)).toBe('empty')
    expect(outcome(0, older(100))).toBe('empty')
    expect(outcome(0, null, { minPostings: 0 })).toBe('empty')
  })

  it('hold fewer postings than the least', () => {
    expect(outcome(9, null, { minPostings: 10 })).toBe('min-postings')
    expect(outcome(10, null, { minPostings: 10 })).toBe('pass')
  })

  it('hold a drop of the given percentage or more', () => {
    expect(outcome(50, older(100))).toBe('drop')
    expect(outcome(51, older(100))).toBe('pass')
    expect(outcome(150, older(100))).toBe('pass')
    expect(outcome(1, null)).toBe('pass')
    expect(outcome(1, older(100), { maxDropPercent: 100 })).toBe('pass')
    expect(outcome(100, older(100), { maxDropPercent: 0 })).toBe('pass')
    expect(outcome(99, older(100), { maxDropPercent: 0 })).toBe('drop')
  })

  it('hold a drop against any of the versions that it is compared with', () => {
    expect(held(version(350), [older(1000), older(600, { id: 8 })])).toBe('drop')
    expect(held(version(600), [older(1000), older(600, { id: 8 })])).toBe('pass')
  })

  it('hold another root or record path, but not against a version without one', () => {
    expect(outcome(100, older(100, { root: 'rss' }))).toBe('shape')
    expect(outcome(100, older(100, { records: '/source/jobs/job' }))).toBe('shape')
    expect(outcome(100, older(0, { records: null }))).toBe('pass')
    expect(outcome(100, older(100, { root: null }))).toBe('pass')
  })

  it('hold as many postings as before that have lost their ids, or are all the same', () => {
    const before = older(1000)

    expect(held(version(1000, { withoutId: 1000, duplicates: 999 }), [before])).toBe('missing-ids')
    expect(held(version(1000, { withoutId: 499 }), [before])).toBe('pass')
    expect(held(version(1000, { duplicates: 999 }), [before])).toBe('duplicate-ids')
    expect(held(version(1000, { duplicates: 999 }), [])).toBe('pass')
  })

  it('pass a feed that never had ids, or always had one id on several postings', () => {
    const without = { withoutId: 1000, duplicates: 20 }
    const shared = { duplicates: 400 }

    expect(held(version(900, { withoutId: 900 }), [older(1000, without)])).toBe('pass')
    expect(held(version(1000, shared), [older(1000, shared)])).toBe('pass')
  })

  it('hold postings that lost most of their bytes, whatever their number, but not of a few', () => {
    expect(held(version(100, { bytes: 49_000 }), [older(100)])).toBe('shrink')
    expect(held(version(100, { bytes: 50_000 }), [older(100)])).toBe('pass')
    expect(held(version(900, { bytes: 100_000 }), [older(100)])).toBe('shrink')
    expect(held(version(60, { bytes: 40_000 }), [older(100)])).toBe('pass')
    expect(held(version(100, { bytes: 49_000 }), [older(100, { encoding: 'UTF-16LE' })])).toBe(
      'pass',
    )
    expect(held(version(9, { bytes: 9 }), [older(9)])).toBe('pass')
    expect(held(version(100, { bytes: 9 }), [older(100)], { maxShrinkPercent: 100 })).toBe('pass')
  })

  it('hold postings that others took the place of, where the feed does not do so', () => {
    const renewed = older(1000, { changes: { added: 1000, removed: 950, changed: 0 } })

    expect(held(version(1000), [renewed], {}, [0.02, 0.1])).toBe('replaced')
    // Each day all postings are others; or nobody knows yet what is usual.
    expect(held(version(1000), [renewed], {}, [0.02, 1])).toBe('pass')
    expect(held(version(1000), [renewed], {}, [])).toBe('pass')
    expect(held(version(1000), [renewed], { maxReplacedPercent: 95 }, [0.02])).toBe('pass')
  })

  it('take no posting without an id for one that is gone: a date in it makes it another one', () => {
    const renewed = { changes: { added: 1000, removed: 1000, changed: 0 }, withoutId: 1000 }

    expect(held(version(1000, { withoutId: 1000 }), [older(1000, renewed)], {}, [0])).toBe('pass')
  })

  it('say what happened, compared with what, and what to do', () => {
    const reason = (newer: GuardedVersion, baseline: Baseline) =>
      guard(newer, [baseline], limits, () => [0])?.reason

    expect(guard(version(40), [older(1200)], limits)).toEqual({
      guard: 'drop',
      reason:
        'the feed dropped from 1,200 postings to 40 (96 %); guards.maxDropPercent is 50; compared with version 7',
      hint: 'If this is right, release it; otherwise correct the export and drop the feed again.',
    })
    expect(reason(version(1000, { withoutId: 1000 }), older(1000))).toBe(
      'the number of postings with an id fell from 1,000 to 0 (100 %), of 1,000 in all; guards.maxDropPercent is 50; compared with version 7',
    )
    expect(reason(version(1000, { duplicates: 999 }), older(1000))).toBe(
      'the number of different postings fell from 1,000 to 1 (99 %), of 1,000 in all; guards.maxDropPercent is 50; compared with version 7',
    )
    expect(reason(version(1000, { bytes: 9000 }), older(1000))).toBe(
      'the postings shrank from 1,000 bytes on average to 9 (99 %); guards.maxShrinkPercent is 50; compared with version 7',
    )
    const changes = { added: 990, removed: 990, changed: 0 }
    expect(reason(version(1000), older(1000, { changes }))).toBe(
      '990 of 1,000 postings were replaced by others (99 %), which this feed has not done lately; guards.maxReplacedPercent is 90; compared with version 7',
    )
  })
})
