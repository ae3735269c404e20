import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readFeed } from '../../../src/feed/feed-reader.ts'
import { contentOf, jobFor } from '../../helpers/feeds.ts'

const fields = '<id>7</id><title>Nurse</title>'

describe('the record path', () => {
  it.each([
    ['/source/job', `<source><publisher>x</publisher><job>${fields}</job></source>`],
    ['/source/jobs/job', `<source><jobs><job>${fields}</job></jobs></source>`],
    ['/jobs/job', `<jobs><job>${fields}<job_type/></job></jobs>`],
    ['/trovit/ad', `<trovit><ad>${fields}</ad></trovit>`],
    [
      '/rss/channel/item',
      `<rss><channel><title>t</title><image><url/></image><item>${fields}</item></channel></rss>`,
    ],
    ['/Postings/Item', `<Postings><Item>${fields}</Item></Postings>`],
    ['/Records/Record', '<Records><Record><Row A="1"/></Record></Records>'],
    ['/CATALOG/JOBS/ITEM', `<CATALOG><JOBS><ITEM>${fields}</ITEM></JOBS></CATALOG>`],
    [
      '/yml_catalog/vacancies/vacancy',
      `<yml_catalog><vacancies><vacancy>${fields}</vacancy></vacancies></yml_catalog>`,
    ],
    ['/job_offer', `<job_offer>${fields}</job_offer>`],
    [
      '/PositionOpening',
      `<PositionOpening><PositionPostings><PositionPosting>${fields}</PositionPosting></PositionPostings></PositionOpening>`,
    ],
    [
      '/ProcessPositionOpening/DataArea/PositionOpening',
      `<ProcessPositionOpening><ApplicationArea><Sender/></ApplicationArea><DataArea><Process/><PositionOpening>${fields}</PositionOpening></DataArea></ProcessPositionOpening>`,
    ],
    [
      '/feed/entry',
      `<feed xmlns="http://www.w3.org/2005/Atom"><author><name/></author><entry>${fields}</entry></feed>`,
    ],
    ['/workzag-jobs/position', `<workzag-jobs><position>${fields}</position></workzag-jobs>`],
    ['/jobfeed/joblisting', `<jobfeed><joblisting>${fields}</joblisting></jobfeed>`],
    [
      '/companies/company/job',
      `<companies><company><job>${fields}</job></company><company><name/></company></companies>`,
    ],
    ['/x:source/x:job', `<x:source xmlns:x="urn:x"><x:job>${fields}</x:job></x:source>`],
  ])('is found to be %s', async (records, document) => {
    expect(await contentOf(document)).toMatchObject({ records, postings: 1 })
  })

  it('is the element that repeats if no name is known', async () => {
    const record = '<gesuch><beruf>Koch</beruf></gesuch>'

    expect(
      await contentOf(`<liste><kopf><datum/></kopf>${record.repeat(3)}</liste>`),
    ).toMatchObject({
      records: '/liste/gesuch',
      postings: 3,
    })
  })

  it('is found by a second pass if a known name inside the record came first', async () => {
    const record =
      '<gesuch><id>1</id><position>Koch</position><anforderungen><item>a</item><item>b</item></anforderungen></gesuch>'

    expect(await contentOf(`<liste>${record}${record.replace('1', '2')}</liste>`)).toMatchObject({
      records: '/liste/gesuch',
      postings: 2,
      warnings: [],
    })
  })

  it.each([
    ['/joblisting', ''],
    ['/job', ''],
    ['/source/listing', '<source>'],
    ['/data/record', '<data>'],
    ['/rss/channel/item', '<rss><channel>'],
  ])(
    'is inside %s if that element occurs once and contains several postings, else it is that element',
    async (path, before) => {
      const name = path.split('/').at(-1)
      const after = before
        .split('<')
        .slice(1)
        .reverse()
        .map((tag) => `</${tag}`)
        .join('')
      const jobs = [1, 2, 3].map((id) => `<job><id>${id}</id></job>`).join('')
      const words = '<position>cook</position><position>waiter</position>'
      const document = (...postings: string[]) =>
        `${before}${postings.map((each) => `<${name}>${each}</${name}>`).join('')}${after}`

      expect(await contentOf(document(`<date/>${jobs}`))).toMatchObject({
        records: `${path}/job`,
        postings: 3,
        warnings: [],
      })
      // Elements that hold only words are not postings.
      const lists = [fields + words, ...(before === '' ? [] : [`<id>8</id>${jobs}`])]
      for (const count of lists.keys()) {
        expect(await contentOf(document(...lists.slice(0, count + 1)))).toMatchObject({
          records: path,
          postings: count + 1,
          warnings: [],
        })
      }
    },
  )

  it('does not depend on the elements of a header', async () => {
    const header = '<publisher><ad><offre><a/></offre><offre><a/></offre></ad></publisher>'

    expect(await contentOf(`<source>${header}<job>${fields}</job></source>`)).toMatchObject({
      records: '/source/job',
      postings: 1,
    })
  })

  it('is null if there is no posting', async () => {
    expect(await contentOf('<source/>')).toMatchObject({
      root: 'source',
      records: null,
      postings: 0,
    })
  })

  it('comes from the configuration and matches any case and prefix, or is null with a warning', async () => {
    const document =
      '<s xmlns:p="urn:p"><job><id/></job><p:Ad><id>1</id></p:Ad><p:Ad><id>2</id></p:Ad></s>'

    for (const records of ['/s/Ad', 's/Ad', '/S/ad', '/s/p:Ad']) {
      expect(await contentOf(document, { records })).toMatchObject({
        records: '/s/p:Ad',
        postings: 2,
      })
    }
    expect(await contentOf(document, { records: '/s/q:Ad' })).toMatchObject({
      records: null,
      postings: 0,
      warnings: ['no element is at the configured record path /s/q:Ad'],
    })
  })

  it('has the configured case if the document has both cases', async () => {
    const document = '<s><JOB><id>1</id></JOB><job><id>2</id></job><job><id>3</id></job></s>'

    expect(await contentOf(document, { records: '/s/job' })).toMatchObject({
      records: '/s/job',
      postings: 2,
    })
    expect(await contentOf(document, { records: '/s/JOB' })).toMatchObject({
      records: '/s/JOB',
      postings: 1,
    })
  })
})

// Real feeds of other vendors may not be redistributed, so these tests run only where the feeds are present.
const FEEDS =
  process.env.FEEDSYNCD_FEEDS ??
  join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'data', 'feeds')

function filesIn(kind: 'broken' | 'sound'): string[] {
  return readdirSync(FEEDS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.xml'))
    .filter((file) => file.startsWith('wild-broken') === (kind === 'broken'))
    .sort()
}

/** indexed returns a row for each feed of the index: `folder/file.xml /record/path count`. */
function indexed(): string[] {
  let folder = ''
  const rows: string[] = []
  for (const line of readFileSync(join(FEEDS, 'INDEX.md'), 'utf8').split('\n')) {
    folder = /^## ([\w-]+)/.exec(line)?.[1] ?? folder
    const row = /^\| (\S+\.xml) \| \S+ \| (\S+)(?: \(root\))? \((\d+)\) \|/.exec(line)
    if (row !== null) rows.push(`${folder}/${row[1]} /${row[2]} ${row[3]}`)
  }
  return rows.sort()
}

if (existsSync(FEEDS)) {
  describe('the collected feeds', () => {
    it('have the record path and number of postings that their index names', async () => {
      const readings = filesIn('sound').map(async (file) => {
        const result = await readFeed(jobFor(join(FEEDS, file)))
        if (result.kind !== 'read' || result.verdict.kind !== 'ok')
          return `${file} ${JSON.stringify(result)}`
        return `${file} ${result.verdict.content.records} ${result.verdict.content.postings}`
      })
      const read = await Promise.all(readings)

      expect(read).toEqual(indexed())
      expect(read).toHaveLength(72)
    })

    it('never pass if they are broken: the empty feed is incomplete, and the 15 others are broken', async () => {
      const readings = filesIn('broken').map(async (file) => {
        const result = await readFeed(jobFor(join(FEEDS, file)))
        return result.kind === 'read' ? result.verdict.kind : result.kind
      })
      const verdicts = await Promise.all(readings)

      expect(verdicts.filter((kind) => kind === 'broken')).toHaveLength(15)
      expect(verdicts.filter((kind) => kind === 'incomplete')).toHaveLength(1)
    })
  })
}
