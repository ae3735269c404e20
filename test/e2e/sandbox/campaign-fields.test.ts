// These tests check section 2 of the service's specification: the fields of campaigns. Each test has a sentence of the
// specification as its name.

import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'
import {
  CAMPAIGNS,
  call,
  create,
  feedOf,
  setSpendAndLeads,
  upload,
} from '../../helpers/sandbox/vendor.ts'

const HOUR = 3_600_000
/** time returns a time `ms` from now, in the format of the specification. */
const time = (ms: number) => new Date(Date.now() + ms).toISOString().replace(/\.\d+/, '')
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

async function update(base: string, id: string, fields: object) {
  return await call(base, 'PUT', `${CAMPAIGNS}/${id}`, fields)
}

describe('Campaign (returned by create, read and update)', () => {
  it('All fields are optional in the response and nullable unless stated.', async () => {
    const { url } = await sandbox()
    const { json } = await create(url)

    expect(json).toEqual({
      ...{ id: expect.any(String), accountId: '123', name: 'Nurses' },
      ...{ startDate: expect.stringMatching(DATE_TIME), endDate: null, budget: null },
      ...{ autoBidLevel: 'accelerated', cpc: null, maxCpc: null, period: null, status: 1 },
      ...{ spend: 0, sponsoredPostings: 0, leads: 0, paidCpaGoal: null },
    })
    expect((await call(url, 'GET', `${CAMPAIGNS}/${json.id}`)).json).toEqual(json)
    expect((await update(url, json.id, {})).json).toEqual(json)
  })

  it('id: Campaign identifier', async () => {
    const { url } = await sandbox()
    const ids = [await create(url), await create(url)].map(({ json }) => json.id)

    expect(new Set(ids).size).toBe(2)
    const { json } = await call(url, 'GET', `${CAMPAIGNS}/${ids[1]}`)
    expect(json.id).toBe(ids[1])
  })

  it('accountId: Account identifier', async () => {
    const { url } = await sandbox()

    expect((await create(url)).json.accountId).toBe('123')
  })

  it('name: Campaign name; need not be unique', async () => {
    const { url } = await sandbox()
    const [one, two] = [await create(url), await create(url)]

    expect([one.json.name, two.json.name]).toEqual(['Nurses', 'Nurses'])
  })

  it('startDate: Desired start, before which nothing is sponsored', async () => {
    const { url } = await sandbox()
    await upload(url, feedOf({ title: 'Nurse' }))
    const startDate = time(HOUR)

    const { json } = await create(url, { startDate })

    expect(json).toMatchObject({ startDate, sponsoredPostings: 0 })
  })

  it('endDate: Desired end; null means active until manually paused or the budget is exhausted', async () => {
    const box = await sandbox()
    const { url } = box
    await upload(url, feedOf({ title: 'Nurse' }))
    const ended = await create(url, { startDate: time(-2 * HOUR), endDate: time(-HOUR) })
    const [open, spent] = [
      await create(url, { endDate: null }),
      await create(url, { endDate: null, budget: 5 }),
    ]

    expect(ended.json.sponsoredPostings).toBe(0)
    expect([open.json.sponsoredPostings, spent.json.sponsoredPostings]).toEqual([1, 1])
    const paused = await update(url, open.json.id, { status: 3 })
    expect(paused.json.sponsoredPostings).toBe(0)
    await setSpendAndLeads(box, spent.json.id, { spend: 5 })
    const read = await call(url, 'GET', `${CAMPAIGNS}/${spent.json.id}`)
    expect(read.json.sponsoredPostings).toBe(0)
  })

  it('budget: For monthly campaigns (period = 1) it replenishes at the start of each calendar month', async () => {
    let ahead = 0
    const clock = { ...systemClock, now: () => Date.now() + ahead }
    const box = await sandbox({ clock })
    const ids: string[] = []
    for (const period of [1, null]) {
      const { json } = await create(box.url, { budget: 10, period })
      await setSpendAndLeads(box, json.id, { spend: 10 })
      ids.push(json.id)
    }
    const spent = async () => {
      const date = new Date(clock.now()).toUTCString()
      const read = ids.map((id) => call(box.url, 'GET', `${CAMPAIGNS}/${id}`, undefined, { date }))
      return (await Promise.all(read)).map(({ json }) => json.spend)
    }

    expect(await spent()).toEqual([10, 10])
    ahead = 32 * 24 * HOUR
    expect(await spent()).toEqual([0, 10])
  })

  it('cpc: Target cost per apply click; null means dynamic per market', async () => {
    const { url } = await sandbox()

    expect((await create(url, { cpc: 0.55 })).json.cpc).toBe(0.55)
    expect((await create(url, { cpc: null })).json.cpc).toBeNull()
  })

  it.each([
    ['autoBidLevel: Auto bid level', { autoBidLevel: 'standard' }],
    ['maxCpc: Maximum cost per apply click for dynamic per-market pricing', { maxCpc: 1.25 }],
    ['period: null = one-time, 1 = monthly', { period: 1 }],
    ['period: null = one-time', { period: null }],
    ['status: Current status', { status: 3 }],
    ['paidCpaGoal: Target cost per application', { paidCpaGoal: 12.5 }],
  ])('%s', async (_, fields) => {
    const { url } = await sandbox()

    expect((await create(url, fields)).json).toMatchObject(fields)
  })

  it('spend: Current spend against the campaign', async () => {
    const box = await sandbox()
    const { json } = await create(box.url)
    expect(json.spend).toBe(0)

    await setSpendAndLeads(box, json.id, { spend: 2.5 })

    expect((await call(box.url, 'GET', `${CAMPAIGNS}/${json.id}`)).json.spend).toBe(2.5)
  })

  it('sponsoredPostings: Number of postings currently sponsored', async () => {
    const { url } = await sandbox()
    await upload(url, feedOf({ title: 'Nurse' }, { title: 'Cook' }))

    const { json } = await create(url, { targeting: { jobTitles: ['nurse'] } })

    expect(json.sponsoredPostings).toBe(1)
  })

  it('leads: Number of leads attributed', async () => {
    const box = await sandbox()
    const { json } = await create(box.url)
    expect(json.leads).toBe(0)

    await setSpendAndLeads(box, json.id, { leads: 3 })

    expect((await call(box.url, 'GET', `${CAMPAIGNS}/${json.id}`)).json.leads).toBe(3)
  })
})

describe('Campaign create body', () => {
  it('name: Required, any string', async () => {
    const { url } = await sandbox()

    for (const name of ['', ' ', '🙂 "quoted" \\ <b>']) {
      expect((await create(url, { name })).json.name).toBe(name)
    }
    for (const name of [undefined, null, 7]) {
      expect((await create(url, { name })).status).toBe(400)
    }
  })

  it('startDate: date-time (yyyy-MM-ddThh:mm:ssZ); null or absent: starts immediately', async () => {
    const { url } = await sandbox()
    await upload(url, feedOf({ title: 'Nurse' }))

    for (const fields of [{}, { startDate: null }]) {
      const { json } = await create(url, fields)
      expect(Math.abs(Date.parse(json.startDate) - Date.now())).toBeLessThan(60_000)
      expect(json.sponsoredPostings).toBe(1)
    }
    expect((await create(url, { startDate: '2028-02-29T23:59:59Z' })).status).toBe(200)
  })

  it.each([
    ...['2027-02-30T00:00:00Z', '2027-02-30', '2027-01-04', '2027-01-04T00:00:00', ''],
    ...['2027-01-04T24:00:00Z', '2027-01-04T00:00:00.5Z', '2027-01-04T00:00:00+02:00'],
    1_800_000_000,
  ])('create and update refuse a wrong date-time: %j', async (wrong) => {
    const { url } = await sandbox()
    const { json } = await create(url)

    expect((await create(url, { startDate: wrong })).status).toBe(400)
    expect((await create(url, { endDate: wrong })).status).toBe(400)
    expect((await update(url, json.id, { endDate: wrong })).status).toBe(400)
  })

  it('endDate: Null: runs until manually paused or budget spent.', async () => {
    const box = await sandbox()
    await upload(box.url, feedOf({ title: 'Nurse' }))
    const { json } = await create(box.url, { endDate: null, budget: 5 })
    expect(json).toMatchObject({ endDate: null, sponsoredPostings: 1 })

    await setSpendAndLeads(box, json.id, { spend: 5 })

    const read = await call(box.url, 'GET', `${CAMPAIGNS}/${json.id}`)
    expect(read.json).toMatchObject({ spend: 5, sponsoredPostings: 0 })
    await setSpendAndLeads(box, json.id, { spend: 0 })
    const paused = await update(box.url, json.id, { status: 3 })
    expect(paused.json).toMatchObject({ spend: 0, sponsoredPostings: 0 })
  })

  it('For monthly campaigns with null endDate the campaign resumes each month with a fresh budget even if the budget was reached that month', async () => {
    let ahead = 0
    const clock = { ...systemClock, now: () => Date.now() + ahead }
    const box = await sandbox({ clock })
    await upload(box.url, feedOf({ title: 'Nurse' }))
    const { json } = await create(box.url, { budget: 10, period: 1, endDate: null })
    const sponsored = async () => {
      const date = new Date(clock.now()).toUTCString()
      const read = await call(box.url, 'GET', `${CAMPAIGNS}/${json.id}`, undefined, { date })
      return read.json.sponsoredPostings
    }

    await setSpendAndLeads(box, json.id, { spend: 10 })
    expect(await sponsored()).toBe(0)

    ahead = 32 * 24 * HOUR
    expect(await sponsored()).toBe(1)
  })

  it('autoBidLevel: Allowed: accelerated, standard.', async () => {
    const { url } = await sandbox()
    const { json } = await create(url)

    for (const autoBidLevel of ['accelerated', 'standard']) {
      expect((await create(url, { autoBidLevel })).json).toMatchObject({ autoBidLevel })
      expect((await update(url, json.id, { autoBidLevel })).json).toMatchObject({ autoBidLevel })
    }
    expect((await create(url, { autoBidLevel: 'fast' })).status).toBe(400)
    expect((await update(url, json.id, { autoBidLevel: 'fast' })).status).toBe(400)
  })

  it('autoBidLevel: Defaults to accelerated when blank and no cpc is given, and to null with a cpc', async () => {
    const { url } = await sandbox()
    const levels: unknown[] = []
    for (const blank of ['', null]) {
      for (const cpc of [null, 0.5]) {
        const made = await create(url, { autoBidLevel: blank, cpc })
        const { json } = await create(url, { autoBidLevel: 'standard', cpc })
        const put = await update(url, json.id, { autoBidLevel: blank })
        levels.push([made.json.autoBidLevel, put.json.autoBidLevel])
      }
    }

    const [dynamic, fixed] = [
      ['accelerated', 'accelerated'],
      [null, null],
    ]
    expect(levels).toEqual([dynamic, fixed, dynamic, fixed])
  })

  it.each([
    ['cpc: Blank means dynamic per market', 'cpc'],
    ['maxCpc: Maximum for dynamic pricing', 'maxCpc'],
    ['paidCpaGoal: Used to set the dynamic cost per apply click', 'paidCpaGoal'],
    ['budget: See above', 'budget'],
  ])('%s', async (_, field) => {
    const { url } = await sandbox()
    const { json } = await create(url)

    for (const value of [0.25, 0, null]) {
      expect((await create(url, { [field]: value })).json[field]).toBe(value)
      expect((await update(url, json.id, { [field]: value })).json[field]).toBe(value)
    }
    for (const wrong of ['1', -1, true]) {
      expect((await create(url, { [field]: wrong })).status).toBe(400)
      expect((await update(url, json.id, { [field]: wrong })).status).toBe(400)
    }
  })

  it('period: null = one-time, 1 = monthly recurring', async () => {
    const { url } = await sandbox()

    for (const period of [null, 1]) {
      expect((await create(url, { period })).json.period).toBe(period)
    }
    for (const period of [0, 2, 1.5, '1']) {
      expect((await create(url, { period })).status).toBe(400)
    }
  })

  it('targeting: Blank: all postings in the account are targeted', async () => {
    const { url } = await sandbox()
    await upload(url, feedOf({ title: 'Nurse' }, { title: 'Cook' }))
    const { json } = await create(url, { targeting: { jobTitles: ['cook'] } })
    expect(json.sponsoredPostings).toBe(1)

    for (const targeting of [undefined, null, {}]) {
      expect((await create(url, { targeting })).json.sponsoredPostings).toBe(2)
    }
    const put = await update(url, json.id, { targeting: null })
    expect(put.json.sponsoredPostings).toBe(2)
  })

  it('status: Blank: the campaign keeps its current status', async () => {
    const { url } = await sandbox()
    const { json } = await create(url, { status: 3 })

    expect((await create(url, { status: null })).json.status).toBe(1)
    expect((await update(url, json.id, { budget: 5 })).json.status).toBe(3)
  })

  it('has these fields and no others, and must be an object', async () => {
    const { url } = await sandbox()

    for (const field of ['id', 'accountId', 'spend', 'sponsoredPostings', 'leads', 'currency']) {
      expect((await create(url, { [field]: '1' })).status).toBe(400)
    }
    expect((await call(url, 'POST', CAMPAIGNS, ['Nurses'])).status).toBe(400)
    expect((await call(url, 'POST', CAMPAIGNS)).status).toBe(400)
  })
})
