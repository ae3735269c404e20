import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { previewAll, previewOne } from '../../../src/app/preview.ts'
import { readDesired } from '../../../src/campaigns/desired.ts'
import type { Config } from '../../../src/config/config.ts'
import { DAY, HOUR } from '../../../src/lib/clock.ts'
import { entry, fileOf, itemOf, Vendor } from '../../helpers/campaigns/reconciling.ts'

const job = (id: string, more: string) => `<campaignid>${id}</campaignid>${more}`
const city = (name: string, state = 'MA') => `<city>${name}</city><state>${state}</state>`
const times = (count: number, text: string) => Array.from({ length: count }, () => text)
const CITY = 'targeting: { cities: [{ name: Boston, stateProvCode: MA }] }'
const CITIES =
  'targeting: { cities: [{ name: Boston, stateProvCode: MA }, { name: Salem, stateProvCode: MA }] }'

describe('the plan, beside the feeds that were uploaded', () => {
  it('says that no postings are counted before the first upload, and plans all the same', async () => {
    const vendor = await Vendor.open(fileOf(entry('A', CITY)))

    const plan = await vendor.plan()

    expect(plan.feed).toMatchObject({ postings: 0, uploads: [], waiting: [] })
    expect(itemOf(plan, 'A')).toMatchObject({ action: 'create', postings: null })
  })

  it('tells how many postings a create and a change of targeting select, as the service does', async () => {
    const vendor = await Vendor.open(fileOf(entry('A', CITIES)))
    vendor.upload([
      ...times(3, job('A', city('Boston'))),
      ...times(2, job('A', city('Salem'))),
      ...times(4, job('A', city('Lynn'))),
      ...times(9, 'B'),
    ])

    const created = await vendor.plan()
    await vendor.apply()
    vendor.file = fileOf(entry('A', CITY))
    const narrowed = await vendor.plan()

    expect(itemOf(created, 'A')).toMatchObject({ postings: { before: 0, after: 5 } })
    expect(itemOf(narrowed, 'A')).toMatchObject({ postings: { before: 5, after: 3 } })
  })

  it('applies the removal of one of two cities, and holds that of the last one, with its postings', async () => {
    const vendor = await Vendor.open(fileOf(entry('A', CITY)))
    vendor.upload([...times(3, job('A', city('Boston'))), ...times(8, 'A'), ...times(40, 'B')])
    await vendor.apply()

    vendor.file = fileOf(entry('A', 'targeting: {}'))
    const plan = await vendor.plan()
    const allowed = await vendor.apply({ allowWiden: ['A'] })

    expect(itemOf(plan, 'A')).toMatchObject({
      ...{ held: { code: 'widen' }, postings: { before: 3, after: 11 } },
    })
    expect(allowed).toMatchObject([{ outcome: 'updated' }])
  })

  it('says of an entry without targeting that its campaign selects what it selected, in the preview too', async () => {
    const vendor = await Vendor.open(fileOf(entry('A', CITY)))
    vendor.upload([...times(3, job('A', city('Boston'))), ...times(8, 'A')])
    await vendor.apply()
    const reading = readDesired(fileOf(entry('A')))
    if (reading.kind === 'problems') throw new Error('not read')
    const { desired } = reading
    const directory = join(vendor.database, '..')
    const service = { identity: { account: '1' } }
    const config = { service, state: { directory }, feeds: [] } as unknown as Config

    const all = await previewAll(config, desired, vendor.account.clock)
    const one = await previewOne(config, desired, 'A', 20)

    expect(all.entries).toMatchObject([{ key: 'A', before: 3, after: 3 }])
    expect(one).toMatchObject({ before: 3, after: 3, gained: 0 })
  })

  it('counts the postings of pinned requisitions with the others, and tells of stale ones and overlaps', async () => {
    const pins = 'allowWiden: true\ntargeting: { requisitionIds: [R-1, R-9] }'
    const vendor = await Vendor.open(fileOf(entry('A', pins), entry('B')))
    vendor.upload([
      ...times(2, 'A'),
      job('B', '<requisitionid>R-1</requisitionid>'),
      ...times(3, job('B', '<requisitionid>R-2</requisitionid>')),
      ...times(9, 'C'),
    ])

    const { feed, ...plan } = await vendor.plan()

    expect(itemOf({ feed, ...plan }, 'A')?.postings).toEqual({ before: 0, after: 3 })
    expect(feed.stale).toEqual([{ key: 'A', requisitionIds: ['R-9'] }])
    expect(feed.overlaps).toEqual([{ keys: 'A and B', postings: 1 }])
  })

  it('names ids without an entry, and the entry that may be meant, and creates nothing for them', async () => {
    const vendor = await Vendor.open(fileOf(entry('NUR-Q1')))
    vendor.upload([...times(2, 'nur q1'), ...times(9, 'WELD-2')])

    const { feed } = await vendor.plan()
    await vendor.apply()

    expect(feed.orphans).toEqual([
      { externalCampaignId: 'WELD-2', postings: 9, nearest: null },
      { externalCampaignId: 'nur q1', postings: 2, nearest: 'NUR-Q1' },
    ])
    expect(vendor.campaigns.all).toHaveLength(1)
  })

  it('tells which entries wait for a feed, and which of them start soon', async () => {
    const vendor = await Vendor.open(fileOf(entry('A', 'startDate: 2026-12-02'), entry('B')))
    vendor.upload(['C'])

    const { feed } = await vendor.plan()

    expect(feed.waiting).toEqual([
      { key: 'A', startsSoon: true },
      { key: 'B', startsSoon: false },
    ])
  })

  it('tells of postings that look sponsored while their campaign is paused', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    vendor.upload(['A', 'A'])
    await vendor.apply()
    Object.assign(vendor.campaigns.all[0] ?? {}, { status: 3 })

    const { feed } = await vendor.plan()

    expect(feed.dead).toEqual([{ key: 'A', campaignId: '48001', why: 'paused', postings: 2 }])
  })

  it('looks at every feed of the account together', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    vendor.upload(['A', 'B', 'B'], 'one.xml')
    vendor.upload(['A', 'A', 'C', 'C'], 'two.xml')

    expect(itemOf(await vendor.plan(), 'A')?.postings).toEqual({ before: 0, after: 3 })
  })
})

describe('an id that leaves the feeds', () => {
  const rest = times(20, 'B')

  async function left() {
    const vendor = await Vendor.open(fileOf(entry('A'), entry('B')))
    vendor.upload(['A', ...rest])
    await vendor.apply()
    vendor.file = fileOf(entry('A').replace('100.00', '120.00'), entry('B'))
    const uploadAfter = (ms: number, postings = rest) => {
      vendor.account.pass(ms)
      vendor.upload(postings)
    }
    return { vendor, uploadAfter }
  }

  it('is missing after two good uploads, and its raise is made', async () => {
    const { vendor, uploadAfter } = await left()
    uploadAfter(DAY)
    uploadAfter(DAY)

    const plan = await vendor.plan()

    expect(plan.feed.gone).toMatchObject([{ key: 'A', kind: 'missing', uploads: 2 }])
    expect(itemOf(plan, 'A')).toMatchObject({ action: 'update' })
  })

  it('has vanished after three good uploads and 24 hours, and nothing is raised for it', async () => {
    const { vendor, uploadAfter } = await left()
    uploadAfter(HOUR)
    uploadAfter(HOUR)
    uploadAfter(HOUR)
    const early = await vendor.plan()
    vendor.account.pass(DAY)
    const late = await vendor.plan()

    expect(early.feed.gone).toMatchObject([{ kind: 'missing', uploads: 3 }])
    expect(late.feed.gone).toMatchObject([{ kind: 'vanished', uploads: 3 }])
    expect(itemOf(late, 'A')?.held).toMatchObject({ code: 'state' })
  })

  it('is told of to monitoring once it vanished, unless its campaign cannot spend any more', async () => {
    const { vendor, uploadAfter } = await left()
    uploadAfter(HOUR)
    uploadAfter(HOUR)
    uploadAfter(HOUR)
    const early = await vendor.run()
    vendor.account.pass(DAY)
    const late = await vendor.run()
    const ours = vendor.campaigns.all.find(({ name }) => name?.startsWith('Campaign A'))
    Object.assign(ours ?? {}, { status: 3 })
    const paused = await vendor.run()
    const end = new Date(vendor.account.clock.now() - 2 * DAY)
    Object.assign(ours ?? {}, { status: 1, endDate: end.toISOString() })
    const over = await vendor.run()

    expect(early.vanished).toEqual([])
    expect(late.vanished).toEqual([{ key: 'A', campaignId: ours?.id, uploads: 3, pinned: 0 }])
    expect([paused.vanished, over.vanished]).toEqual([[], []])
  })

  it('stays vanished, however often the feed is uploaded since', async () => {
    const { vendor, uploadAfter } = await left()
    const upload = (times: number) => {
      for (let n = 0; n < times; n++) uploadAfter(HOUR / 4)
    }
    upload(100)
    const afterADay = await vendor.run()
    upload(150)
    const later = await vendor.run()
    const plan = await vendor.plan()
    uploadAfter(HOUR, ['A', ...rest])
    const back = await vendor.run()

    expect(afterADay.vanished).toMatchObject([{ key: 'A', uploads: 100 }])
    expect(later.vanished).toMatchObject([{ key: 'A', uploads: 200 }])
    expect(plan.feed).toMatchObject({ gone: [{ kind: 'vanished' }], waiting: [] })
    expect(itemOf(plan, 'A')?.held).toMatchObject({ code: 'state', cause: 'vanished' })
    expect(back.vanished).toEqual([])
  })

  it('is not counted as gone by a feed that looks like an accident', async () => {
    const { vendor, uploadAfter } = await left()
    uploadAfter(HOUR)
    uploadAfter(HOUR, [])
    uploadAfter(HOUR, [])
    uploadAfter(DAY, ['B'])

    expect((await vendor.plan()).feed.gone).toMatchObject([{ kind: 'missing', uploads: 1 }])
  })

  it('counts in a feed that stays small for three days: an honest zero is not ignored for ever', async () => {
    const { vendor, uploadAfter } = await left()
    uploadAfter(HOUR, ['B'])
    uploadAfter(3 * DAY, ['B'])
    uploadAfter(HOUR, ['B'])
    uploadAfter(DAY, ['B'])

    expect((await vendor.plan()).feed.gone).toMatchObject([{ kind: 'vanished', uploads: 3 }])
  })

  it('is live again once a feed carries it', async () => {
    const { vendor, uploadAfter } = await left()
    for (let n = 0; n < 4; n++) uploadAfter(DAY)
    uploadAfter(HOUR, ['A', ...rest])

    const plan = await vendor.plan()

    expect(plan.feed.gone).toEqual([])
    expect(itemOf(plan, 'A')).toMatchObject({ action: 'update' })
  })
})

describe('guards.maxShareOfFeed', () => {
  const GUARD = 'guards: { maxShareOfFeed: 0.5 }\n'

  it('holds what would select more of the feeds than it allows, and says both numbers', async () => {
    const vendor = await Vendor.open(fileOf(entry('A'), entry('B')) + GUARD)
    vendor.upload([...times(6, 'A'), ...times(4, 'B')])

    const plan = await vendor.plan()

    expect(itemOf(plan, 'A')?.held?.reason).toBe(
      'guards.maxShareOfFeed is 0.5, it would select 6 of 10 postings',
    )
    expect(itemOf(plan, 'B')).toMatchObject({ action: 'create' })
  })

  it('holds no change that selects less, and no raise of a budget', async () => {
    const vendor = await Vendor.open(fileOf(entry('A', CITIES)))
    vendor.upload([
      ...times(6, job('A', city('Boston'))),
      ...times(2, job('A', city('Salem'))),
      'B',
    ])
    await vendor.apply()
    vendor.file = fileOf(entry('A', CITY).replace('100.00', '110.00')) + GUARD

    expect(await vendor.apply()).toMatchObject([{ outcome: 'updated' }, { outcome: 'updated' }])
  })

  it('is taken for feeds from 100 postings on where the file does not name it', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    vendor.upload(times(99, 'A'))
    const small = await vendor.plan()
    vendor.upload(times(100, 'A'))
    const large = await vendor.plan()

    expect(itemOf(small, 'A')).toMatchObject({ action: 'create' })
    expect(itemOf(large, 'A')?.held).toMatchObject({ code: 'guard' })
  })

  it('holds what it cannot check, because the bytes of the upload are not kept any more', async () => {
    const vendor = await Vendor.open(fileOf(entry('A', CITY)) + GUARD)
    vendor.upload(['A', 'B', 'B'])
    vendor.loseSpool()

    const plan = await vendor.plan()

    expect(itemOf(plan, 'A')?.held?.reason).toContain('jobs.xml: its bytes are no longer kept')
  })
})
