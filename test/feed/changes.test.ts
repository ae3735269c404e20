import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GuardedVersion, type GuardLimits, guard } from '../../src/feed/guards.ts'
import { compareIndexes } from '../../src/feed/index-changes.ts'
import { hash64, PostingIndexBuilder } from '../../src/feed/posting-index.ts'
import { Folder, readDocument } from './helpers/feeds.ts'

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
function indexOf(...jobs: string[]): string {
  const indexTo = newPath()
  const document = `<s>${jobs.map((job) => `<job>${job}</job>`).join('\n')}<job><id>last</id></job></s>`
  const { verdict } = readDocument(document, {}, {}, { indexTo })
  if (verdict.kind !== 'ok') throw new Error(verdict.reason)
  return indexTo
}

const nurse = '<id>1</id><title>Nurse</title>'
const cook = '<id>2</id><title>Cook</title>'

describe('changes between two versions', () => {
  it('counts postings that were added, removed and changed, in any order', () => {
    const older = indexOf(nurse, cook, '<id>3</id>')
    const newer = indexOf('<id>4</id>', cook.replace('Cook', 'Chef'), '<id>5</id>', nurse)

    expect(compareIndexes(older, newer)).toEqual({ added: 2, removed: 1, changed: 1 })
    expect(compareIndexes(newer, older)).toEqual({ added: 1, removed: 2, changed: 1 })
    expect(compareIndexes(older, older)).toEqual({ added: 0, removed: 0, changed: 0 })
  })

  it('counts a posting that is written in another way', () => {
    const older = indexOf(nurse)
    for (const title of [
      '<title>Nurse </title>',
      '\n<title>Nurse</title>',
      '<title>Nurse</title><!---->',
    ]) {
      const newer = indexOf(nurse.replace('<title>Nurse</title>', title))
      expect(compareIndexes(older, newer)).toEqual({ added: 0, removed: 0, changed: 1 })
    }
  })

  it('notices a change in an attribute, a name and the end of a long text', () => {
    const long = (end: string) => `<id>1</id><d>${'x'.repeat(100_000)}${end}</d>`
    for (const [a, b] of [
      ['<id>1</id><a b="c"/>', '<id>1</id><a b="d"/>'],
      ['<id>1</id><a/>', '<id>1</id><b/>'],
      [long('y'), long('z')],
    ] as const) {
      expect(compareIndexes(indexOf(a), indexOf(b))).toEqual({ added: 0, removed: 0, changed: 1 })
    }
  })

  it('pairs postings that share an id, and takes the content for the id where there is none', () => {
    const twice = indexOf('<id>1</id><a/>', '<id>1</id><b/>')

    expect(compareIndexes(twice, indexOf('<id>1</id><b/>'))).toEqual({
      added: 0,
      removed: 1,
      changed: 0,
    })
    expect(compareIndexes(twice, indexOf('<id>1</id><b/>', '<id>1</id><c/>'))).toEqual({
      added: 0,
      removed: 0,
      changed: 1,
    })
    expect(compareIndexes(indexOf('<t>x</t>'), indexOf('<t>y</t>'))).toEqual({
      added: 1,
      removed: 1,
      changed: 0,
    })
  })

  it('is right for many postings', () => {
    const build = (from: number, to: number) => {
      const path = newPath()
      using builder = new PostingIndexBuilder(folder.path)
      for (let i = from; i < to; i++) builder.add(...hash64(`id-${i}`), i % 1000 === 0 ? from : i)
      expect(builder.finish(path)).toEqual({ duplicates: 0 })
      return path
    }

    expect(compareIndexes(build(0, 50_000), build(10_000, 70_000))).toEqual({
      added: 20_000,
      removed: 10_000,
      changed: 40,
    })
  })

  it('is not known where an index is missing', () => {
    expect(compareIndexes(newPath(), indexOf(nurse))).toBeNull()
    expect(compareIndexes(indexOf(nurse), newPath())).toBeNull()
  })
})

describe('guards', () => {
  const limits: GuardLimits = { maxDropPercent: 50, minPostings: 1 }
  const version = (postings: number, more: Partial<GuardedVersion> = {}) => ({
    root: 'source',
    records: postings === 0 ? null : '/source/job',
    postings,
    ...more,
  })
  const outcome = (
    newer: number,
    older: GuardedVersion | null,
    more: Partial<GuardLimits> = {},
  ) => {
    const result = guard({ ...version(newer), root: 'source' }, older, { ...limits, ...more })
    return result.kind === 'held' ? result.guard : 'pass'
  }

  it('hold a feed without postings, also the first one', () => {
    expect(outcome(0, null)).toBe('empty')
    expect(outcome(0, version(100))).toBe('empty')
    expect(outcome(0, null, { minPostings: 0 })).toBe('empty')
  })

  it('hold fewer postings than the least', () => {
    expect(outcome(9, null, { minPostings: 10 })).toBe('min-postings')
    expect(outcome(10, null, { minPostings: 10 })).toBe('pass')
  })

  it('hold a drop of the given percentage or more against the last uploaded version', () => {
    expect(outcome(50, version(100))).toBe('drop')
    expect(outcome(51, version(100))).toBe('pass')
    expect(outcome(150, version(100))).toBe('pass')
    expect(outcome(1, null)).toBe('pass')
    expect(outcome(1, version(100), { maxDropPercent: 100 })).toBe('pass')
    expect(outcome(100, version(100), { maxDropPercent: 0 })).toBe('pass')
    expect(outcome(99, version(100), { maxDropPercent: 0 })).toBe('drop')
  })

  it('hold another root or record path, but not against a version without one', () => {
    expect(outcome(100, version(100, { root: 'rss' }))).toBe('shape')
    expect(outcome(100, version(100, { records: '/source/jobs/job' }))).toBe('shape')
    expect(outcome(100, version(0))).toBe('pass')
    expect(outcome(100, version(100, { root: null }))).toBe('pass')
  })

  it('say what happened and what to do', () => {
    expect(
      guard({ root: 'source', records: '/source/job', postings: 40 }, version(1200), limits),
    ).toEqual({
      kind: 'held',
      guard: 'drop',
      reason: 'the feed dropped from 1,200 postings to 40 (96 %); guards.maxDropPercent is 50',
      hint: 'If this is right, release it; otherwise correct the export and drop the feed again.',
    })
  })
})
