// The statements of the specification that the other files of this folder do not test, and a test that each statement
// has one. The client is written from the specification alone.

import { generateKeyPairSync, sign } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
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
  setSpendAndLeads,
} from '../../helpers/sandbox/vendor.ts'

const MINUTE = 60_000
const FEED = feedOf({ title: 'Nurse' }, { title: 'Cook' })
const form = async (url: string) => (await call(url, 'POST', PRESIGN)).json

/** made returns a sandbox with one campaign, and functions that change and read it. */
async function made(fields: object = {}) {
  const box = await sandbox()
  await post(await form(box.url), FEED)
  const { json } = await create(box.url, fields)
  const path = `${CAMPAIGNS}/${json.id}`
  const put = (change: object) => call(box.url, 'PUT', path, change)
  const get = () => call(box.url, 'GET', path)
  return { ...{ box, path, put, get }, id: json.id as string, first: json }
}

describe('What the service does', () => {
  it('The service also issues a pre-signed upload form so that a vendor can put an XML job feed file into a storage location.', async () => {
    const { url } = await sandbox()
    const issued = await form(url)

    expect((await post(issued, FEED)).status).toBe(201)
    expect(await (await fetch(issued.fileUrl)).text()).toBe(FEED)
  })

  it('Every call is signed.', async () => {
    const { box, path } = await made()
    const calls = [
      ['POST', CAMPAIGNS],
      ['GET', CAMPAIGNS],
      ['GET', path],
      ['PUT', path],
      ['POST', PRESIGN],
    ] as const

    for (const [method, route] of calls) {
      const body = method === 'GET' ? undefined : {}
      const { status } = await call(box.url, method, route, body, { signature: null })
      expect([method, route, status]).toEqual([method, route, 401])
    }
  })
})

describe('Campaign (returned by create, read and update)', () => {
  it('Other periods (weekly, fortnightly, quarterly) may be added later: until then they are refused', async () => {
    const { url } = await sandbox()

    for (const period of [2, 3, 7, 'weekly']) {
      expect((await create(url, { period })).status).toBe(400)
    }
  })

  it('spend: number (double), not nullable', async () => {
    const { box, id, get, first } = await made()
    await setSpendAndLeads(box, id, { spend: 0.1 + 0.2 })

    expect(first.spend).toBe(0)
    expect((await get()).json.spend).toBe(0.1 + 0.2)
  })

  it('sponsoredPostings: integer (int32), not nullable', async () => {
    const { first, put } = await made()

    expect(first.sponsoredPostings).toBe(2)
    expect((await put({ status: 3 })).json.sponsoredPostings).toBe(0)
  })
})

describe('Campaign collection (search result envelope)', () => {
  it('fromCache: boolean, nullable', async () => {
    const { url } = await sandbox({ knobs: { fromCache: null } })
    const other = await sandbox({ knobs: { fromCache: true } })

    expect((await call(url, 'GET', CAMPAIGNS)).json.fromCache).toBeNull()
    expect((await call(other.url, 'GET', CAMPAIGNS)).json.fromCache).toBe(true)
  })
})

describe('Pre-signed upload information (response): fields', () => {
  it.each([
    ['fields.key', 'key'],
    ['fields.policy', 'policy'],
    ['fields.success_action_status', 'success_action_status'],
    ['fields.x-store-algorithm', 'x-store-algorithm'],
    ['fields.x-store-credential', 'x-store-credential'],
    ['fields.x-store-date', 'x-store-date'],
    ['fields.x-store-security-token', 'x-store-security-token'],
    ['fields.x-store-signature', 'x-store-signature'],
  ])('%s is a text that the storage demands unchanged', async (_, field) => {
    const box = await sandbox()
    const { url, fields } = await form(box.url)
    const changed = { ...fields, [field]: `${fields[field]}x` }

    expect(typeof fields[field]).toBe('string')
    expect(fields[field]).not.toBe('')
    expect((await post({ url, fields: changed }, FEED)).status).toBeGreaterThanOrEqual(400)
    expect(box.objects()).toEqual([])
    expect((await post({ url, fields }, FEED)).status).toBe(201)
  })
})

describe('Endpoints', () => {
  it('All requests carry the headers of section 5.', async () => {
    const { url } = await sandbox()

    expect((await call(url, 'GET', CAMPAIGNS, undefined, { who: {} })).status).toBe(401)
    expect((await fetch(url + CAMPAIGNS, { headers: ACCOUNT })).status).toBe(401)
  })

  it('POST /v1/campaigns: Body: the campaign create body', async () => {
    const { url } = await sandbox()
    const fields = {
      ...{ name: 'A', startDate: '2027-01-04T00:00:00Z', endDate: '2999-01-01T00:00:00Z' },
      ...{ autoBidLevel: 'standard', cpc: 1, maxCpc: 2, paidCpaGoal: 3, budget: 4, period: 1 },
      status: 3,
    }

    const { status, json } = await create(url, { ...fields, targeting: { postalCodes: ['1'] } })

    expect(status).toBe(200)
    expect(json).toMatchObject(fields)
  })

  it('GET /v1/campaigns: Search campaigns. Response 200: Campaign collection.', async () => {
    const { box, first } = await made()
    const { status, json } = await call(box.url, 'GET', CAMPAIGNS)

    expect(status).toBe(200)
    expect(json).toEqual({
      ...{ total: 1, startNum: 1, endNum: 1, numRequested: 100, fromCache: false },
      ...{ self: box.url + CAMPAIGNS, elapsed: expect.any(Number), campaigns: [first] },
    })
  })

  it('GET /v1/campaigns/{id}: Read one campaign', async () => {
    const { get, first } = await made({ name: 'One', budget: 5 })
    const { status, json } = await get()

    expect([status, json.name, json.budget, json.id]).toEqual([200, 'One', 5, first.id])
  })

  it('GET /v1/campaigns/{id}: Response 200: Campaign (some internal fields are removed).', async () => {
    const { get } = await made()
    const names = Object.keys((await get()).json).sort()

    expect(names).toEqual([
      ...['accountId', 'autoBidLevel', 'budget', 'cpc', 'endDate', 'id', 'leads', 'maxCpc', 'name'],
      ...['paidCpaGoal', 'period', 'spend', 'sponsoredPostings', 'startDate', 'status'],
    ])
  })

  it('PUT /v1/campaigns/{id}: Update a campaign', async () => {
    const { put, get } = await made()
    await put({ budget: 7 })

    expect((await get()).json.budget).toBe(7)
  })

  it('PUT /v1/campaigns/{id}: Path parameter id: string, required.', async () => {
    const { box } = await made()

    expect((await call(box.url, 'PUT', `${CAMPAIGNS}/none`, { budget: 1 })).status).toBe(404)
    expect((await call(box.url, 'PUT', CAMPAIGNS, { budget: 1 })).status).toBe(405)
    const theirs = await call(box.url, 'PUT', `${CAMPAIGNS}/48001`, { budget: 1 }, { who: PARTNER })
    expect(theirs.status).toBe(404)
  })

  it('Editable by a vendor: name', async () => {
    const { put } = await made()

    expect((await put({ name: ' any string ' })).json.name).toBe(' any string ')
  })

  it('Editable by a vendor: endDate', async () => {
    const { put } = await made()
    const endDate = '2999-01-01T00:00:00Z'

    expect((await put({ endDate })).json.endDate).toBe(endDate)
    expect((await put({ endDate: null })).json.endDate).toBeNull()
  })

  it('Editable by a vendor: budget (the monthly budget when the campaign is recurring)', async () => {
    const { box, id, put, get } = await made({ budget: 5, period: 1 })
    await setSpendAndLeads(box, id, { spend: 5 })
    expect((await get()).json.sponsoredPostings).toBe(0)

    const { json } = await put({ budget: 6 })

    expect(json).toMatchObject({ budget: 6, period: 1, spend: 5, sponsoredPostings: 2 })
  })

  it('Editable by a vendor: targeting', async () => {
    const { put } = await made()

    const { json } = await put({ targeting: { jobTitles: ['nurse'] } })

    expect(json.sponsoredPostings).toBe(1)
  })

  it.each([
    ['body field name (string)', 'name', ['', 'A'], [7, true]],
    ['body field endDate (date-time)', 'endDate', ['2999-01-01T00:00:00Z', null], ['soon', 7]],
    ['body field budget (number)', 'budget', [0, 1.5, null], ['1', -1]],
    ['body field autoBidLevel (string)', 'autoBidLevel', ['standard', 'accelerated'], ['fast', 1]],
    ['body field cpc (number)', 'cpc', [0.01, null], ['1', -1]],
    ['body field maxCpc (number)', 'maxCpc', [0.01, null], ['1', -1]],
    ['body field status (integer enum)', 'status', [1, 2, 3], [0, 4, '1', null]],
    ['body field paidCpaGoal (number)', 'paidCpaGoal', [12, null], ['1', -1]],
  ])('PUT /v1/campaigns/{id}: %s', async (_, field, right, wrong) => {
    const { put, get } = await made()

    for (const value of right) {
      const { status, json } = await put({ [field]: value })
      expect([status, json[field]]).toEqual([200, value])
    }
    const { json: before } = await get()
    for (const value of wrong) {
      const { status, json } = await put({ [field]: value })
      expect([status, json.message]).toEqual([400, expect.stringContaining(`${field}: expected`)])
    }
    expect((await get()).json).toEqual(before)
  })

  it('PUT /v1/campaigns/{id}: Response 200: Campaign.', async () => {
    const { put, get } = await made()
    const { status, json } = await put({ budget: 3 })

    expect(status).toBe(200)
    expect(json).toEqual((await get()).json)
  })

  it('POST /v1/presigned-storage-posting-post: Request body: not shown (the example sends none).', async () => {
    const { url } = await sandbox()

    for (const body of [undefined, {}, { any: 'thing' }]) {
      expect((await call(url, 'POST', PRESIGN, body)).status).toBe(200)
    }
  })

  it('POST /v1/presigned-storage-posting-post: Response 200: pre-signed upload information', async () => {
    const { url } = await sandbox()
    const { status, json } = await call(url, 'POST', PRESIGN)

    expect(status).toBe(200)
    expect(json).toEqual({
      ...{ url: expect.any(String), fileUrl: expect.any(String) },
      fields: expect.any(Object),
    })
  })
})

describe('Feed upload procedure (two steps)', () => {
  it('Call the pre-signed endpoint above. Each call gives a form of its own', async () => {
    const { url } = await sandbox()
    const [one, two] = [await form(url), await form(url)]

    expect(one.fields.key).not.toBe(two.fields.key)
    for (const issued of [one, two]) expect((await post(issued, FEED)).status).toBe(201)
  })
})

describe('Authentication', () => {
  it('An API key is obtained from the service operator. It stands in for a signature', async () => {
    const { url } = await sandbox()
    const status = async (key: string) => {
      const headers = {
        ...{ ...ACCOUNT, 'X-SVC-Date': new Date().toUTCString() },
        'X-SVC-ApiKey': key,
      }
      return (await fetch(url + CAMPAIGNS, { headers })).status
    }

    expect([await status('key-of-the-tests'), await status('other')]).toEqual([200, 401])
  })

  it('Every call carries a signature and the following headers: an account, or a partner and its account, and a date', async () => {
    const { url } = await sandbox()
    const status = async (who: Record<string, string>) =>
      (await call(url, 'GET', CAMPAIGNS, undefined, { who })).status

    expect([await status(ACCOUNT), await status(PARTNER), await status({})]).toEqual([
      ...[200, 200, 401],
    ])
  })

  it('X-SVC-Date: required', async () => {
    const { url } = await sandbox()
    const answer = await fetch(url + CAMPAIGNS, {
      headers: { ...ACCOUNT, 'X-SVC-Signature': 'AAAA' },
    })

    expect(answer.status).toBe(401)
    expect(await answer.json()).toMatchObject({ code: 'date-missing' })
  })

  it('X-SVC-Signature: made with a private key, and verified with its public key', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const secret = publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const { url } = await sandbox({
      callers: [{ account: '123', secret, algorithm: 'rsa-sha256' }],
    })
    const date = new Date().toUTCString()
    const signed = (text: string) => sign('sha256', Buffer.from(text), privateKey)
    const status = async (text: string) => {
      const signature = signed(text).toString('base64')
      return (await call(url, 'GET', CAMPAIGNS, undefined, { date, signature })).status
    }

    expect(await status(`GET${CAMPAIGNS}?;;${date}`)).toBe(200)
    expect(await status(`GET${CAMPAIGNS}?;;`)).toBe(401)
  })
})

describe('Errors, limits and versioning', () => {
  const statusAt = async (ageMs: number) => {
    const { url } = await sandbox()
    const date = new Date(Date.now() - ageMs).toUTCString()
    return (await call(url, 'GET', CAMPAIGNS, undefined, { date })).status
  }

  it('a request whose X-SVC-Date is older than 15 minutes is rejected', async () => {
    expect(await statusAt(16 * MINUTE)).toBe(401)
  })

  it('Age of X-SVC-Date accepted: 15 minutes', async () => {
    expect(await statusAt(14 * MINUTE)).toBe(200)
  })
})

describe('the statements of the specification', () => {
  const statements = readFileSync(join(import.meta.dirname, '../../data/specification.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))

  it('are at least 133, and each is the name of a test', () => {
    const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'))
    const tests = files.map((name) => readFileSync(join(import.meta.dirname, name), 'utf8')).join()

    expect(new Set(statements).size).toBeGreaterThanOrEqual(133)
    expect(statements.filter((statement) => !tests.includes(statement))).toEqual([])
  })
})
