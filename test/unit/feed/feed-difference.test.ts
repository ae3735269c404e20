// What differs between two feeds, beside a simple comparison of what saxes reads in them.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PostingName } from '../../../src/domain/difference.ts'
import type { FieldPaths } from '../../../src/domain/mapping.ts'
import { summaryOf } from '../../../src/feed/difference-summary.ts'
import { collected, feedDifference } from '../../../src/feed/feed-difference.ts'
import type { FoundPaths } from '../../../src/feed/port.ts'
import { bySaxes } from '../../helpers/by-saxes.ts'
import { Folder } from '../../helpers/feeds.ts'

let folder: Folder

beforeAll(() => {
  folder = new Folder()
})

afterAll(() => {
  folder[Symbol.dispose]()
})

/** PATHS has every part of a posting, so that two postings are equal if all of these parts are equal. */
const PATHS: FoundPaths = {
  id: 'id',
  title: 'title',
  city: 'location/city',
  state: 'location/state',
  externalCampaignId: 'campaignid',
  requisitionId: 'requisitionid',
  postalCode: 'date',
  description: 'description',
}

type Values = Partial<Record<keyof FoundPaths, string>>

/** expected compares two documents posting by posting, in the simplest way. */
function expected(older: string, newer: string, records: string) {
  const [before, now] = [older, newer].map(
    (document) => bySaxes(document, records, PATHS) as Values[],
  )
  const isSame = (a: Values, b: Values) => JSON.stringify(a) === JSON.stringify(b)
  const oldRest = (before ?? []).slice()
  const newRest: Values[] = []
  for (const posting of now ?? []) {
    const at = oldRest.findIndex((other) => isSame(other, posting))
    if (at === -1) newRest.push(posting)
    else oldRest.splice(at, 1)
  }
  const added: Values[] = []
  const changed: { from: Values; to: Values }[] = []
  for (const posting of newRest) {
    const at = oldRest.findIndex(({ id }) => id !== undefined && id === posting.id)
    const [from] = at === -1 ? [] : oldRest.splice(at, 1)
    if (from === undefined) added.push(posting)
    else changed.push({ from, to: posting })
  }
  return {
    added: added.map(nameOf),
    removed: oldRest.map(nameOf),
    changed: changed.map(({ from, to }) => ({
      id: to.id ?? null,
      title: to.title ?? null,
      fields: differing(from, to),
    })),
    newerCount: now?.length ?? 0,
  }
}

const nameOf = ({ city, externalCampaignId, id, title }: Values): PostingName => ({
  id: id ?? null,
  title: title ?? null,
  city: city ?? null,
  externalCampaignId: externalCampaignId ?? null,
})

function differing(from: Values, to: Values): string[] {
  const fields = Object.keys(PATHS) as (keyof FoundPaths)[]
  return fields
    .filter((field) => from[field] !== to[field])
    .map((field) => (field === 'postalCode' ? 'date' : field))
    .sort()
}

const text = (...values: string[]) => fc.constantFrom(...values)
const posting = fc.record({
  id: text('1', '2', '3', '4', '5', 'none'),
  title: text('Nurse', 'Köchin & Koch', 'Łódź <driver>'),
  city: text('Boston', 'Köln', ''),
  state: text('MA', 'NW', ''),
  campaign: text('NUR-Q1', '__proto__', ''),
  date: text('2026-11-20', '2026-11-21'),
  description: text('<p>day</p>', 'night'),
})
type Made = typeof posting extends fc.Arbitrary<infer T> ? T : never

const escaped = (value: string) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const element = (name: string, value: string) =>
  value === '' || value === 'none' ? '' : `<${name}>${escaped(value)}</${name}>`

const LAYOUTS = [
  { path: ['source', 'job'] },
  { path: ['data', 'vacancies', 'vacancy'] },
  { path: ['rss', 'channel', 'x'] },
] as const

interface Layout {
  path: readonly string[]
  hasIds: boolean
}

function documentOf(postings: readonly Made[], { hasIds, path }: Layout, encoding: string) {
  const record = path.at(-1) ?? ''
  // Enough postings with ids of their own that no id can belong to more than half of all.
  const own = Array.from({ length: 10 }, (_, n): Made => {
    const more = { city: 'Rom', state: 'IT', campaign: 'C', date: '2026-01-01', description: 'd' }
    return { id: `own-${n}`, title: `T ${n}`, ...more }
  })
  const all = [...postings, ...own].map((made) => {
    const id = hasIds ? element('id', made.id) : ''
    const place = `<location>${element('city', made.city)}${element('state', made.state)}</location>`
    return `<${record}>${id}${element('title', made.title)}${place}${element('campaignid', made.campaign)}<date>${made.date}</date>${element('description', made.description)}</${record}>`
  })
  const outer = path.slice(0, -1)
  const before = outer.map((name) => `<${name}>`).join('')
  const after = outer
    .toReversed()
    .map((name) => `</${name}>`)
    .join('')
  return `<?xml version="1.0" encoding="${encoding}"?>${before}${all.join('\n')}${after}`
}

const ENCODINGS = {
  'UTF-8': (document: string) => Buffer.from(document),
  'UTF-16': (document: string) => Buffer.from(`\ufeff${document}`, 'utf16le'),
  gzip: (document: string) => gzipSync(document),
}
type EncodingName = keyof typeof ENCODINGS

let files = 0

function fileOf(document: string, name: EncodingName): string {
  const file = join(folder.path, `${files++}.xml${name === 'gzip' ? '.gz' : ''}`)
  writeFileSync(file, ENCODINGS[name](document))
  return file
}

async function differenceOf(
  older: string,
  newer: string,
  { records = null, fields = {} }: { records?: string | null; fields?: FieldPaths } = {},
  mostNamed = Number.POSITIVE_INFINITY,
) {
  const side = (file: string) => {
    return { file, sha256: null, mapping: { encoding: null, records, fields } }
  }
  const { named, taker } = collected()
  const job = { older: side(older), newer: side(newer), mostNamed, mostPostings: 1_000 }
  const result = await feedDifference(job, taker)
  return { result, named }
}

async function comparedOf(...args: Parameters<typeof differenceOf>) {
  const { named, result } = await differenceOf(...args)
  if (result.kind !== 'compared') throw new Error(JSON.stringify(result))
  return { ...result.difference, named }
}

const jobs = (...bodies: string[]) =>
  `<source>${bodies.map((body) => `<job>${body}</job>`).join('\n')}</source>`

describe('the difference of two feeds', () => {
  it('is the same as a simple comparison of the values that saxes reads, in random feeds with and without ids', async () => {
    const made = fc.array(posting, { maxLength: 8 })
    const layout = fc.record({
      ...{ path: fc.constantFrom(...LAYOUTS.map(({ path }) => path)) },
      hasIds: fc.boolean(),
    })
    const encoding = fc.constantFrom(...(Object.keys(ENCODINGS) as EncodingName[]))
    const property = fc.asyncProperty(
      ...([made, made, layout, encoding, encoding] as const),
      async (left, right, how, first, second) => {
        const [older, newer] = [documentOf(left, how, 'UTF-8'), documentOf(right, how, 'UTF-8')]
        const names = {
          first: documentOf(left, how, first === 'UTF-16' ? 'UTF-16' : 'UTF-8'),
          second: documentOf(right, how, second === 'UTF-16' ? 'UTF-16' : 'UTF-8'),
        }
        const records = `/${how.path.join('/')}`
        const wanted = expected(older, newer, records)
        const found = await comparedOf(fileOf(names.first, first), fileOf(names.second, second), {
          records: how.path.at(-1) === 'x' ? records : null,
        })

        const changed = found.named.changed.map(({ fields, ...one }) => ({
          ...one,
          fields: fields.toSorted(),
        }))
        expect({ ...found.named, changed }).toEqual({
          added: wanted.added,
          removed: wanted.removed,
          changed: wanted.changed,
        })
        expect(found.totals).toEqual({
          added: wanted.added.length,
          removed: wanted.removed.length,
          changed: wanted.changed.length,
          unchanged: wanted.newerCount - wanted.added.length - wanted.changed.length,
        })
        const countOf = (campaign: string, all: PostingName[]) =>
          all.filter(({ externalCampaignId }) => externalCampaignId === campaign).length
        for (const [campaign, counts] of found.by.externalCampaignId) {
          expect(counts.added).toBe(countOf(campaign, wanted.added))
          expect(counts.removed).toBe(countOf(campaign, wanted.removed))
        }
      },
    )
    await fc.assert(property, { numRuns: 300 })
  }, 60_000)

  it('compares postings that share the ids of all paths by their contents, and names no id', async () => {
    const [older, newer] = [
      jobs(
        '<id>1</id><title>a</title>',
        '<id>1</id><title>b</title>',
        '<id>1</id><title>c</title>',
      ),
      jobs(
        '<id>1</id><title>a</title>',
        '<id>1</id><title>d</title>',
        '<id>1</id><title>c</title>',
      ),
    ]

    const { named, totals } = await comparedOf(fileOf(older, 'UTF-8'), fileOf(newer, 'UTF-8'))

    expect(totals).toEqual({ added: 1, removed: 1, changed: 0, unchanged: 2 })
    expect([named.removed[0]?.id, named.removed[0]?.title, named.added[0]?.title]).toEqual([
      null,
      'b',
      'd',
    ])
  })

  it('passes over an id that the postings of one version share, and names all postings by their next id', async () => {
    const job = (n: number, title = 'x') =>
      `<id>7</id><jobcode>J-${n}</jobcode><title>${title}</title>`
    const [older, newer] = [jobs(job(1), job(2), job(3)), jobs(job(1), job(2, 'y'))]

    const { named } = await comparedOf(fileOf(older, 'UTF-8'), fileOf(newer, 'UTF-8'))

    expect(named.removed.map(({ id }) => id)).toEqual(['J-3'])
    expect(named.changed).toEqual([{ id: 'J-2', title: 'y', fields: ['title'] }])

    const back = await comparedOf(fileOf(newer, 'UTF-8'), fileOf(older, 'UTF-8'))
    expect(back.named.added.map(({ id }) => id)).toEqual(['J-3'])
    expect(back.totals).toEqual({ added: 1, removed: 0, changed: 1, unchanged: 1 })
  })

  it('compares the only posting of a version by its content if the postings of the older version share an id', async () => {
    const older = jobs(...['a', 'b', 'c'].map((title) => `<id>1</id><title>${title}</title>`))
    const newer = jobs('<id>1</id><title>c</title>')

    const { totals } = await comparedOf(fileOf(older, 'UTF-8'), fileOf(newer, 'UTF-8'))

    expect(totals).toEqual({ added: 0, removed: 2, changed: 0, unchanged: 1 })
  })

  it('names changed elements that are not fields, changed attributes, and nothing if only white space differs', async () => {
    const older =
      '<source><job id="1" seen="a"><title>n</title><pay>1</pay><pay>2</pay></job><job id="2"><title>n</title></job></source>'
    const newer =
      '<source><job id="1" seen="b"><title>n</title><pay>1</pay><pay>3</pay></job><job id="2"> <title>n</title></job></source>'

    const { named } = await comparedOf(fileOf(older, 'UTF-8'), fileOf(newer, 'UTF-8'))

    expect(named.changed).toEqual([
      { id: '1', title: 'n', fields: ['@seen', 'pay'] },
      { id: '2', title: 'n', fields: [] },
    ])
  })

  it('names a part of 300,000 bytes that has changed, and not the equal part after it', async () => {
    const job = (end: string) =>
      `<id>1</id><title>n</title><body>${'x'.repeat(300_000)}${end}</body><after>1</after>`

    const { named } = await comparedOf(
      fileOf(jobs(job('y')), 'UTF-8'),
      fileOf(jobs(job('z')), 'UTF-8'),
    )

    expect(named.changed.map(({ fields }) => fields)).toEqual([['body']])
  })

  it('names the first postings of each kind in the order of their feeds, and counts all', async () => {
    const numbers = Array.from({ length: 9 }, (_, n) => n)
    const older = jobs(...numbers.map((n) => `<id>${n}</id><title>a</title>`))
    const newer = jobs(...numbers.map((n) => `<id>${n + 3}</id><title>b</title>`).toReversed())

    const { named, totals } = await comparedOf(
      fileOf(older, 'UTF-8'),
      fileOf(newer, 'UTF-8'),
      {},
      2,
    )

    expect(totals).toEqual({ added: 3, removed: 3, changed: 6, unchanged: 0 })
    expect(named.removed.map(({ id }) => id)).toEqual(['0', '1'])
    expect(named.added.map(({ id }) => id)).toEqual(['11', '10'])
    expect(named.changed.map(({ id }) => id)).toEqual(['8', '7'])
  })

  it('says which side is not well-formed, cannot be read, or has too many postings', async () => {
    const good = fileOf(jobs('<id>1</id><title>a</title>'), 'UTF-8')
    const bad = fileOf('<source>\n<job>&nbsp;</job></source>', 'UTF-8')
    const many = fileOf(jobs(...Array.from({ length: 1_001 }, (_, n) => `<id>${n}</id>`)), 'UTF-8')

    const broken = await differenceOf(bad, good)
    const missing = await differenceOf(good, join(folder.path, 'missing.xml'))
    const tooMany = await differenceOf(good, many)

    expect(broken.result).toMatchObject({
      kind: 'unread',
      side: 'older',
      reason: expect.stringMatching(/^broken: line 2, column 6: /),
    })
    expect(missing.result).toMatchObject({
      kind: 'unread',
      side: 'newer',
      reason: 'it does not exist (ENOENT)',
    })
    expect(tooMany.result).toEqual({ kind: 'too-many', side: 'newer', postings: 1_001 })
  })

  it('is summed up in 10,000 characters, with all totals, ten values and ten postings, however long the values are', async () => {
    const long = 'x'.repeat(900)
    const odd = Array.from({ length: 200 }, (_, n) => `<part${n}>1</part${n}>`).join('')
    const job = (id: number, more = odd) =>
      `<id>${id}</id><title>${long}</title><city>${long}${id % 30}</city>${more}`
    const numbers = Array.from({ length: 40 }, (_, n) => n)
    const older = jobs(...numbers.map((n) => job(n)))
    const newer = jobs(job(0, odd.replaceAll('1<', '2<')))

    const found = await comparedOf(fileOf(older, 'UTF-8'), fileOf(newer, 'UTF-8'))
    const summary = summaryOf(found, found.named)

    expect(summary.totals).toMatchObject({ removed: 39, changed: 1 })
    expect(summary.by.city).toMatchObject({ count: 30, values: { length: 10 } })
    expect(summary.named.removed).toHaveLength(10)
    expect(JSON.stringify(summary).length).toBeLessThan(10_000)
  })

  it('counts, for each value, the postings that were added, that were removed and that are left', async () => {
    const job = (id: number, city: string) => `<id>${id}</id><title>t</title><city>${city}</city>`
    const older = jobs(job(1, 'Rom'), job(2, 'Rom'), job(3, 'Ulm'), job(4, 'Ulm'))
    const newer = jobs(job(4, 'Ulm'), job(5, 'Bonn'))

    const { by } = await comparedOf(fileOf(older, 'UTF-8'), fileOf(newer, 'UTF-8'))

    expect(Object.fromEntries(by.city)).toEqual({
      Rom: { added: 0, removed: 2, left: 0 },
      Ulm: { added: 0, removed: 1, left: 1 },
      Bonn: { added: 1, removed: 0, left: 1 },
    })
  })
})
