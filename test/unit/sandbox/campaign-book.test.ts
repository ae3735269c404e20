import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { DAY, systemClock } from '../../../src/lib/clock.ts'
import type { SandboxTargeting } from '../../../src/sandbox/campaign-body.ts'
import { isTargeted, type SandboxPosting } from '../../../src/sandbox/campaign-targeting.ts'
import type { Sandbox, SandboxOptions } from '../../../src/sandbox/sandbox.ts'
import { partsOf, post, presign, SECRET, send } from '../../helpers/sandbox/client.ts'
import { sandbox } from '../../helpers/sandbox/playground.ts'

async function call(box: Sandbox, method: string, path: string, json?: object, clock = Date.now()) {
  const [route = '', query = ''] = path.split('?')
  const body = json === undefined ? '' : JSON.stringify(json)
  const date = new Date(clock).toUTCString()
  const signature = createHmac('sha1', SECRET)
    .update(`${method}${route}?${query};${body};${date}`)
    .digest('base64')
  const headers = {
    ...{ 'X-SVC-Partner': 'acme', 'X-SVC-PartnerAccount': '42' },
    ...{ 'X-SVC-Date': date, 'X-SVC-Signature': signature },
  }
  const reply = await send(box.url + path, { method, headers, body })
  return { status: reply.status, json: JSON.parse(reply.body) }
}

const create = (box: Sandbox, json: object) => call(box, 'POST', '/v1/campaigns', json)
const open = (options: Partial<SandboxOptions> = {}) => sandbox(options)

describe('campaigns of the sandbox', () => {
  it('start now and are accelerated where nothing else is said', async () => {
    const box = await open()

    const { status, json } = await create(box, { name: 'Nurses', autoBidLevel: '' })

    expect(status).toBe(200)
    expect(json).toMatchObject({ autoBidLevel: 'accelerated', status: 1, endDate: null, spend: 0 })
    expect(Math.abs(Date.parse(json.startDate) - Date.now())).toBeLessThan(60_000)
    expect(json).not.toHaveProperty('targeting')
  })

  it('have no bid level of their own when a cpc is given', async () => {
    const { json } = await create(await open(), { name: 'Nurses', cpc: 0.5 })

    expect(json).toMatchObject({ cpc: 0.5, autoBidLevel: null })
  })

  it.each([
    [{}, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: 'A', period: 2 }, 'period'],
    [{ name: 'A', startDate: '2027-01-04' }, 'startDate'],
    [{ name: 'A', startDate: '2027-02-30T00:00:00Z' }, 'startDate'],
    [{ name: 'A', status: 4 }, 'status'],
    [{ name: 'A', budget: '12' }, 'budget'],
    [{ name: 'A', spend: 1 }, 'spend'],
    [{ name: 'A', targeting: { cities: ['Boston'] } }, 'targeting.cities'],
    [{ name: 'A', targeting: { states: [] } }, 'targeting.states'],
  ])('refuse to be created from %o', async (body, field) => {
    const { status, json } = await create(await open(), body)

    expect(status).toBe(400)
    expect(json.message).toContain(`"${field}"`)
  })

  it('change in the fields that an update sends, and in no others', async () => {
    const box = await open()
    const { json: made } = await create(box, { name: 'A', budget: 5, cpc: 1 })

    const put = (body: object) => call(box, 'PUT', `/v1/campaigns/${made.id}`, body)
    const updated = await put({ name: 'B', budget: null })

    expect(updated.json).toEqual({ ...made, name: 'B', budget: null })
    expect((await put({ startDate: '2027-01-04T00:00:00Z' })).status).toBe(400)
    expect((await put({ status: null })).status).toBe(400)
    expect((await call(box, 'PUT', '/v1/campaigns/none', {})).status).toBe(404)
  })

  it('are not found by an id that is not a text, and the connection stays', async () => {
    const { status, json } = await call(await open(), 'GET', '/v1/campaigns/%zz')

    expect([status, json.code]).toEqual([404, 'not-found'])
  })

  it('belong to their account', async () => {
    const box = await open()
    box.campaigns.create('43', { name: 'of another account' })

    const { json } = await call(box, 'GET', '/v1/campaigns')

    expect(json).toMatchObject({ total: 0, campaigns: [] })
  })

  it('are told as the knobs say', async () => {
    const box = await open({
      campaigns: { listField: 'rows', secondList: true, echoTargeting: true },
    })
    await create(box, { name: 'A', targeting: { jobTitles: ['nurse'] } })

    const { json } = await call(box, 'GET', '/v1/campaigns?Num=1')

    expect(json.rows[0].targeting.jobTitles).toEqual(['nurse'])
    expect(json.recent).toHaveLength(1)
  })

  it('keep, merge or ignore targeting as the knobs say', async () => {
    const box = await open()
    const targeting = { jobTitles: ['nurse'], postalCodes: ['02139'] }
    const { json: made } = await create(box, { name: 'A', targeting })
    const put = async (change: object) => {
      await call(box, 'PUT', `/v1/campaigns/${made.id}`, { targeting: change })
      return box.campaigns.all[0]?.targeting
    }

    box.campaigns.knobs.targetingPut = 'merge'
    expect(await put({ jobTitles: ['cook'] })).toMatchObject({ ...targeting, jobTitles: ['cook'] })
    box.campaigns.knobs.ignoreEmptyLists = true
    expect(await put({ postalCodes: [] })).toMatchObject({ postalCodes: ['02139'] })
    box.campaigns.knobs.targetingPut = 'replace'
    expect(await put({ jobTitles: ['nurse'] })).toMatchObject({ postalCodes: [] })
  })

  it('sponsor the postings of the newest upload while they run', async () => {
    const box = await open()
    const jobs = ['MA', 'MA', 'ON'].map(
      (state) => `<job><title>Nurse</title><campaignid>N</campaignid><state>${state}</state></job>`,
    )
    const form = await presign(box.url)
    await post(form.url, partsOf(form, `<source>${jobs.join('')}</source>`))
    const targeting = { externalCampaignId: 'N', stateProvCodes: ['MA'] }

    const { json } = await create(box, { name: 'A', budget: 10, targeting })
    const read = async () => (await call(box, 'GET', `/v1/campaigns/${json.id}`)).json

    expect(json.sponsoredPostings).toBe(2)
    box.campaigns.spend(json.id, 15)
    expect(await read()).toMatchObject({ spend: 10, sponsoredPostings: 0 })
  })

  it('sponsor postings whose fields are nested, escaped or in CDATA', async () => {
    const box = await open()
    const jobs = ['<![CDATA[Nurse & more]]>', 'Nurse&#32;&amp; more', 'Cook'].map(
      (title) =>
        `<Item n="1"><Job_Title>${title}</Job_Title><where><Zip>02139</Zip><State>MA</State></where></Item>`,
    )
    const form = await presign(box.url)
    await post(form.url, partsOf(form, `<Postings><list>${jobs.join('')}</list></Postings>`))
    const targeting = { jobTitles: ['nurse'], postalCodes: ['02139'], stateProvCodes: ['MA'] }

    const { json } = await create(box, { name: 'A', targeting })

    expect(json.sponsoredPostings).toBe(2)
  })

  it('have a fresh budget each month when they are monthly', async () => {
    let ahead = 0
    const clock = { ...systemClock, now: () => Date.now() + ahead }
    const box = await open({ clock })
    const monthly = box.campaigns.create('42', { name: 'A', budget: 10, period: 1 })
    const once = box.campaigns.create('42', { name: 'B', budget: 10 })
    for (const { id } of [monthly, once]) box.campaigns.spend(id, 10)

    ahead = 32 * DAY
    const read = async (id: string) =>
      (await call(box, 'GET', `/v1/campaigns/${id}`, undefined, clock.now())).json.spend

    expect([await read(monthly.id), await read(once.id)]).toEqual([0, 10])
  })

  it('exist although the answer to their creation was lost', async () => {
    const box = await open()
    box.faults.add({ at: 'service', kind: 'commit-drop', how: 'rst', route: 'campaign-create' })

    await expect(create(box, { name: 'A' })).rejects.toThrow()

    expect(box.campaigns.all).toHaveLength(1)
  })
})

describe('targeting in the sandbox', () => {
  const posting: SandboxPosting = {
    ...{ externalCampaignId: 'N', requisitionId: 'R1', title: 'Registered Nurses, ICU' },
    ...{ description: 'Night SHIFT', city: 'Boston', state: 'MA', postalCode: '02139' },
  }
  const none: SandboxTargeting = {
    ...{ cities: [], externalCampaignId: null, requisitionIds: [], jobDescKeywords: [] },
    ...{ jobTitles: [], postalCodes: [], stateProvCodes: [] },
  }

  it.each([
    [{}, true],
    [{ jobTitles: ['nurse'] }, true],
    [{ jobTitles: ['NURSES'] }, true],
    [{ jobTitles: ['nursing'] }, false],
    [{ jobTitles: ['registered nurse'] }, true],
    [{ jobDescKeywords: ['shift'] }, true],
    [{ cities: [{ name: 'boston', stateProvCode: 'MA' }] }, true],
    [{ cities: [{ name: 'Boston', stateProvCode: 'ON' }] }, false],
    [{ stateProvCodes: ['ON'], requisitionIds: ['R1'] }, true],
    [{ stateProvCodes: ['ON'], requisitionIds: ['R2'] }, false],
    [{ requisitionIds: ['R2'] }, false],
    [{ externalCampaignId: 'n' }, false],
  ])('%o selects the posting: %s', (change, selects) => {
    expect(isTargeted({ ...none, ...change }, posting)).toBe(selects)
  })

  it('takes a plural for itself alone', () => {
    const nurse = { ...posting, title: 'Nurse' }

    expect(isTargeted({ ...none, jobTitles: ['nurses'] }, nurse)).toBe(false)
  })
})
