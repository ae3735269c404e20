// What the sandbox assumes where the specification is silent, as docs/sandbox.md says.

import { describe, expect, it } from 'vitest'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'
import {
  ACCOUNT,
  CAMPAIGNS,
  call,
  create,
  feedOf,
  PRESIGN,
  upload,
} from '../../helpers/sandbox/vendor.ts'

describe('the sandbox assumes that', () => {
  it('a new campaign runs', async () => {
    const { url } = await sandbox()

    expect((await create(url)).json.status).toBe(1)
  })

  it('a campaign may end before its start or in the past, and sponsors nothing then', async () => {
    const { url } = await sandbox()
    await upload(url, feedOf({ title: 'Nurse' }))
    const past = { startDate: '2020-01-01T00:00:00Z', endDate: '2021-01-01T00:00:00Z' }
    const turned = { startDate: '2021-01-01T00:00:00Z', endDate: '2020-01-01T00:00:00Z' }

    for (const dates of [past, turned]) {
      const { status, json } = await create(url, dates)
      expect([status, json]).toMatchObject([200, { ...dates, sponsoredPostings: 0 }])
    }
  })

  it('unknown and repeated parameters are refused, and a plus sign is a space', async () => {
    const { url } = await sandbox()
    await create(url, { name: 'Night nurses' })
    const search = (query: string) => call(url, 'GET', CAMPAIGNS + query)

    for (const wrong of ['?color=red', '?status=1', '?Num=1&Num=1']) {
      expect((await search(wrong)).status).toBe(400)
    }
    expect((await call(url, 'POST', `${PRESIGN}?a=1`)).status).toBe(400)
    expect((await search('?Name=Night+nurses')).json.total).toBe(1)
  })

  it('an empty page has neither a first nor a last number', async () => {
    const { url } = await sandbox()

    const { json } = await call(url, 'GET', `${CAMPAIGNS}?Start=5`)

    expect(json).toMatchObject({ total: 0, startNum: null, endNum: null, campaigns: [] })
  })

  it('an account holder gets a form as well', async () => {
    const { url } = await sandbox()

    expect((await call(url, 'POST', PRESIGN, undefined, { who: ACCOUNT })).status).toBe(200)
  })

  it('an update can change a field of its body and the targeting at once', async () => {
    const { url } = await sandbox()
    await upload(url, feedOf({ title: 'Nurse' }))
    const { json } = await create(url)
    const change = { autoBidLevel: 'standard', targeting: { postalCodes: ['1'] } }

    const put = await call(url, 'PUT', `${CAMPAIGNS}/${json.id}`, change)

    const changed = { ...json, autoBidLevel: 'standard', sponsoredPostings: 0 }
    expect([put.status, put.json]).toEqual([200, changed])
    expect(json.sponsoredPostings).toBe(1)
  })
})
