import { describe, expect, it } from 'vitest'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'
import {
  answerOf,
  CAMPAIGNS,
  call,
  create,
  feedOf,
  PRESIGN,
  post,
  setSpendAndLeads,
  upload,
} from '../../helpers/sandbox/vendor.ts'

type Box = Awaited<ReturnType<typeof sandbox>>

async function control(box: Box, method: string, path: string, json?: object) {
  const body = json && { body: JSON.stringify(json) }
  return answerOf(await fetch(`${box.controlUrl}/${path}`, { method, ...body }))
}

const setClock = (box: Box, change: object) => control(box, 'PUT', 'clock', change)
const dateOf = (box: Box) => new Date(box.clock.now()).toUTCString()
const read = async (box: Box, id: string) =>
  (await call(box.url, 'GET', `${CAMPAIGNS}/${id}`, undefined, { date: dateOf(box) })).json

describe('a reset', () => {
  it('puts campaigns, objects, requests, faults, knobs and the clock back to the first start', async () => {
    const box = await sandbox({ knobs: { pageSize: 7 } })
    const now = Date.parse('2027-01-04T10:00:00Z')
    const play = async () => {
      await setClock(box, { now: new Date(now).toISOString() })
      const date = dateOf(box)
      const { json: form } = await call(box.url, 'POST', PRESIGN, undefined, { date })
      await post(form, feedOf({ title: 'Nurse' }))
      const { json } = await create(box.url, {}, { date })
      return { id: json.id, sponsored: json.sponsoredPostings, key: form.fields.key }
    }
    const first = await play()
    box.faults.add({ at: 'service', kind: 'answer', status: 503 })
    await control(box, 'PUT', 'knobs', { pageSize: 9, listField: 'rows' })

    const { status } = await control(box, 'POST', 'reset')

    expect(status).toBe(200)
    expect((await control(box, 'GET', 'clock')).json.ahead).toBe('0s')
    expect([box.campaigns.all, box.objects(), box.requests(), box.faults.list()]).toEqual(
      Array(4).fill([]),
    )
    expect(box.knobs).toMatchObject({ pageSize: 7, listField: 'campaigns' })
    const second = await play()
    expect(second).toEqual(first)
    expect(first).toMatchObject({ id: '48001', sponsored: 1 })
  })

  it('lets the faults of the start be played again', async () => {
    const box = await sandbox({
      firstFaults: [{ at: 'service', kind: 'answer', status: 503, times: 1 }],
    })
    expect((await create(box.url)).status).toBe(503)

    await box.reset()

    expect((await create(box.url)).status).toBe(503)
    expect((await create(box.url)).status).toBe(200)
  })

  it('ends a running request, which then changes nothing', async () => {
    const box = await sandbox()
    const gate = box.faults.add({ at: 'service', kind: 'gate', point: 'end' })
    const held = create(box.url).catch((error: unknown) => error)
    await gate.held()

    await control(box, 'POST', 'reset')

    expect(await held).toBeInstanceOf(Error)
    expect((await create(box.url)).json.id).toBe('48001')
    expect(box.campaigns.all).toHaveLength(1)
  })
})

describe('the clock', () => {
  it('can be set, advanced and given back, dates answers, and refuses a wrong change with 400', async () => {
    const box = await sandbox()

    const set = await setClock(box, { now: '2027-01-04T10:00:00Z' })
    const advanced = await setClock(box, { advance: '36h' })
    const shown = await fetch(`${box.controlUrl}/health`)
    const back = await setClock(box, { now: null })

    expect(set.json.now).toMatch(/^2027-01-04T10:00:0/)
    expect(advanced.json.now).toMatch(/^2027-01-05T22:00:0/)
    expect(shown.headers.get('date')).toMatch(/^Tue, 05 Jan 2027 22:00:0/)
    expect(back.json.ahead).toBe('0s')
    for (const wrong of [{}, { now: 'soon' }, { advance: '5' }, { advance: '1h', now: null }]) {
      expect((await setClock(box, wrong)).status).toBe(400)
    }
  })

  it('decides the age of X-SVC-Date, and a refusal says the time', async () => {
    const box = await sandbox()
    await setClock(box, { advance: '16m' })

    const { status, json } = await call(box.url, 'GET', CAMPAIGNS)

    expect([status, json.code]).toEqual([401, 'date-too-old'])
    expect(json.message).toContain('the time of the service is ')
    const today = await call(box.url, 'GET', CAMPAIGNS, undefined, { date: dateOf(box) })
    expect(today.status).toBe(200)
  })

  it('decides when a form expires', async () => {
    const box = await sandbox()
    const { json: form } = await call(box.url, 'POST', PRESIGN)
    await setClock(box, { advance: '16m' })

    expect((await post(form, feedOf({ title: 'Nurse' }))).status).toBe(403)
  })

  it('begins a new month with no spend and the same leads, whether a read or a new outcome comes first', async () => {
    const box = await sandbox()
    await setClock(box, { now: '2027-01-31T23:59:50Z' })
    const make = () => create(box.url, { budget: 10, period: 1 }, { date: dateOf(box) })
    const [byRead, byControl] = [(await make()).json.id, (await make()).json.id]
    for (const id of [byRead, byControl]) await setSpendAndLeads(box, id, { spend: 10, leads: 1 })
    expect((await read(box, byRead)).spend).toBe(10)

    await setClock(box, { advance: '10s' })
    await setSpendAndLeads(box, byControl, { leads: 2 })

    expect(await read(box, byRead)).toMatchObject({ spend: 0, leads: 1 })
    expect(await read(box, byControl)).toMatchObject({ spend: 0, leads: 2 })
  })
})

describe('the objects of an account', () => {
  it('sponsor by the newest write, even with an older form, and only writes of one key are counted together', async () => {
    const box = await sandbox()
    const [a, b] = [
      (await call(box.url, 'POST', PRESIGN)).json,
      (await call(box.url, 'POST', PRESIGN)).json,
    ]
    const feed = (n: number) => feedOf(...Array.from({ length: n }, () => ({ title: 'Nurse' })))
    const { json } = await create(box.url)
    for (const [form, n] of [
      [a, 1],
      [b, 2],
      [a, 4],
    ] as const) {
      await post(form, feed(n))
      expect((await read(box, json.id)).sponsoredPostings).toBe(n)
    }
    expect(box.objects().map(({ writes }) => writes)).toEqual([2, 1])
    expect(await (await fetch(a.fileUrl)).text()).toBe(feed(4))
  })

  it('sponsor each id of a posting once with the knob accountKeeps all, and only the newest object with last', async () => {
    const box = await sandbox({ knobs: { accountKeeps: 'all' } })
    await upload(box.url, feedOf({ id: '1', title: 'Nurse' }, { id: '2', title: 'Cook' }))
    await upload(box.url, feedOf({ id: '2', title: 'Nurse' }, { id: '3', title: 'Nurse' }))
    await upload(box.url, feedOf({ title: 'Nurse' }))
    const { json } = await create(box.url, { targeting: { jobTitles: ['nurse'] } })
    const all = await create(box.url)

    expect([json.sponsoredPostings, all.json.sponsoredPostings]).toEqual([4, 4])
    await control(box, 'PUT', 'knobs', { accountKeeps: 'last' })
    expect((await read(box, all.json.id)).sponsoredPostings).toBe(1)
    await control(box, 'PUT', 'knobs', { accountKeeps: 'all' })
    expect((await read(box, all.json.id)).sponsoredPostings).toBe(4)
  })

  it('are removed for one account by a control route', async () => {
    const box = await sandbox()
    await upload(box.url, feedOf({ title: 'Nurse' }))
    const { json } = await create(box.url)

    await control(box, 'DELETE', 'objects?account=42')
    expect((await read(box, json.id)).sponsoredPostings).toBe(1)
    await control(box, 'DELETE', 'objects?account=123')
    expect((await read(box, json.id)).sponsoredPostings).toBe(0)
  })
})
