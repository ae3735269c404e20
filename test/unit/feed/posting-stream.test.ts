import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { FieldPaths } from '../../../src/domain/mapping.ts'
import {
  type PostingSource,
  type PostingStreamOptions,
  streamPostings,
} from '../../../src/feed/posting-stream.ts'

const directory = mkdtempSync(join(tmpdir(), 'posting-stream-'))
afterAll(() => rmSync(directory, { recursive: true }))

const FIELDS = [
  ...(['id', 'externalCampaignId', 'requisitionId', 'title'] as const),
  ...(['city', 'state', 'postalCode', 'description'] as const),
]

async function postingsOf(
  document: string | Buffer,
  more: Partial<PostingSource> = {},
  fields: PostingStreamOptions['fields'] = FIELDS,
) {
  const file = join(directory, 'feed.xml')
  writeFileSync(file, document)
  const postings: Record<string, string>[] = []
  const { signal } = new AbortController()
  const problem = await streamPostings(
    { file, encoding: null, records: '/source/job', paths: {}, ...more },
    (values) => postings.push(values),
    { fields, signal },
  )
  return { problem, postings }
}

const of = async (posting: string, paths: FieldPaths = {}) =>
  (await postingsOf(`<source><job>${posting}</job></source>`, { paths })).postings[0]

describe('the postings of a checked feed', () => {
  it('are read with the encoding that the check has found', async () => {
    const bytes = Buffer.from('<source><job><title>Caf\xe9</title></job></source>', 'latin1')

    const { postings, problem } = await postingsOf(bytes, { encoding: 'windows-1252' })

    expect([postings, problem]).toEqual([[{ title: 'Café' }], null])
  })

  it('are all reported, even if no field is wanted', async () => {
    const document = '<source><job><title>a</title></job><job/></source>'

    expect(await postingsOf(document, {}, [])).toEqual({ problem: null, postings: [{}, {}] })
  })

  it('have every field that targeting uses', async () => {
    const posting = `<referencenumber>1</referencenumber><campaignid>NUR</campaignid>
      <requisitionid>R-1</requisitionid><title>Nurse &amp; Carer</title><city>Boston</city>
      <state>MA</state><postalcode>02139</postalcode>
      <description><![CDATA[<p>night shift</p>]]></description>`

    expect(await of(posting)).toEqual({
      id: '1',
      externalCampaignId: 'NUR',
      requisitionId: 'R-1',
      title: 'Nurse & Carer',
      city: 'Boston',
      state: 'MA',
      postalCode: '02139',
      description: '<p>night shift</p>',
    })
  })

  it.each([
    [
      'Snagajob',
      '<Job_Title>Clerk</Job_Title><City>Richmond</City><State>VA</State><Zip>23225</Zip><Job_Description>x</Job_Description>',
    ],
    [
      'SimplyHired',
      '<title>Clerk</title><location><city>Richmond</city><state>VA</state><zip>23225</zip></location><description><summary>x</summary></description>',
    ],
    [
      'schema.org',
      '<title>Clerk</title><jobLocation><address><addressLocality>Richmond</addressLocality><addressRegion>VA</addressRegion><postalCode>23225</postalCode></address></jobLocation><description>x</description>',
    ],
    [
      'HR-XML 3',
      '<PositionProfile xmlns:oa="urn:oa"><PositionTitle>Clerk</PositionTitle><PositionLocation><ReferenceLocation><oa:CityName>Richmond</oa:CityName><oa:CountrySubDivisionCode>VA</oa:CountrySubDivisionCode><oa:PostalCode>23225</oa:PostalCode></ReferenceLocation></PositionLocation><PositionFormattedDescription><Content>x</Content></PositionFormattedDescription></PositionProfile>',
    ],
  ])('have title, place and description in the shape of %s', async (_, posting) => {
    expect(await of(posting)).toEqual({
      title: 'Clerk',
      city: 'Richmond',
      state: 'VA',
      postalCode: '23225',
      description: 'x',
    })
  })

  it('are read by the configured path of a field, and by the detected paths of the other fields', async () => {
    const posting = '<title>a</title><name>b</name><city>c</city>'

    expect(await of(posting, { title: 'name' })).toEqual({ title: 'b', city: 'c' })
  })

  it('have the whole text of a description with elements in it, and the texts of several descriptions', async () => {
    expect(await of('<description>registered <b>nurse</b>, nights</description>')).toEqual({
      description: 'registered  nurse , nights',
    })
    const blocks = '<jobDescription><value>one</value></jobDescription>'
    const posting = `<jobDescriptions>${blocks}${blocks.replace('one', 'two')}</jobDescriptions>`
    expect(await of(posting)).toEqual({ description: 'one\ntwo' })
  })

  it.each<[text: string, description: string, paths?: FieldPaths]>([
    ['<skills>nights</skills><summary>Ward <b>7</b></summary>', 'nights  Ward  7'],
    ['<summary>Ward 7</summary><skills>nights</skills>', 'Ward 7 nights'],
    ['day<summary>Ward 7</summary>night', 'day Ward 7 night'],
    ['day<town>Bonn</town>night', 'day Bonn night', { city: 'description/town' }],
  ])(
    'have the whole text of the description %s, including a field inside it',
    async (text, description, paths = {}) => {
      const posting = await of(`<description>${text}</description>`, paths)

      expect(posting?.description?.replaceAll(/ +/g, ' ')).toBe(description.replaceAll(/ +/g, ' '))
    },
  )

  it('have the text of a description before and after 100,000 empty elements', async () => {
    const posting = `<description>day${'<br/>'.repeat(100_000)}and night</description>`

    expect(await of(posting)).toEqual({ description: 'day and night' })
  })

  it('have at most 1,000 characters of a title and 65,536 of a description', async () => {
    const long = 'x'.repeat(70_000)
    const posting = await of(`<title>${long}</title><description>${long}</description>`)

    expect(posting?.title).toHaveLength(1_000)
    expect(posting?.description).toHaveLength(65_536)
  })

  it('are reported as no longer kept if their file is gone', async () => {
    const gone = { file: join(directory, 'gone.xml') }

    const { problem } = await postingsOf('<source/>', gone)

    expect(problem).toBe('its bytes are no longer kept')
  })

  it('are reported as damaged if the document is no longer complete', async () => {
    const { problem } = await postingsOf('<source><job><id>1</id></job>')

    expect(problem).toBe('its bytes in the spool are damaged')
  })
})
