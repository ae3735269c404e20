// These tests check sections 5 and 9 of the service's specification: authentication and versioning. Each test has a
// sentence of the specification as its name.

import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { SECRET } from '../../helpers/sandbox/client.ts'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'
import { ACCOUNT, CAMPAIGNS, call, PARTNER, PRESIGN } from '../../helpers/sandbox/vendor.ts'

const ENDPOINTS: [method: string, path: string][] = [
  ['POST', CAMPAIGNS],
  ['GET', CAMPAIGNS],
  ['GET', `${CAMPAIGNS}/48001`],
  ['PUT', `${CAMPAIGNS}/48001`],
  ['POST', PRESIGN],
]
const SECOND = 1000
const MINUTE = 60 * SECOND

/** statuses returns the status of a search and of a call for a form. */
async function statuses(options: Parameters<typeof call>[4]): Promise<number[]> {
  const { url } = await sandbox()
  const search = await call(url, 'GET', CAMPAIGNS, undefined, options)
  const form = await call(url, 'POST', PRESIGN, undefined, options)
  return [search.status, form.status]
}

const timeAgo = (ms: number) => new Date(Date.now() - ms).toUTCString()

describe('Authentication', () => {
  it.each(ENDPOINTS)(
    'Every call to the service carries a signature: %s %s',
    async (method, path) => {
      const { url } = await sandbox()
      const body = method === 'GET' ? undefined : { name: 'Nurses' }

      for (const signature of [null, 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=']) {
        expect((await call(url, method, path, body, { signature })).status).toBe(401)
      }
    },
  )

  it('X-SVC-Account: Required if X-SVC-Partner is absent, and must be known', async () => {
    expect(await statuses({ who: ACCOUNT })).toEqual([200, 200])
    expect(await statuses({ who: {} })).toEqual([401, 401])
    expect(await statuses({ who: { 'X-SVC-Account': '124' } })).toEqual([403, 403])
  })

  it('X-SVC-Partner: Required if X-SVC-Account is absent, and must be known', async () => {
    expect(await statuses({ who: PARTNER })).toEqual([200, 200])
    expect(await statuses({ who: {} })).toEqual([401, 401])
    expect(await statuses({ who: { ...PARTNER, 'X-SVC-Partner': 'other' } })).toEqual([403, 403])
  })

  it('X-SVC-PartnerAccount: Required if X-SVC-Partner is present, not enough alone, and must be known', async () => {
    expect(await statuses({ who: { 'X-SVC-Partner': 'acme' } })).toEqual([401, 401])
    expect(await statuses({ who: { 'X-SVC-PartnerAccount': '42' } })).toEqual([401, 401])
    const stranger = { ...PARTNER, 'X-SVC-PartnerAccount': '99' }
    expect(await statuses({ who: stranger })).toEqual([403, 403])
  })

  it.each([
    '2026-10-31T20:23:10Z',
    'Mon, 31 Oct 2022 20:23:10 +0000',
    'Monday, 31-Oct-22 20:23:10 GMT',
    'now',
  ])('X-SVC-Date: Request time in RFC 1123 format, and not %s', async (date) => {
    expect(await statuses({ date })).toEqual([401, 401])
  })

  it('X-SVC-Date: Dates older than 15 minutes are rejected', async () => {
    expect(await statuses({ date: timeAgo(14 * MINUTE) })).toEqual([200, 200])
    expect(await statuses({ date: timeAgo(15 * MINUTE + 2 * SECOND) })).toEqual([401, 401])
  })

  it('X-SVC-Signature: Base64-encoded signature of the request, made with a private key', async () => {
    const { url } = await sandbox()
    const date = new Date().toUTCString()
    const hmac = createHmac('sha1', SECRET).update(`GET${CAMPAIGNS}?;;${date}`).digest()
    const statusIn = async (encoding: 'base64' | 'hex') => {
      const signature = hmac.toString(encoding)
      return (await call(url, 'GET', CAMPAIGNS, undefined, { date, signature })).status
    }

    expect([await statusIn('base64'), await statusIn('hex')]).toEqual([200, 401])
  })
})

describe('Versioning', () => {
  it('The version is in the path prefix /v1.', async () => {
    const { url } = await sandbox()

    expect((await call(url, 'GET', CAMPAIGNS)).status).toBe(200)
    expect((await call(url, 'GET', CAMPAIGNS.replace('v1', 'v2'))).status).toBe(404)
  })
})
