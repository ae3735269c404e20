import { describe, expect, it } from 'vitest'
import { contentOf } from '../../helpers/feeds.ts'

describe('fields', () => {
  const jobs = (...records: string[]) =>
    `<jobs>${records.map((record) => `<job ${record}</job>`).join('')}</jobs>`

  it('are detected: campaign ids with the number of their postings, and the number of requisition ids', async () => {
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
    ['an element below another', 'budget/campaign', '><budget><campaign>C</campaign></budget>'],
    ['an attribute', '@cid', ' cid="C">'],
    ['an attribute in another case', '@CID', ' cid="C">'],
    ['an attribute of an element', 'ads/@cid', '><ads cid="C"/>'],
    [
      'an element with this attribute',
      "tag[@name='campaign']",
      '><tag name="city">X</tag><tag name="campaign">C</tag>',
    ],
    ['an attribute value with a slash', "tag[@name='a/b']/v", '><tag name="a/b"><v>C</v></tag>'],
    ['an element with a prefix', 'x:cid', ' xmlns:x="urn:x"><x:cid>C</x:cid>'],
    ['no prefix in the path', 'cid', ' xmlns:x="urn:x"><x:cid>C</x:cid>'],
    ['an element in another case', 'CID', '><cid>C</cid>'],
    ['the exact case first', 'cid', '><CID>X</CID><cid>C</cid>'],
    ['the first value that is not empty', 'cid', '><cid/><cid>C</cid><cid>D</cid>'],
    ['its own text alone', 'cid', '><cid>  <b>no</b>C</cid>'],
  ])('are read from a configured path, %s: %s', async (_, path, record) => {
    const content = await contentOf(jobs(record), { fields: { externalCampaignId: path } })

    expect(content.externalCampaignIds).toEqual({ C: 1 })
  })

  it('have the same value at every cut between two pieces of the file', async () => {
    const record = '<job><campaignid><![CDATA[SPRING 24]]></campaignid></job>'
    for (let cut = 0; cut <= record.length; cut++) {
      // The checker reads pieces of 65,536 bytes: `cut` bytes of the record are in the first piece.
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

  it('with a configured path are not detected, and the other fields still are', async () => {
    const document = jobs('><id>1</id><campaignid>A</campaignid><requisitionid>R</requisitionid>')

    const content = await contentOf(document, { fields: { externalCampaignId: 'segment' } })

    expect(content).toMatchObject({ externalCampaignIds: {}, requisitionIds: 1, warnings: [] })
  })

  it('are not read from elements of the same name that lie deeper', async () => {
    expect(
      (await contentOf(jobs('><company><id>9</id></company>', '><id>1</id>'))).warnings,
    ).toEqual(['1 posting without an id'])
  })

  it.each(['', '/', 'a//b', 'a[b]', '@', "a[@b='c", 'a b', '@a/b'])(
    'cannot have the path %j',
    async (path) => {
      await expect(contentOf(jobs('>'), { fields: { id: path } })).rejects.toThrow(/field path/)
    },
  )
})
