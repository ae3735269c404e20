// These tests check sections 1 to 4 of the service's specification: search, states and endpoints. Each test has a
// sentence of the specification as its name.

import { describe, expect, it } from 'vitest'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'
import {
  ACCOUNT,
  CAMPAIGNS,
  call,
  create,
  feedOf,
  PARTNER,
  PRESIGN,
  post,
  upload,
} from '../../helpers/sandbox/vendor.ts'

const FIELDS = [
  ...['key', 'policy', 'success_action_status', 'x-store-algorithm', 'x-store-credential'],
  ...['x-store-date', 'x-store-security-token', 'x-store-signature'],
]

/** accountWithCampaigns returns the URL of a sandbox whose account has n campaigns, named C1 to Cn. */
async function accountWithCampaigns(n: number): Promise<string> {
  const { url } = await sandbox()
  for (let i = 1; i <= n; i++) await create(url, { name: `C${i}` })
  return url
}

const search = (url: string, query = '') => call(url, 'GET', CAMPAIGNS + query)
const namesOf = (campaigns: { name: string }[]) => campaigns.map(({ name }) => name)
const form = async (url: string) => (await call(url, 'POST', PRESIGN)).json

describe('What the service does', () => {
  it.each([
    ['a partner', PARTNER],
    ['an account holder', ACCOUNT],
  ])('The service lets a vendor (%s) sponsor job postings through campaigns.', async (_, who) => {
    const { url } = await sandbox()
    await upload(url, feedOf({ title: 'Nurse' }), who)

    const { json } = await create(url, {}, { who })

    expect(json.sponsoredPostings).toBe(1)
  })

  it('A campaign has a budget, an optional schedule, a bidding setup and optional targeting criteria that select which postings are sponsored.', async () => {
    const { url } = await sandbox()
    await upload(url, feedOf({ title: 'Nurse' }, { title: 'Cook' }))
    const fields = { budget: 900, endDate: '2999-01-01T00:00:00Z', paidCpaGoal: 12 }

    const { json } = await create(url, { ...fields, targeting: { jobTitles: ['cook'] } })

    expect(json).toMatchObject({ ...fields, sponsoredPostings: 1 })
  })
})

describe('Campaign collection (search result envelope)', () => {
  it('total: Total items across all pages', async () => {
    const { json } = await search(await accountWithCampaigns(3), '?Num=2')

    expect(json.total).toBe(3)
  })

  it('startNum: Number of the first result on the current page; the first result is number 1', async () => {
    const url = await accountWithCampaigns(3)

    expect((await search(url)).json.startNum).toBe(1)
    expect((await search(url, '?Start=2')).json.startNum).toBe(2)
    expect((await search(url, '?Start=4')).json.startNum).toBeNull()
  })

  it('endNum: Number of the last result on the current page', async () => {
    const url = await accountWithCampaigns(3)

    expect((await search(url, '?Num=2')).json.endNum).toBe(2)
    expect((await search(url, '?Start=3&Num=2')).json.endNum).toBe(3)
    expect((await search(url, '?Start=4')).json.endNum).toBeNull()
  })

  it('numRequested: Items requested for the page; the default is returned if none was specified', async () => {
    const url = await accountWithCampaigns(1)

    expect((await search(url, '?Num=7')).json.numRequested).toBe(7)
    expect((await search(url)).json.numRequested).toBe(100)
  })

  it('fromCache: Whether the response came from a cache', async () => {
    expect((await search(await accountWithCampaigns(0))).json.fromCache).toBe(false)
  })

  it('self: URL of the response', async () => {
    const url = await accountWithCampaigns(1)
    const query = '?Name=a%20b&Num=7'

    expect((await search(url, query)).json.self).toBe(url + CAMPAIGNS + query)
  })

  it('elapsed: Milliseconds spent processing', async () => {
    const box = await sandbox()
    const quick = await search(box.url)
    box.faults.add({ at: 'service', kind: 'slow', headersAfterMs: 40 })
    const slow = await search(box.url)

    expect(Number.isInteger(quick.json.elapsed)).toBe(true)
    expect(slow.json.elapsed).toBeGreaterThanOrEqual(39)
  })

  it('carries the campaign items', async () => {
    const { json } = await search(await accountWithCampaigns(2))

    expect(namesOf(json.campaigns)).toEqual(['C1', 'C2'])
  })
})

describe('Pre-signed upload information (response)', () => {
  it('url: Address to which the upload form is posted', async () => {
    const box = await sandbox()
    const { url } = await form(box.url)

    expect(url).toBe(box.storageUrl)
  })

  it('fileUrl: Final address of the uploaded file', async () => {
    const { url } = await sandbox()
    const { fileUrl, fields } = await form(url)

    expect(new URL(fileUrl).pathname).toContain(fields.key)
  })

  it('fields: Form fields to send with the file', async () => {
    const { url } = await sandbox()
    const { fields } = await form(url)

    expect(Object.keys(fields).sort()).toEqual(FIELDS)
    expect(Object.values(fields).every((value) => typeof value === 'string')).toBe(true)
  })
})

describe('States and transitions', () => {
  it.each([
    [1, 'Running'],
    [2, 'Archived'],
    [3, 'Paused'],
  ])(
    '%i: %s. A campaign can be set to a status by sending status in the create or update body',
    async (status) => {
      const { url } = await sandbox()
      const { json: made } = await create(url, { status })
      const { json: other } = await create(url, { status: status === 1 ? 3 : 1 })

      const put = await call(url, 'PUT', `${CAMPAIGNS}/${other.id}`, { status })

      expect([made.status, put.json.status]).toEqual([status, status])
    },
  )

  it('when status is left out the campaign stays in its current status', async () => {
    const { url } = await sandbox()
    const { json } = await create(url, { status: 3 })

    const put = await call(url, 'PUT', `${CAMPAIGNS}/${json.id}`, { name: 'Cooks' })

    expect(put.json.status).toBe(3)
  })

  it.each([0, 4, 1.5, '1'])('create and update refuse a wrong status: %j', async (status) => {
    const { url } = await sandbox()
    const { json } = await create(url)

    expect((await create(url, { status })).status).toBe(400)
    expect((await call(url, 'PUT', `${CAMPAIGNS}/${json.id}`, { status })).status).toBe(400)
  })
})

describe('Endpoints', () => {
  it('All success responses are status 200 with a JSON body.', async () => {
    const { url } = await sandbox()
    const made = await create(url)
    const one = `${CAMPAIGNS}/${made.json.id}`
    const answers = [
      made,
      await search(url),
      await call(url, 'GET', one),
      await call(url, 'PUT', one, { budget: 5 }),
      await call(url, 'POST', PRESIGN),
    ]

    for (const { status, type, json } of answers) {
      expect(status).toBe(200)
      expect(type).toMatch(/^application\/json\b/)
      expect(typeof json).toBe('object')
    }
  })

  it('All paths are relative to {base_url}.', async () => {
    const { url } = await sandbox()
    const outside = url.replace('/api', '')

    expect(url).toMatch(/\/api$/)
    expect((await call(outside, 'GET', CAMPAIGNS)).status).toBe(404)
  })

  it('POST /v1/campaigns: Create a campaign. Response 200: Campaign.', async () => {
    const { url } = await sandbox()
    const { status, json } = await create(url)

    expect(status).toBe(200)
    expect((await search(url)).json.campaigns).toEqual([json])
  })

  it('GET /v1/campaigns: Query parameters, all optional: Status (integer enum, values of section 3)', async () => {
    const { url } = await sandbox()
    for (const status of [1, 2, 3]) await create(url, { name: `S${status}`, status })

    for (const status of [1, 2, 3]) {
      const { json } = await search(url, `?Status=${status}`)
      expect(namesOf(json.campaigns)).toEqual([`S${status}`])
    }
    for (const wrong of ['4', '0', '-1', '1.0', 'running', '', '1&Status=1']) {
      expect((await search(url, `?Status=${wrong}`)).status).toBe(400)
    }
  })

  it('GET /v1/campaigns: Name (string)', async () => {
    const { url } = await sandbox()
    for (const name of ['Night nurses', 'Cooks & more']) await create(url, { name })

    expect(namesOf((await search(url, '?Name=nurses')).json.campaigns)).toEqual(['Night nurses'])
    const { json } = await search(url, `?Name=${encodeURIComponent('Cooks & more')}`)
    expect(namesOf(json.campaigns)).toEqual(['Cooks & more'])
  })

  it.each(['Start', 'Num'])('GET /v1/campaigns: %s (integer int32)', async (parameter) => {
    const url = await accountWithCampaigns(1)

    for (const right of ['1', '2147483647']) {
      expect((await search(url, `?${parameter}=${right}`)).status).toBe(200)
    }
    for (const wrong of ['0', '-1', '2147483648', '1.5', '1e3', '%201', 'x', '']) {
      expect((await search(url, `?${parameter}=${wrong}`)).status).toBe(400)
    }
  })

  it('GET /v1/campaigns: Start and Num are the paging position and page size, as suggested by the envelope fields', async () => {
    const { json } = await search(await accountWithCampaigns(5), '?Start=2&Num=2')

    expect(json).toMatchObject({ total: 5, startNum: 2, endNum: 3, numRequested: 2 })
    expect(namesOf(json.campaigns)).toEqual(['C2', 'C3'])
  })

  it('GET /v1/campaigns has these parameters and no others', async () => {
    expect((await search(await accountWithCampaigns(0), '?status=1')).status).toBe(400)
  })

  it('GET /v1/campaigns/{id}: Path parameter id: string, required.', async () => {
    const { url } = await sandbox()
    const { json } = await create(url)

    expect((await call(url, 'GET', `${CAMPAIGNS}/${json.id}`)).json).toEqual(json)
    expect((await call(url, 'GET', `${CAMPAIGNS}/none`)).status).toBe(404)
    expect((await call(url, 'GET', `${CAMPAIGNS}/%zz`)).status).toBe(400)
  })

  it('PUT /v1/campaigns/{id}: Only the fields sent are changed; unsent fields stay as they are.', async () => {
    const { url } = await sandbox()
    await upload(url, feedOf({ title: 'Nurse' }, { title: 'Cook' }))
    const targeting = { jobTitles: ['cook'] }
    const { json } = await create(url, { budget: 5, cpc: 0.5, targeting })

    const put = await call(url, 'PUT', `${CAMPAIGNS}/${json.id}`, { name: 'Cooks' })

    expect(put.json).toEqual({ ...json, name: 'Cooks' })
    expect((await call(url, 'GET', `${CAMPAIGNS}/${json.id}`)).json).toEqual(put.json)
  })

  it('PUT /v1/campaigns/{id}: Editable by a vendor: name, endDate, budget (the monthly budget when the campaign is recurring), targeting.', async () => {
    const { url } = await sandbox()
    await upload(url, feedOf({ title: 'Nurse' }, { title: 'Cook' }))
    const { json } = await create(url, { budget: 5, period: 1 })
    const fields = { name: 'Cooks', endDate: '2999-01-01T00:00:00Z', budget: 7 }

    const put = await call(url, 'PUT', `${CAMPAIGNS}/${json.id}`, {
      ...fields,
      targeting: { jobTitles: ['cook'] },
    })

    expect(put.json).toEqual({ ...json, ...fields, sponsoredPostings: 1 })
  })

  it('PUT /v1/campaigns/{id}: Body fields: name, endDate, budget, autoBidLevel, cpc, maxCpc, status, paidCpaGoal. All optional', async () => {
    const { url } = await sandbox()
    const { json } = await create(url)
    const fields = {
      ...{ name: '', endDate: '2999-01-01T00:00:00Z', budget: 7, autoBidLevel: 'standard' },
      ...{ cpc: 0.5, maxCpc: 1, status: 3, paidCpaGoal: 12 },
    }

    for (const [field, value] of Object.entries(fields)) {
      const put = await call(url, 'PUT', `${CAMPAIGNS}/${json.id}`, { [field]: value })
      expect([put.status, put.json[field]]).toEqual([200, value])
    }
  })

  it('PUT /v1/campaigns/{id}: all but status are nullable', async () => {
    const { url } = await sandbox()
    const fields = ['name', 'endDate', 'budget', 'cpc', 'maxCpc', 'paidCpaGoal']
    const filled = { endDate: '2999-01-01T00:00:00Z', budget: 7, maxCpc: 1, paidCpaGoal: 12 }
    const { json } = await create(url, { ...filled, cpc: 0.5 })

    for (const field of [...fields, 'autoBidLevel', 'targeting']) {
      const put = await call(url, 'PUT', `${CAMPAIGNS}/${json.id}`, { [field]: null })
      expect(put.status).toBe(200)
      if (fields.includes(field)) expect(put.json[field]).toBeNull()
    }
    expect((await call(url, 'PUT', `${CAMPAIGNS}/${json.id}`, { status: null })).status).toBe(400)
  })

  it('PUT /v1/campaigns/{id}: startDate and period are not in the update body.', async () => {
    const { url } = await sandbox()
    const { json } = await create(url)

    for (const field of [{ startDate: '2999-01-01T00:00:00Z' }, { period: 1 }]) {
      expect((await call(url, 'PUT', `${CAMPAIGNS}/${json.id}`, field)).status).toBe(400)
    }
  })

  it('POST /v1/presigned-storage-posting-post: Headers: X-SVC-Partner, X-SVC-PartnerAccount, X-SVC-Signature, X-SVC-Date.', async () => {
    const { url } = await sandbox()

    const { status, json } = await call(url, 'POST', PRESIGN, undefined, { who: PARTNER })

    expect(status).toBe(200)
    expect(Object.keys(json).sort()).toEqual(['fields', 'fileUrl', 'url'])
  })
})

describe('Feed upload procedure (two steps)', () => {
  const FEED = feedOf({ title: 'Nurse' })

  it('Send a multipart form POST to the returned url containing every entry of fields as a form field plus the XML feed file in a form field named file.', async () => {
    const box = await sandbox()

    expect((await post(await form(box.url), FEED)).status).toBe(201)
    expect(box.objects()).toMatchObject([{ bytes: FEED.length }])
    for (const field of FIELDS) {
      const { url, fields } = await form(box.url)
      const { [field]: _, ...others } = fields
      expect((await post({ url, fields: others }, FEED)).status).toBeGreaterThanOrEqual(400)
    }
    expect(box.objects()).toHaveLength(1)
  })

  it('This request goes to the storage address and is not signed with the service headers.', async () => {
    const box = await sandbox()
    const signed = { 'X-SVC-Date': new Date().toUTCString() }

    expect(new URL(box.storageUrl).origin).not.toBe(new URL(box.url).origin)
    expect((await post(await form(box.url), FEED, signed)).status).toBe(400)
  })

  it.each(['200', '201', '204'])(
    'The upload request is accepted with the success status named in the success_action_status field: %s',
    async (successStatus) => {
      const { url } = await sandbox({ successStatus })
      const { url: target, fields } = await form(url)

      expect(fields.success_action_status).toBe(successStatus)
      expect((await post({ url: target, fields }, FEED)).status).toBe(Number(successStatus))
    },
  )
})
