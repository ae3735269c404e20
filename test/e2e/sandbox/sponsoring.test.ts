import { describe, expect, it } from 'vitest'
import { readMapping } from '../../../src/sandbox/service/posting-reader.ts'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'
import {
  answerOf,
  CAMPAIGNS,
  call,
  create,
  feedOf,
  PARTNER,
  PRESIGN,
  setSpendAndLeads,
  upload,
} from '../../helpers/sandbox/vendor.ts'

const NURSES = { targeting: { jobTitles: ['nurse'] } }

/** sponsored returns how many postings of a feed the nurses' campaign sponsors. */
async function sponsored(feed: string | Buffer): Promise<number> {
  const box = await sandbox()
  await upload(box.url, feed)
  return (await create(box.url, NURSES)).json.sponsoredPostings
}

async function control(box: { controlUrl: string }, what: string, body?: object) {
  const sent = body && { method: 'PUT', body: JSON.stringify(body) }
  return answerOf(await fetch(`${box.controlUrl}/${what}`, sent))
}

describe('a mapping of fields', () => {
  it('is refused with the place of a field that is unknown', () => {
    expect(() => readMapping('{"record":"offer","name":"a"}')).toThrow(
      'fields[0].name: unknown key',
    )
  })
})

describe('the sandbox sponsors', () => {
  it('the postings of the newest upload of the account, and no others', async () => {
    const { url } = await sandbox()
    await upload(url, feedOf({ title: 'Nurse' }, { title: 'Nurse' }, { title: 'Cook' }))
    await upload(url, feedOf({ title: 'Nurse' }), PARTNER)
    const { json } = await create(url, NURSES)
    expect(json.sponsoredPostings).toBe(2)

    await upload(url, feedOf({ title: 'Nurse' }, { title: 'Cook' }))

    const read = await call(url, 'GET', `${CAMPAIGNS}/${json.id}`)
    expect(read.json.sponsoredPostings).toBe(1)
  })

  it.each<[string, string | Buffer]>([
    ['nested', '<jobs><job><where><x/></where><info><title>Nurse</title></info></job></jobs>'],
    ['escaped', '<jobs><Item n="1"><Job_Title>Nurse&#32;&amp; more</Job_Title></Item></jobs>'],
    ['in CDATA', '<jobs><job><title><![CDATA[Nurse & more]]></title></job></jobs>'],
    [
      'with a namespace',
      '<f:jobs xmlns:f="urn:f"><f:job><f:title>Nurse</f:title></f:job></f:jobs>',
    ],
    ['in UTF-16', Buffer.from('\uFEFF<jobs><job><title>Nurse ☂</title></job></jobs>', 'utf16le')],
    [
      'in ISO-8859-1',
      Buffer.from(
        '<?xml version="1.0" encoding="ISO-8859-1"?><jobs><job><title>Nurse é</title></job></jobs>',
        'latin1',
      ),
    ],
  ])('postings whose fields are %s', async (_, feed) => {
    expect(await sponsored(feed)).toBe(1)
  })

  it('postings whose fields a mapping names', async () => {
    const mapping = { record: 'offer', title: 'texts/head', state: 'at/@region' }
    const fields = readMapping(JSON.stringify(mapping))
    const offers = ['MA', 'ON'].map(
      (region) => `<offer><texts><head>Nurse</head></texts><at region="${region}">x</at></offer>`,
    )
    const box = await sandbox({ fields })
    await upload(box.url, `<feed>${offers.join('')}</feed>`)

    const targeting = { ...NURSES.targeting, stateProvCodes: ['MA'] }
    const { json } = await create(box.url, { targeting })

    expect(json.sponsoredPostings).toBe(1)
  })

  it('nothing of a broken feed, and shows the reason', async () => {
    const box = await sandbox()
    await upload(box.url, '<jobs><job><title>Nurse</title></job><job></jobs>')

    const { json } = await create(box.url, NURSES)

    expect(json.sponsoredPostings).toBe(0)
    const { json: listed } = await control(box, `postings?campaign=${json.id}`)
    expect(listed).toEqual({
      total: 0,
      problem: expect.stringMatching(/^1:\d+: /),
      postings: [],
    })
  })

  it('nothing of a feed with a text of more than 16 MiB, and shows the reason', async () => {
    const box = await sandbox()
    await upload(box.url, `<jobs><job><title>${'Nurse '.repeat(3e6)}</title></job></jobs>`)

    const { json } = await create(box.url, NURSES)

    expect(json.sponsoredPostings).toBe(0)
    const { json: listed } = await control(box, `postings?campaign=${json.id}`)
    expect(listed).toMatchObject({ problem: 'a text is longer than 16 MiB' })
  })

  it('the postings that a control route lists by campaign, at most 1,000 at once and without descriptions; an unknown campaign is answered with 404', async () => {
    const box = await sandbox()
    const postings = Array.from({ length: 1500 }, (_, n) => ({
      ...{ title: n % 3 === 0 ? 'Cook' : 'Nurse', requisitionid: `R${n}` },
      ...{ description: 'long' },
    }))
    await upload(box.url, feedOf(...postings))
    const { json } = await create(box.url, { targeting: {} })
    const nurses = await create(box.url, NURSES)

    const first = await control(box, `postings?campaign=${json.id}`)
    const rest = await control(box, `postings?campaign=${json.id}&start=1001`)
    const some = await control(box, `postings?campaign=${nurses.json.id}`)

    expect([first.json.total, first.json.postings.length, rest.json.postings.length]).toEqual([
      ...[1500, 1000, 500],
    ])
    expect([some.json.total, nurses.json.sponsoredPostings]).toEqual([1000, 1000])
    expect(some.json.postings[0]).toEqual({
      ...{ id: '', externalCampaignId: '', requisitionId: 'R1', title: 'Nurse' },
      ...{ city: '', state: '', postalCode: '' },
    })
    expect((await control(box, 'postings?campaign=1')).status).toBe(404)
  })

  it('until the spend reaches the budget; a control route sets spend and leads, and refuses other changes and campaigns', async () => {
    const box = await sandbox()
    await upload(box.url, feedOf({ title: 'Nurse' }))
    const { json } = await create(box.url, { budget: 10 })
    const shown = async () => (await call(box.url, 'GET', `${CAMPAIGNS}/${json.id}`)).json

    await setSpendAndLeads(box, json.id, { spend: 9.5, leads: 2 })
    expect(await shown()).toMatchObject({ spend: 9.5, leads: 2, sponsoredPostings: 1 })
    await setSpendAndLeads(box, json.id, { spend: 10 })
    expect(await shown()).toMatchObject({ spend: 10, leads: 2, sponsoredPostings: 0 })

    expect((await control(box, `campaigns/${json.id}`, { spend: -1 })).status).toBe(400)
    expect((await control(box, `campaigns/${json.id}`, { cpc: 1 })).status).toBe(400)
    expect((await control(box, 'campaigns/1', { spend: 1 })).status).toBe(404)
  })

  it('nothing before the first upload', async () => {
    const { url } = await sandbox()
    await call(url, 'POST', PRESIGN)

    expect((await create(url)).json.sponsoredPostings).toBe(0)
  })
})
