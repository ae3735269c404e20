// Feeds as vendors write them, in each shape of docs/feeds.md. saxes is the second opinion: it must find the same
// values at the paths that the check names.

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FieldPaths } from '../../../src/domain/mapping.ts'
import { DETECTED } from '../../../src/feed/field-paths.ts'
import { LANGUAGES } from '../../../src/feed/languages.ts'
import { streamPostings } from '../../../src/feed/posting-stream.ts'
import { bySaxes } from '../../helpers/by-saxes.ts'
import { contentOf, Folder, readDocument } from '../../helpers/feeds.ts'
import { listedPaths, listedWords } from '../../helpers/feeds-page.ts'

async function byReader(document: string, records: string): Promise<Record<string, string>[]> {
  using folder = new Folder()
  const postings: Record<string, string>[] = []
  const problem = await streamPostings(
    { file: folder.file('feed.xml', document), encoding: null, records, paths: {} },
    (values) => postings.push(values),
    { fields: Object.keys(DETECTED) as (keyof FieldPaths)[], signal: new AbortController().signal },
  )
  expect(problem).toBe(null)
  return postings
}

/** repeated returns copies of a posting; `#` becomes the number of each copy. */
const repeated = (count: number, posting: string) =>
  Array.from({ length: count }, (_, i) => posting.replaceAll('#', `${i + 1}`)).join('\n')
const wrapped = (names: string[], content: string) =>
  names.map((name) => `<${name}>`).join('') +
  content +
  names
    .toReversed()
    .map((name) => `</${name}>`)
    .join('')

const PLACE = 'PositionProfile/PositionDetail/PhysicalLocation'
const hrXml2 = `<PositionOpening>
  <PositionRecordInfo><Id><IdValue>R#</IdValue></Id></PositionRecordInfo>
  <PositionPostings><PositionPosting><Id><IdValue>Q#</IdValue></Id></PositionPosting></PositionPostings>
  <PositionProfile><PositionDetail>
    <PhysicalLocation>
      <Area type="countrycode"><Value>US</Value></Area>
      <Area type="x:state"><Value>Ohio</Value></Area>
      <Area type="municipality"><Value>Toledo</Value></Area>
      <PostalAddress><PostalCode>43604</PostalCode><Region>Midwest</Region></PostalAddress>
    </PhysicalLocation>
    <PositionTitle>Nurse</PositionTitle>
  </PositionDetail></PositionProfile>
</PositionOpening>`
const hrXml2Fields = {
  id: 'PositionRecordInfo/Id/IdValue',
  requisitionId: 'PositionPostings/PositionPosting/Id/IdValue',
  title: 'PositionProfile/PositionDetail/PositionTitle',
  city: `${PLACE}/Area[@type='municipality']/Value`,
  state: `${PLACE}/Area[@type='x:state']/Value`,
  postalCode: `${PLACE}/PostalAddress/PostalCode`,
}

const SHAPES: [name: string, document: string, records: string, fields: FieldPaths][] = [
  [
    'HR-XML in a SOAP envelope',
    wrapped(['soap:Envelope', 'soap:Body', 'Send', 'List'], repeated(3, hrXml2)).replace(
      '>',
      ' xmlns:soap="urn:soap">',
    ),
    '/soap:Envelope/soap:Body/Send/List/PositionOpening',
    hrXml2Fields,
  ],
  [
    'seven envelopes',
    wrapped([...'abcdefg'], repeated(2, '<vacature><id>#</id></vacature>')),
    '/a/b/c/d/e/f/g/vacature',
    { id: 'id' },
  ],
  [
    'HR-XML with ids and titles in their second places',
    `<PositionOpening><PositionPostings><PositionPosting><Id><IdValue>P1</IdValue></Id></PositionPosting></PositionPostings>
      <PositionProfile><ProfileName>Nurse</ProfileName></PositionProfile></PositionOpening>`,
    '/PositionOpening',
    {
      id: 'PositionPostings/PositionPosting/Id/IdValue',
      requisitionId: 'PositionPostings/PositionPosting/Id/IdValue',
      title: 'PositionProfile/ProfileName',
    },
  ],
  [
    'HR Open with an address',
    `<jobs xmlns:oa="urn:oa">${repeated(2, '<PositionOpening><DocumentID>#</DocumentID><PositionProfile><PositionTitle>Nurse</PositionTitle><PositionLocation><Address><oa:CityName>Lyon</oa:CityName><oa:CountrySubDivisionCode>FR-69</oa:CountrySubDivisionCode><oa:PostalCode>69001</oa:PostalCode></Address></PositionLocation></PositionProfile></PositionOpening>')}</jobs>`,
    '/jobs/PositionOpening',
    {
      id: 'DocumentID',
      title: 'PositionProfile/PositionTitle',
      city: 'PositionProfile/PositionLocation/Address/CityName',
      state: 'PositionProfile/PositionLocation/Address/CountrySubDivisionCode',
      postalCode: 'PositionProfile/PositionLocation/Address/PostalCode',
    },
  ],
  [
    'several locations',
    `<jobs>${repeated(2, '<job><id>#</id><locations><location><city>Köln</city><state>NW</state><postal_code>50667</postal_code></location><location><city>Bonn</city><state>RP</state><postal_code>53111</postal_code></location></locations></job>')}</jobs>`,
    '/jobs/job',
    {
      id: 'id',
      city: 'locations/location/city',
      state: 'locations/location/state',
      postalCode: 'locations/location/postal_code',
    },
  ],
  ...['', 'Classifications', 'Listing'].map((around): (typeof SHAPES)[number] => {
    const classes =
      '<Classification name="Category">Health</Classification><Classification name="Location">Perth</Classification>'
    const within = around === '' ? classes : `<${around}>${classes}</${around}>`
    return [
      `classifications in <${around || 'Job'}>`,
      `<Jobs>${repeated(2, `<Job jid="#" reference="Q#"><Title>Cook</Title>${within}</Job>`)}</Jobs>`,
      '/Jobs/Job',
      {
        id: '@jid',
        requisitionId: '@reference',
        title: 'Title',
        city: `${around === '' ? '' : `${around}/`}Classification[@name='Location']`,
      },
    ]
  }),
  [
    'a record whose id field has the name of the record',
    `<list>${repeated(2, '<vacancy><vacancy_id>#</vacancy_id><job-title>Cook</job-title><url>https://ats.example</url></vacancy>')}</list>`,
    '/list/vacancy',
    { id: 'vacancy_id', title: 'job-title' },
  ],
  [
    'names in camel case',
    `<list>${repeated(2, '<x:Job-Posting><JobReference>#</JobReference><ExternalCampaignId>C#</ExternalCampaignId><RequisitionNumber>Q#</RequisitionNumber><Job-Description>x</Job-Description></x:Job-Posting>')}</list>`.replace(
      '>',
      ' xmlns:x="urn:x">',
    ),
    '/list/x:Job-Posting',
    {
      id: 'JobReference',
      externalCampaignId: 'ExternalCampaignId',
      requisitionId: 'RequisitionNumber',
      description: 'Job-Description',
    },
  ],
  [
    'requisitions that are published',
    `<source>${repeated(2, '<job><jobReqId>#</jobReqId><title>Cook</title><url>https://ats.example</url></job>')}</source>`,
    '/source/job',
    { id: 'jobReqId', requisitionId: 'jobReqId', title: 'title' },
  ],
  [
    'a sitemap',
    `<urlset>${repeated(2, '<url><loc>https://ats.example/#</loc><lastmod>2026-11-24</lastmod></url>')}</urlset>`,
    '/urlset/url',
    { id: 'loc' },
  ],
  [
    'attributes only',
    `<jobs xmlns:id="urn:id">${repeated(2, '<job xmlns:city="urn:no" JobId="#" title="Cook" city="Graz" region="ST" ZIP_Code="8010" campaign-id="C" url="https://ats.example"/>')}</jobs>`,
    '/jobs/job',
    {
      id: '@JobId',
      externalCampaignId: '@campaign-id',
      title: '@title',
      city: '@city',
      state: '@region',
      postalCode: '@ZIP_Code',
    },
  ],
]

describe('the check names the record path and the path of each field', () => {
  it.each(SHAPES)(
    'in %s, and saxes and the reader find the same values there',
    async (_, document, records, fields) => {
      const content = await contentOf(document)

      const none = Object.fromEntries(Object.keys(DETECTED).map((field) => [field, null]))
      expect({ records: content.records, fields: content.fields }).toEqual({
        records,
        fields: { ...none, ...fields },
      })
      const found = bySaxes(document, records, content.fields)
      expect(await byReader(document, records)).toEqual(found)
      expect(found).toHaveLength(content.postings)
      expect(Object.keys(found[0] ?? {})).toEqual(
        Object.keys(none).filter((field) => field in fields),
      )
    },
  )

  it('as most of the first postings have them, and for counted fields also if only late postings have them', async () => {
    const few = repeated(3, '<job><guid>g#</guid></job>')
    const many = repeated(1_200, '<job><id>#</id></job>')
    const late = '<job><id>x</id><campaignid>C</campaignid><city>Graz</city></job>'

    const { fields } = await contentOf(`<jobs>${few}${many}${late}</jobs>`)

    expect(fields).toMatchObject({ id: 'id', externalCampaignId: 'campaignid', city: null })
  })

  it('and tries the paths and words that docs/feeds.md lists, in the same order', () => {
    const paths = Object.entries(DETECTED).map(([field, text]) => [field, text.trim().split(/\s+/)])

    expect(listedPaths()).toEqual(Object.fromEntries(paths))
    expect(listedWords()).toEqual(LANGUAGES)
  })
})

describe('a URL that most postings share', () => {
  const feed = (addresses: string[], name = 'url') =>
    `<jobs>${addresses.map((url, i) => `<job><title>${i}</title><${name}>${url}</${name}></job>`).join('')}</jobs>`
  const shared = Array<string>(600).fill('https://ats.example/jobs')
  const indexed = async (document: string, fields: FieldPaths = {}) => {
    using folder = new Folder()
    const { verdict } = await readDocument(
      document,
      { fields },
      { indexTo: join(folder.path, 'index') },
    )
    if (verdict.kind !== 'ok') throw new Error(verdict.reason)
    return { ...verdict.content, fields: verdict.fields }
  }

  it('is not an id: a warning says so, and postings are compared by their content, with and without an index', async () => {
    const content = await indexed(feed(shared))

    expect(content).toMatchObject({ withoutId: 600, duplicates: 0 })
    expect(content.fields.id).toBe(null)
    expect(content.warnings).toEqual([
      "no posting has its own id (url is shared): name the id's path in fields.id",
    ])
    expect((await indexed(feed(shared).replaceAll(/<title>\d+/g, '<title>x'))).duplicates).toBe(599)
    // Without an index, the check reads the feed once more with the contents.
    expect(await contentOf(feed(shared))).toMatchObject({
      withoutId: 600,
      duplicates: 0,
      warnings: content.warnings,
    })
  })

  it('is not an id if more than half of the postings have it, and is an id otherwise', async () => {
    const own = Array.from({ length: 200 }, (_, i) => `https://ats.example/${i}`)

    expect(await indexed(feed([...own, ...shared.slice(0, 400)], 'Detail-URL'))).toMatchObject({
      withoutId: 600,
      warnings: [expect.stringContaining('(Detail-URL is shared)')],
    })
    expect(await indexed(feed([...own, ...shared.slice(0, 150)]))).toMatchObject({
      withoutId: 0,
      duplicates: 149,
    })
    // Each job appears three times, so no URL is in most postings.
    expect(await indexed(feed([...own, ...own, ...own]))).toMatchObject({
      withoutId: 0,
      duplicates: 400,
    })
  })

  it('is an id if the configuration says so', async () => {
    expect(await indexed(feed(shared), { id: 'url' })).toMatchObject({
      withoutId: 0,
      duplicates: 599,
    })
  })
})

describe('an id that most postings share', () => {
  const feed = (posting: string, count = 600) => `<jobs>${repeated(count, posting)}</jobs>`
  const read = async (document: string, fields: FieldPaths = {}, isIndexed = true) => {
    using folder = new Folder()
    const more = isIndexed ? { indexTo: join(folder.path, 'index') } : {}
    const { verdict } = await readDocument(document, { fields }, more)
    if (verdict.kind !== 'ok') throw new Error(verdict.reason)
    const { duplicates, warnings, withoutId } = verdict.content
    return { id: verdict.fields.id, duplicates, warnings, withoutId }
  }

  it.each([
    ['<job><id>1</id><title>#</title><uniqueJobID>U#</uniqueJobID></job>', 'uniqueJobID'],
    ['<job id="7"><title>#</title><ref>U#</ref></job>', 'ref'],
    ['<job><JobID>7</JobID><guid>same</guid><title>#</title><url>u#</url></job>', 'url'],
    ['<job offer-id="7"><id>7</id><title>#</title><link>u#</link></job>', 'link'],
    ['<job offerId="u#"><id>7</id><title>#</title></job>', '@offerId'],
  ])('is passed over for the next path with ids of their own: %s', async (posting, id) => {
    const found = { id, duplicates: 0, withoutId: 0, warnings: [] }

    expect(await read(feed(posting))).toEqual(found)
    expect(await read(feed(posting), {}, false)).toEqual(found)
    // More postings than the reader needs to see that a path is no better.
    expect(await read(feed(posting, 2_500))).toEqual(found)
  })

  it.each([
    '<job><id>1</id><title>#</title></job>',
    '<job><id>1</id><ref>2</ref><title>#</title></job>',
  ])(
    'is not their id if no path is better: a warning says so, and they are compared by their content: %s',
    async (posting) => {
      const found = {
        ...{ id: null, duplicates: 0, withoutId: 600 },
        warnings: ["no posting has its own id (id is shared): name the id's path in fields.id"],
      }

      expect(await read(feed(posting))).toEqual(found)
      expect(await read(feed(posting), {}, false)).toEqual(found)
    },
  )

  it('stays the id if the postings are equal, or if the configuration names its path', async () => {
    const repeats = { id: 'id', duplicates: 599, withoutId: 0 }

    expect(await read(feed('<job><id>1</id><title>x</title></job>'))).toMatchObject(repeats)
    expect(await read(feed('<job><id>1</id><ref>#</ref></job>'), { id: 'id' })).toMatchObject(
      repeats,
    )
  })
})

it('a feed without postings and without a configured path has a warning with the root and the key', async () => {
  expect((await contentOf('<a><b><c><d><item><id>1</id></item></d></c></b></a>')).warnings).toEqual(
    ['no postings were found below <a>: name their path in feeds.records'],
  )
})
