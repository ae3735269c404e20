import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readFeed } from '../../../src/feed/feed-reader.ts'
import { contentOf, Folder, jobFor, readDocument } from '../../helpers/feeds.ts'

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

  it('is the element that repeats where no name is known', async () => {
    const record = '<gesuch><beruf>Koch</beruf></gesuch>'

    expect(
      await contentOf(`<liste><kopf><datum/></kopf>${record.repeat(3)}</liste>`),
    ).toMatchObject({
      records: '/liste/gesuch',
      postings: 3,
    })
  })

  it('is found by a second reading when a known name inside the record came first', async () => {
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
  ])('is not %s where that is there once, and holds several', async (path, before) => {
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
    // A list of words is no list of postings.
    const lists = [fields + words, ...(before === '' ? [] : [`<id>8</id>${jobs}`])]
    for (const count of lists.keys()) {
      expect(await contentOf(document(...lists.slice(0, count + 1)))).toMatchObject({
        records: path,
        postings: count + 1,
        warnings: [],
      })
    }
  })

  it('is no other for what a header holds', async () => {
    const header = '<publisher><ad><offre><a/></offre><offre><a/></offre></ad></publisher>'

    expect(await contentOf(`<source>${header}<job>${fields}</job></source>`)).toMatchObject({
      records: '/source/job',
      postings: 1,
    })
  })

  it('is null where there is no posting', async () => {
    expect(await contentOf('<source/>')).toMatchObject({
      root: 'source',
      records: null,
      postings: 0,
    })
  })

  it('is taken from the configuration, with any case and prefix', async () => {
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

  it('prefers the configured case where both cases are there', async () => {
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

describe('fields', () => {
  const jobs = (...records: string[]) =>
    `<jobs>${records.map((r) => `<job ${r}</job>`).join('')}</jobs>`

  it('are detected: campaign ids with their postings, distinct requisition ids', async () => {
    const document = jobs(
      '><id>1</id><campaignid>A</campaignid><requisitionid>R1</requisitionid>',
      '><id>2</id><campaignId> A </campaignId><requisitionId><![CDATA[R1]]></requisitionId>',
      '><id>3</id><external_campaign_id>B</external_campaign_id><requisitionid/>',
      '><id>4</id><campaignid>__proto__</campaignid><requisitionid>R2</requisitionid>',
    )

    const content = await contentOf(document)

    expect(Object.entries(content.externalCampaignIds)).toEqual([
      ['A', 2],
      ['B', 1],
      ['__proto__', 1],
    ])
    expect(content.requisitionIds).toBe(2)
  })

  it.each([
    ['budget/campaign', '><budget><campaign>C</campaign></budget>'],
    ['@cid', ' cid="C">'],
    ['@CID', ' cid="C">'],
    ['ads/@cid', '><ads cid="C"/>'],
    ["tag[@name='campaign']", '><tag name="city">X</tag><tag name="campaign">C</tag>'],
    ["tag[@name='a/b']/v", '><tag name="a/b"><v>C</v></tag>'],
    ['x:cid', ' xmlns:x="urn:x"><x:cid>C</x:cid>'],
    ['cid', ' xmlns:x="urn:x"><x:cid>C</x:cid>'],
    ['CID', '><cid>C</cid>'],
    ['cid', '><CID>X</CID><cid>C</cid>'],
    ['cid', '><cid/><cid>C</cid><cid>D</cid>'],
    ['cid', '><cid>  <b>no</b>C</cid>'],
  ])('are read from the configured path %s', async (path, record) => {
    const content = await contentOf(jobs(record), { fields: { externalCampaignId: path } })

    expect(content.externalCampaignIds).toEqual({ C: 1 })
  })

  it('have the same value wherever a piece of the file ends', async () => {
    const record = '<job><campaignid><![CDATA[SPRING 24]]></campaignid></job>'
    for (let cut = 0; cut <= record.length; cut++) {
      // The checker reads 65,536 bytes at a time: `cut` bytes of the record are in the first of them.
      const start = `<s><!--${'x'.repeat(65_536 - cut - '<s><!---->'.length)}-->`

      const content = await contentOf(`${start}${record}</s>`)

      expect(content.externalCampaignIds, `cut after ${cut} bytes`).toEqual({ 'SPRING 24': 1 })
    }
  })

  it.each([
    'A <![CDATA[1]]>',
    'A <!-- c -->1',
    '<![CDATA[ A ]]>1 ',
    'A <b>no</b>1',
    '<![CDATA[A\r\n]]>1',
    'A<![CDATA[ ]]>1',
  ])('keep the space between the parts of a value: %j', async (value) => {
    const content = await contentOf(jobs(`><campaignid>${value}</campaignid>`))

    expect(Object.keys(content.externalCampaignIds)[0]?.replace('\n', ' ')).toBe('A 1')
  })

  it('that are configured replace the detected ones, and the others stay detected', async () => {
    const document = jobs('><id>1</id><campaignid>A</campaignid><requisitionid>R</requisitionid>')

    const content = await contentOf(document, { fields: { externalCampaignId: 'segment' } })

    expect(content).toMatchObject({ externalCampaignIds: {}, requisitionIds: 1, warnings: [] })
  })

  it('are not mixed up with elements deeper inside', async () => {
    expect(
      (await contentOf(jobs('><company><id>9</id></company>', '><id>1</id>'))).warnings,
    ).toEqual(['1 posting without an id'])
  })

  it.each(['', '/', 'a//b', 'a[b]', '@', "a[@b='c", 'a b', '@a/b'])(
    'refuse the path %j',
    async (path) => {
      await expect(contentOf(jobs('>'), { fields: { id: path } })).rejects.toThrow(/field path/)
    },
  )
})

describe('warnings', () => {
  const feed = (ids: string[]) =>
    `<s>${ids.map((id) => `<job><id>${id}</id><t/></job>`).join('')}</s>`

  it('tell of ids that are used twice, with up to three examples', async () => {
    expect((await contentOf(feed(['a', 'b', 'a', 'c', 'a', 'b']))).warnings).toEqual([
      '3 postings with an id that another one has, such as "a", "b"',
    ])
    expect((await contentOf(feed([...'abcdabcd']))).warnings[0]).toMatch(
      /^4 postings .*such as "a", "b", "c"$/,
    )
    expect((await contentOf(feed(['x'.repeat(500), 'x'.repeat(500)]))).warnings[0]).toContain(
      `"${'x'.repeat(40)}…"`,
    )
  })

  it('tell of ids that are missing', async () => {
    expect((await contentOf(feed(['a', '']))).warnings).toEqual(['1 posting without an id'])
    expect((await contentOf(feed(['', '']))).warnings).toEqual([
      'no posting has an id; name its path in fields.id',
    ])
  })

  it('tell of ids that are used twice also where others are missing', async () => {
    using folder = new Folder()
    const document = feed(['a', 'a', 'b', '', ''])

    const { warnings } = await contentOf(document)
    const indexed = await readDocument(document, {}, {}, { indexTo: join(folder.path, 'index') })

    expect(warnings).toEqual([
      '1 posting with an id that another one has, such as "a"',
      '2 postings without an id',
    ])
    expect(indexed).toMatchObject({ verdict: { content: { warnings, duplicates: 2 } } })
  })

  it('tell of a byte order mark and of an encoding that is not UTF-8', async () => {
    expect((await contentOf(`\ufeff${feed(['a'])}`)).warnings).toEqual([
      expect.stringContaining('byte order mark'),
    ])
    expect(
      (await contentOf(`<?xml version="1.0" encoding="cp1252"?>${feed(['a'])}`)).warnings,
    ).toEqual(['the file is encoded in windows-1252; UTF-8 is what every reader expects'])
  })

  it('tell when there are more campaign ids than are told apart', async () => {
    const jobs = Array.from(
      { length: 10_050 },
      (_, i) => `<job><id>${i}</id><campaignid>${i}</campaignid></job>`,
    )

    const content = await contentOf(`<s>${jobs.join('')}</s>`)

    expect(Object.keys(content.externalCampaignIds)).toHaveLength(10_000)
    expect(content.warnings).toEqual([
      'more than 10,000 campaign ids; the further ones are not counted',
    ])
  })
})

// Real feeds of others, which may not be redistributed: used where they are present.
const FEEDS =
  process.env.FEEDSYNCD_FEEDS ??
  join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'data', 'feeds')

function filesIn(broken: boolean): string[] {
  return readdirSync(FEEDS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.xml') && file.startsWith('wild-broken') === broken)
    .sort()
}

/** `folder/file.xml /record/path count`, as the index of the samples has them. */
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
    it('are read with the record path and number of postings that their index names', async () => {
      const readings = filesIn(false).map(async (file) => {
        const result = await readFeed(jobFor(join(FEEDS, file)))
        if (result.kind !== 'read' || result.verdict.kind !== 'ok')
          return `${file} ${JSON.stringify(result)}`
        return `${file} ${result.verdict.content.records} ${result.verdict.content.postings}`
      })
      const read = await Promise.all(readings)

      expect(read).toEqual(indexed())
      expect(read).toHaveLength(72)
    })

    it('that are broken never pass, and each says where but for the empty one', async () => {
      const readings = filesIn(true).map(async (file) => {
        const result = await readFeed(jobFor(join(FEEDS, file)))
        return result.kind === 'read' ? result.verdict.kind : result.kind
      })
      const verdicts = await Promise.all(readings)

      expect(verdicts.filter((kind) => kind === 'broken')).toHaveLength(15)
      expect(verdicts.filter((kind) => kind === 'incomplete')).toHaveLength(1)
    })
  })
}
