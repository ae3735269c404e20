import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PostingChanges } from '../../../src/domain/difference.ts'
import type { FieldPaths } from '../../../src/domain/mapping.ts'
import { Entries } from '../../../src/feed/entries.ts'
import { compareIndexes, indexParts } from '../../../src/feed/posting-index.ts'
import { hashText } from '../../../src/feed/posting-values.ts'
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

/** indexOf returns the path of the index file for these postings. */
const indexOf = (...jobs: string[]) => indexBy({}, ...jobs)

async function indexBy(fields: FieldPaths, ...jobs: string[]): Promise<string> {
  const indexTo = newPath()
  const document = `<s>${jobs.map((job) => `<job>${job}</job>`).join('\n')}<job><id>last</id></job></s>`
  const { verdict } = await readDocument(document, { fields }, { indexTo })
  if (verdict.kind !== 'ok') throw new Error(verdict.reason)
  return indexTo
}

const nurse = '<id>1</id><title>Nurse</title>'
const cook = '<id>2</id><title>Cook</title>'

type Entry = [high: number, low: number, content: number]

/** word has few values, so that ids and contents collide, and the largest value, because words are unsigned. */
const word = fc.constantFrom(0, 1, 2, 2 ** 31, 2 ** 32 - 1)
const entries = fc.array(fc.tuple(word, word, word), { maxLength: 60 })

function entriesOf(postings: readonly Entry[]): Entries {
  const all = new Entries({ keepsContent: true, keepsRepeated: true })
  for (const [high, low, content] of postings) all.add({ high, low }, content)
  return all
}

const bytesOf = (all: Entries) => Buffer.concat([...indexParts(all)])

function writeIndex(path: string, postings: readonly Entry[]): void {
  writeFileSync(path, bytesOf(entriesOf(postings)))
}

/** changesBetween counts the expected changes in the simplest way. */
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

describe('changes between two versions', () => {
  it('counts postings that were added, removed and changed, in any order', async () => {
    const older = await indexOf(nurse, cook, '<id>3</id>')
    const newer = await indexOf('<id>4</id>', cook.replace('Cook', 'Chef'), '<id>5</id>', nurse)

    expect(compareIndexes(older, newer)).toEqual({ added: 2, removed: 1, changed: 1 })
    expect(compareIndexes(newer, older)).toEqual({ added: 1, removed: 2, changed: 1 })
    expect(compareIndexes(older, older)).toEqual({ added: 0, removed: 0, changed: 0 })
  })

  it('counts a posting as changed if only its white space or a comment differs', async () => {
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

  it('pairs postings that share an id, and uses the content of a posting without an id as its id', async () => {
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

  it('counts the changes between versions of 5,000 and 6,000 postings', () => {
    const build = (from: number, to: number) => {
      const path = newPath()
      const entries = new Entries({ keepsContent: true, keepsRepeated: true })
      for (let i = from; i < to; i++) {
        entries.add(hashText(`id-${i}`), i % 100 === 0 ? from : i)
      }
      expect(entries.repeated).toBe(0)
      writeFileSync(path, Buffer.concat([...indexParts(entries)]))
      return path
    }

    expect(compareIndexes(build(0, 5_000), build(1_000, 7_000))).toEqual({
      added: 2_000,
      removed: 1_000,
      changed: 40,
    })
  })

  it('are unknown only if the versions have their ids in different fields, not if another field differs', async () => {
    const byTitle = await indexBy({ id: 'title' }, nurse)
    const nothing = { added: 0, removed: 0, changed: 0 }

    expect(compareIndexes(await indexOf(nurse), byTitle)).toBeNull()
    expect(compareIndexes(byTitle, await indexBy({ id: 'title' }, nurse))).toEqual(nothing)
    expect(compareIndexes(await indexBy({ city: 'town' }, nurse), await indexOf(nurse))).toEqual(
      nothing,
    )
  })

  it('are unknown if one of the two indexes is missing', async () => {
    expect(compareIndexes(newPath(), await indexOf(nurse))).toBeNull()
    expect(compareIndexes(await indexOf(nurse), newPath())).toBeNull()
  })
})

describe('the posting index', () => {
  it('gives the same changes as a simple count, for random postings', () => {
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

  it('counts the postings that repeat an id, in a feed of 5,000', () => {
    const postings = Array.from({ length: 5_000 }, (_, i): Entry => {
      const id = Math.imul(i % 4_000, 2_654_435_761) >>> 0
      return [id, i % 4_000, i]
    })

    const { count, repeated } = entriesOf(postings)

    expect({ count, repeated }).toEqual({ count: 5_000, repeated: 1_000 })
  })

  it('is ignored if it is cut or altered at any byte', () => {
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
