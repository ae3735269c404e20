// Collapses of postings that lie in groups or envelopes or share an id, with a running daemon: each must be held.

import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { quickClock } from '../../helpers/quick-clock.ts'
import { Site } from '../../helpers/site.ts'

const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex')
const each = (count: number, of: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => of(n)).join('')
const fields = (n: number) => `<id>R-${n}</id><title>Cook ${n}</title>`

/** Each shape makes a feed with this number of postings. */
const SHAPES: [name: string, feed: (postings: number) => string][] = [
  [
    'two categories',
    (postings) =>
      `<jobs>${['Care', 'Kitchen']
        .map(
          (name) =>
            `<category name="${name}">${each(postings / 2, (n) => `<item>${fields(n)}</item>`)}</category>`,
        )
        .join('')}</jobs>`,
  ],
  [
    'companies with ids and names',
    (postings) =>
      `<companies>${each(4, (c) => `<offer><id>C-${c}</id><name>Firm ${c}</name><jobs>${each(postings / 4, (n) => `<job>${fields(n * 4 + c)}</job>`)}</jobs></offer>`)}</companies>`,
  ],
  [
    'an entry around the jobs',
    (postings) =>
      `<response><entry><jobs>${each(postings, (n) => `<job>${fields(n)}</job>`)}</jobs></entry></response>`,
  ],
  [
    'a position around the vacancies',
    (postings) =>
      `<position><vacancies>${each(postings, (n) => `<vacancy>${fields(n)}</vacancy>`)}</vacancies></position>`,
  ],
  [
    'groups of German adverts in an envelope',
    (postings) =>
      `<export><liste>${each(2, (g) => `<bereich nr="${g}">${each(postings / 2, (n) => `<eintrag><referenz>${g}-${n}</referenz><titel>Koch ${n}</titel><ort>Linz</ort></eintrag>`)}</bereich>`)}</liste></export>`,
  ],
]

describe('a feed that loses most of its postings is held', () => {
  let site: Site
  beforeAll(async () => {
    site = await Site.open({}, { clock: quickClock() })
    await site.daemon()
  })
  afterAll(() => site[Symbol.asyncDispose]())

  it.each(SHAPES)('when they are in %s, as check predicts', async (name, feed) => {
    const file = `${name}.xml`
    site.drop(file, feed(200))
    const before = await site.until(file, 'uploaded')
    const elsewhere = join(site.root, 'elsewhere.xml')
    writeFileSync(elsewhere, feed(40))
    const checked = await site.run('check', elsewhere, '--feed', file, '--json')

    site.drop(file, feed(40))
    const held = await site.until(file, 'held')

    expect(before.postings).toBe(200)
    expect(held).toMatchObject({ guard: 'drop', postings: 40 })
    expect(JSON.parse(checked.stdout).files[0]).toMatchObject({ held: held.reason })
    expect(site.sandbox.objects().map((object) => object.sha256)).not.toContain(sha256(feed(40)))
  })
})

describe('a feed whose postings share an id', () => {
  let site: Site
  beforeAll(async () => {
    site = await Site.open({}, { clock: quickClock() })
    await site.daemon()
  })
  afterAll(() => site[Symbol.asyncDispose]())

  const shared = (count: number, more: (n: number) => string) =>
    `<jobs>${each(count, (n) => `<job><id>1</id><title>Cook ${more(n)}</title></job>`)}</jobs>`
  const uploaded = async (file: string, bytes: string) => {
    site.drop(file, bytes)
    return await site.until(file, 'uploaded', sha256(bytes))
  }

  it('is held when one posting stands a hundred times', async () => {
    await uploaded('same.xml', shared(100, String))

    site.drop(
      'same.xml',
      shared(100, () => 'x'),
    )
    const held = await site.until('same.xml', 'held')

    expect(held.guard).toBe('duplicate-ids')
    expect(held.reason).toMatch(/^the number of different postings fell from 100 to 1 /)
  })

  it('is held when most of its postings are gone', async () => {
    await uploaded('gone.xml', shared(100, String))

    site.drop('gone.xml', shared(40, String))

    expect((await site.until('gone.xml', 'held')).guard).toBe('drop')
  })

  it('has its changes counted by the next id, and is held when unusually many are replaced', async () => {
    const feed = (mark: string, count: number) =>
      `<jobs>${each(count, (n) => `<job><id>1</id><uniqueJobID>${mark}${n}</uniqueJobID><title>Cook ${n}</title></job>`)}</jobs>`
    await uploaded('unique.xml', feed('A', 100))
    const more = await uploaded('unique.xml', feed('A', 101))
    await uploaded('unique.xml', feed('A', 99))

    site.drop('unique.xml', feed('B', 99))
    const held = await site.until('unique.xml', 'held')

    expect(more.changes).toEqual({ added: 1, removed: 0, changed: 0 })
    expect(held.guard).toBe('replaced')
    expect(held.changes).toEqual({ added: 99, removed: 99, changed: 0 })
  })
})
