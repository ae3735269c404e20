import { describe, expect, it } from 'vitest'
import { exitCodeOf } from '../../src/campaigns/plan.ts'
import { tokenIn, tokenOf } from '../../src/campaigns/token.ts'
import { entry, fileOf, itemOf, Vendor } from './reconciling.ts'

const CITIES =
  'targeting: { cities: [{ name: Boston, stateProvCode: MA }, { name: Salem, stateProvCode: MA }] }'
const CITY = 'targeting: { cities: [{ name: Boston, stateProvCode: MA }] }'

describe('the reconciler', () => {
  it('creates a new entry once, with its token, and then has nothing to do', async () => {
    const vendor = await Vendor.open(fileOf(entry('A', CITY)))

    const plan = await vendor.plan()
    const results = await vendor.apply({ approved: plan })
    const again = await vendor.plan()

    expect(exitCodeOf(plan)).toBe(2)
    expect(results).toMatchObject([{ key: 'A', outcome: 'created' }])
    expect(vendor.campaigns.all).toHaveLength(1)
    const [made] = vendor.campaigns.all
    expect(tokenIn(made?.name)).toBe(tokenOf(vendor.configured, 'A'))
    expect(made).toMatchObject({ budget: 100, targeting: { externalCampaignId: 'A' } })
    expect(again.items).toEqual([])
    expect(exitCodeOf(again)).toBe(0)
  })

  it('targets by external campaign id even where the entry says nothing of targeting', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')))

    await vendor.apply()

    expect(vendor.campaigns.all[0]?.targeting).toMatchObject({ externalCampaignId: 'A' })
  })

  it('writes nothing for the same file, in whatever order and spacing', async () => {
    const lists = 'targeting: { jobTitles: [nurse, cook], stateProvCodes: [MA, ON] }'
    const shuffled = 'targeting: { stateProvCodes: [ON, MA, on], jobTitles: ["cook ", nurse] }'
    const vendor = await Vendor.open(fileOf(entry('A', lists), entry('B')))
    await vendor.apply()
    const writes = vendor.writes()

    await vendor.apply()
    vendor.file = fileOf(entry('B'), entry('A', shuffled))
    await vendor.apply()

    expect(vendor.writes()).toBe(writes)
  })

  it('sends codes and ids that look like numbers as the text of the file', async () => {
    const targeting =
      'allowWiden: true\ntargeting: { postalCodes: [02139], stateProvCodes: [ON, NO], requisitionIds: [1E5] }'
    const vendor = await Vendor.open(fileOf(entry('A', targeting)))

    await vendor.apply()

    expect(vendor.campaigns.all[0]?.targeting).toMatchObject({
      ...{ postalCodes: ['02139'], stateProvCodes: ['NO', 'ON'], requisitionIds: ['1E5'] },
    })
  })

  it('never adopts a campaign by its name alone, and says how it could be', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    vendor.campaigns.create('123', { name: 'Campaign A', budget: 7 })

    const plan = await vendor.plan()
    await vendor.apply()

    expect(plan.notices.join()).toContain('to manage it write campaignId: "48001"')
    expect(vendor.campaigns.all).toHaveLength(2)
    expect(vendor.campaigns.all[0]).toMatchObject({ name: 'Campaign A', budget: 7 })
  })

  it.each([['substring'], ['case-fold'], ['exact']] as const)(
    'gives the same when the service searches names by %s',
    async (nameRule) => {
      const vendor = await Vendor.open(fileOf(entry('A')), { nameRule })
      vendor.campaigns.create('123', { name: 'Campaign A and more' })

      await vendor.apply()
      await vendor.apply()

      expect(vendor.campaigns.all).toHaveLength(2)
    },
  )

  it('creates nothing on the word of a listing that is not complete, and still updates', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')), { pageSize: 2 })
    await vendor.apply()
    for (const name of ['x', 'y', 'z']) vendor.campaigns.create('123', { name })
    vendor.campaigns.knobs.start = 'ignored'
    vendor.file = fileOf(entry('A').replace('100.00', '90.00'), entry('B'))

    const results = await vendor.apply()
    const plan = await vendor.plan()

    expect(results).toMatchObject([{ key: 'A', outcome: 'updated' }])
    expect(itemOf(plan, 'B')).toMatchObject({ action: 'blocked' })
    expect(vendor.campaigns.all[0]).toMatchObject({ budget: 90 })
    expect(vendor.account.calls('campaign-create')).toBe(1)
  })

  it('finds the list whatever its field is called, and writes nothing where two could be it', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')), { listField: 'rows' })
    await vendor.apply()
    vendor.campaigns.knobs.secondList = true
    vendor.file = vendor.file.replace('100.00', '90.00')

    const refused = await vendor.apply().catch(String)

    expect(refused).toContain('campaigns.listField')
    expect(vendor.campaigns.all).toMatchObject([{ budget: 100 }])
  })

  it('creates nothing where the service shows its campaigns in another order each time', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')), { pageSize: 4, unsorted: true })
    for (let n = 0; n < 12; n++) vendor.campaigns.create('123', { name: `x${n}` })

    const plan = await vendor.plan()
    await vendor.apply()

    expect(plan.listing.complete).toBe(false)
    expect(itemOf(plan, 'A')?.reason).toContain('the listing is not complete')
    expect(vendor.writes()).toBe(0)
  })

  it('never believes a listing from a cache', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')), { fromCache: true })

    await vendor.apply()

    expect(vendor.writes()).toBe(0)
  })

  it('reports what a person changed on the service, and leaves it', async () => {
    const vendor = await Vendor.open(fileOf(entry('A', 'endDate: 2027-03-31')))
    await vendor.apply()
    Object.assign(vendor.campaigns.all[0] ?? {}, { endDate: '2026-12-24T00:00:00Z', budget: 50 })

    const plan = await vendor.plan()
    await vendor.apply()

    expect(plan.items).toEqual([])
    expect(plan.drift.join('\n')).toMatch(/budget: changed on the service from 100.00 to 50.00/)
    expect(vendor.campaigns.all[0]).toMatchObject({ endDate: '2026-12-24T00:00:00Z', budget: 50 })
  })

  it('writes no field that file and service both changed, and goes on with the others', async () => {
    const vendor = await Vendor.open(fileOf(entry('A'), entry('B')))
    await vendor.apply()
    Object.assign(vendor.campaigns.all[0] ?? {}, { budget: 55 })
    vendor.file = vendor.file.replaceAll('100.00', '80.00')

    const results = await vendor.apply()

    expect(results).toMatchObject([{ key: 'B', outcome: 'updated' }])
    expect(vendor.campaigns.all.map(({ budget }) => budget)).toEqual([55, 80])
    expect(exitCodeOf(await vendor.plan())).toBe(3)
  })

  it('lowers a budget below both what it was and what it is, whoever changed it there', async () => {
    const vendor = await Vendor.open(fileOf(entry('A', 'endDate: 2027-03-31'), entry('B')))
    await vendor.apply()
    for (const campaign of vendor.campaigns.all)
      Object.assign(campaign, { budget: 55, endDate: '2027-02-01T00:00:00Z' })
    vendor.file = vendor.file.replaceAll('100.00', '30.00').replace('2027-03-31', '2027-01-01')

    await vendor.apply()

    expect(vendor.campaigns.all).toMatchObject([
      { budget: 30, endDate: '2027-01-01T00:00:00Z' },
      { budget: 30 },
    ])
  })

  it('sends targeting whose outcome is unknown again, once', async () => {
    const vendor = await Vendor.open(fileOf(entry('A', CITIES)))
    await vendor.apply()
    vendor.file = fileOf(entry('A', CITY))
    const fault = { at: 'service', kind: 'commit-drop', how: 'rst' } as const
    vendor.account.sandbox.faults.add({ ...fault, route: 'campaign-update', times: 4 })

    const [lost] = await vendor.apply()
    const [sent] = await vendor.apply()
    const third = await vendor.apply()

    expect([lost?.outcome, sent?.outcome, third]).toEqual(['unknown', 'updated', []])
    expect(vendor.campaigns.all[0]?.targeting?.cities).toHaveLength(1)
  })

  it('takes one of two cities away at once, and the last one only when it is allowed by name', async () => {
    const vendor = await Vendor.open(fileOf(entry('A', CITIES)))
    await vendor.apply()
    const cities = () => vendor.campaigns.all[0]?.targeting?.cities.length

    vendor.file = fileOf(entry('A', CITY))
    expect(itemOf(await vendor.plan(), 'A')).toMatchObject({ action: 'update', spend: 'down' })
    await vendor.apply()
    expect(cities()).toBe(1)

    vendor.file = fileOf(entry('A', 'targeting: {}'))
    expect(await vendor.apply()).toEqual([])
    expect(itemOf(await vendor.plan(), 'A')?.needs).toContain('--allow-widen A')
    expect(cities()).toBe(1)

    await vendor.apply({ allowWiden: ['A'] })
    expect(cities()).toBe(0)
  })

  it('says of a list that is empty what that means: any, and none of pinned requisitions', async () => {
    const pinned = 'allowWiden: true\ntargeting: { stateProvCodes: [MA], requisitionIds: [R1] }'
    const vendor = await Vendor.open(fileOf(entry('A', pinned)))
    await vendor.apply()
    vendor.file = fileOf(entry('A', 'targeting: { jobTitles: [nurse] }'))

    expect(itemOf(await vendor.plan(), 'A')?.changes).toMatchObject([
      { path: 'targeting.requisitionIds', before: 'R1', after: 'none', spend: 'down' },
      { path: 'targeting.jobTitles', before: 'any', after: 'nurse', spend: 'down' },
      { path: 'targeting.stateProvCodes', before: 'MA', after: 'any', spend: 'up' },
    ])
  })

  it.each([['replace'], ['merge']] as const)(
    'empties what it no longer names at a service that %ss targeting',
    async (targetingPut) => {
      const both = 'targeting: { stateProvCodes: [MA], jobTitles: [nurse] }'
      const vendor = await Vendor.open(fileOf(entry('A', both)), { targetingPut })
      await vendor.apply()
      vendor.file = fileOf(entry('A', 'targeting: { jobTitles: [nurse] }'))

      await vendor.apply({ allowWiden: ['A'] })

      const { targeting } = vendor.campaigns.all[0] ?? {}
      expect(targeting).toMatchObject({ stateProvCodes: [], jobTitles: ['nurse'] })
    },
  )

  it('leaves a campaign alone whose entry vanished, and ends it when it is listed as removed', async () => {
    const vendor = await Vendor.open(fileOf(entry('A'), entry('B')))
    await vendor.apply()

    vendor.file = fileOf(entry('A'))
    expect(await vendor.apply()).toEqual([])
    expect((await vendor.plan()).notices.join()).toContain('B: not in the file any more')

    vendor.file += 'removed: [{ externalCampaignId: B, endDate: 2026-12-05 }]\n'
    expect(await vendor.apply()).toMatchObject([{ key: 'B', outcome: 'updated' }])
    expect(vendor.campaigns.all[1]).toMatchObject({ endDate: '2026-12-05T00:00:00Z' })
    expect(await vendor.apply()).toEqual([])
  })

  it('protects a campaign beyond its line in the file', async () => {
    const kept = 'lifecycle: { preventEnd: true }'
    const vendor = await Vendor.open(fileOf(entry('A'), entry('B', kept)))
    await vendor.apply()
    const removed = 'removed: [{ externalCampaignId: B, endDate: 2026-12-05 }]\n'

    vendor.file = fileOf(entry('A')) + removed
    await vendor.apply()
    expect(vendor.campaigns.all[1]?.endDate).toBeNull()

    vendor.file = fileOf(entry('A'), entry('B'))
    await vendor.apply()
    vendor.file = fileOf(entry('A')) + removed
    await vendor.apply()
    expect(vendor.campaigns.all[1]?.endDate).toBe('2026-12-05T00:00:00Z')
  })

  it('writes nothing for a file that lost more than 30 % of its entries, and gives both counts', async () => {
    const keys = [...'ABCDEFGHIJ']
    const vendor = await Vendor.open(fileOf(...keys.map((key) => entry(key))))
    await vendor.apply()
    const writes = vendor.writes()
    const cut = keys.slice(0, 6).map((key) => entry(key).replace('100.00', '90.00'))

    vendor.file = fileOf(...cut)
    const plan = await vendor.plan()
    await vendor.apply()

    expect(plan.stopped).toContain('the file lists 6 of the 10 managed campaigns')
    expect(exitCodeOf(plan)).toBe(3)
    expect(vendor.writes()).toBe(writes)
  })

  it('writes nothing for another account than the database knows', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    await vendor.apply()
    vendor.configured = 'https://service.example 999'
    vendor.file = vendor.file.replace('100.00', '90.00')

    expect((await vendor.plan()).stopped).toContain('the database belongs to the account')
    expect(await vendor.apply()).toEqual([])
    expect(await vendor.run()).toMatchObject({
      ...{ state: 'stopped', waiting: [], problem: expect.stringMatching(/names \S+ 999$/) },
      hint: 'give each account a state.directory of its own',
    })
  })

  it('creates nothing when the database was lost and the service knows our tokens', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    await vendor.apply()
    vendor.database = `${vendor.database}-new`
    vendor.file = fileOf(entry('A'), entry('B'))

    const plan = await vendor.plan()
    await vendor.apply()

    expect(itemOf(plan, 'A')?.needs).toContain('adopt A 48001')
    expect(itemOf(plan, 'B')?.reason).toContain('it may be lost')
    expect(vendor.campaigns.all).toHaveLength(1)
  })

  it('never makes a campaign again that the service does not find', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    await vendor.apply()
    vendor.campaigns.remove('48001')

    const plan = await vendor.plan()
    await vendor.apply()

    expect(itemOf(plan, 'A')).toMatchObject({ action: 'blocked', campaignId: '48001' })
    expect(vendor.account.calls('campaign-create')).toBe(1)
  })

  it('freezes a campaign when a write changed a field that was not sent', async () => {
    const vendor = await Vendor.open(fileOf(entry('A', 'endDate: 2027-03-31')))
    await vendor.apply()
    vendor.campaigns.knobs.sideEffect = { endDate: null }
    vendor.file = vendor.file.replace('100.00', '90.00')

    const [result] = await vendor.apply()
    vendor.file = vendor.file.replace('endDate: 2027-03-31', '')
    const still = await vendor.plan()
    vendor.file = vendor.file.replace('90.00', '80.00')
    await vendor.apply()

    expect(result?.reason).toContain('a write changed endDate as well')
    expect(itemOf(still, 'A')).toMatchObject({ action: 'blocked' })
    expect(itemOf(still, 'A')?.needs).toContain('resolve A --checked')
    expect(vendor.campaigns.all[0]).toMatchObject({ budget: 90 })
  })

  it.each([false, true])(
    'freezes a campaign that was made with another budget than sent (answer lost: %s)',
    async (isLost) => {
      const vendor = await Vendor.open(fileOf(entry('A')))
      const { api, sandbox } = vendor.account
      const inCents: typeof api.create = ({ budget = 0, ...body }, signal) =>
        api.create({ ...body, budget: budget * 100 }, signal)
      vendor.account.api = { ...api, create: inCents }
      const fault = { at: 'service', kind: 'commit-drop', how: 'rst', times: 1 } as const
      if (isLost) sandbox.faults.add({ ...fault, route: 'campaign-create' })

      await vendor.apply()
      const told = await vendor.run()
      vendor.file = vendor.file.replace('100.00', '110.00')
      await vendor.apply()

      const reason = 'the service shows another budget than sent'
      expect(told.waiting).toMatchObject([{ key: 'A', action: 'blocked', reason }])
      expect(told.waiting[0]?.needs).toContain('resolve A --checked')
      expect(vendor.campaigns.all).toMatchObject([{ budget: 10_000 }])
      expect(vendor.account.calls('campaign-update')).toBe(0)
    },
  )

  it('freezes a campaign whose new budget is neither what was sent nor what it was', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    await vendor.apply()
    const { api } = vendor.account
    const inCents: typeof api.update = (id, { budget, ...body }, signal) =>
      api.update(id, { ...body, budget: (budget ?? 0) * 100 }, signal)
    vendor.account.api = { ...api, update: inCents }
    vendor.file = vendor.file.replace('100.00', '90.00')

    const [result] = await vendor.apply()
    await vendor.apply()

    const reason = 'the service shows another budget than sent'
    expect(result).toMatchObject({ outcome: 'failed', reason })
    expect(itemOf(await vendor.plan(), 'A')).toMatchObject({ action: 'blocked', reason })
    expect(vendor.account.calls('campaign-update')).toBe(1)
  })

  it('tries a change again that the service does not show yet, and freezes nothing for it', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    await vendor.apply()
    const { api } = vendor.account
    vendor.account.api = { ...api, update: (id, _body, signal) => api.update(id, {}, signal) }
    vendor.file = vendor.file.replace('100.00', '90.00')

    const [first] = await vendor.apply()
    vendor.account.api = api
    const [second] = await vendor.apply()

    expect([first?.outcome, second?.outcome]).toEqual(['failed', 'updated'])
    expect(vendor.campaigns.all).toMatchObject([{ budget: 90 }])
  })

  it('refuses an approved item whose campaign, file or entry changed since, and does the others', async () => {
    const vendor = await Vendor.open(fileOf(entry('A'), entry('B'), entry('C')))
    await vendor.apply()
    vendor.file = vendor.file.replaceAll('100.00', '90.00')
    const approved = await vendor.plan()
    Object.assign(vendor.campaigns.all[0] ?? {}, { endDate: '2027-01-01T00:00:00Z' })
    vendor.file = vendor.file.replace(/(Campaign B\n {4}budget: )"90.00"/, '$1"80.00"')

    const results = await vendor.apply({ approved })

    expect(results.map(({ key, outcome }) => [key, outcome])).toEqual([
      ['A', 'stale'],
      ['B', 'stale'],
      ['C', 'updated'],
    ])
    expect(vendor.campaigns.all.map(({ budget }) => budget)).toEqual([100, 100, 90])
  })

  it('refuses an approved item whose postings changed with a new feed', async () => {
    const vendor = await Vendor.open(fileOf(entry('A'), entry('B')))
    vendor.upload(['A', 'B', 'C', 'C'])
    const approved = await vendor.plan()
    vendor.upload(['A', 'A', 'B', 'C', 'C'])

    const results = await vendor.apply({ approved })

    expect(results.map(({ key, outcome }) => [key, outcome])).toEqual([
      ['A', 'stale'],
      ['B', 'created'],
    ])
  })

  it('writes nothing on an empty listing from a cache, whatever the database knows', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    await vendor.apply()
    vendor.campaigns.all.splice(0)
    vendor.campaigns.knobs.fromCache = true

    const plan = await vendor.plan()
    await vendor.apply()

    expect(plan.listing).toMatchObject({ complete: false })
    expect(vendor.account.calls('campaign-create')).toBe(1)
    using store = vendor.store()
    // The cache is no proof that it is gone, so the time after which it may be made anew does not run.
    expect(store.record('A')?.missingSince ?? null).toBe(null)
  })

  it('goes on by its own memory when the service does not keep the token, and says so', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')), { nameLength: 12 })

    const [result] = await vendor.apply()
    await vendor.apply()

    expect(result?.reason).toContain('did not keep the token')
    expect(vendor.campaigns.all).toHaveLength(1)
  })

  it('cuts a paused campaign and raises none, and leaves an archived one alone', async () => {
    const vendor = await Vendor.open(fileOf(entry('A'), entry('B'), entry('C')))
    await vendor.apply()
    for (const [n, status] of [3, 3, 2].entries())
      Object.assign(vendor.campaigns.all[n] ?? {}, { status })
    const [a, b, c] = [entry('A'), entry('B'), entry('C')]
    vendor.file = fileOf(
      a.replace('100.00', '90.00'),
      b.replace('100.00', '110.00'),
      c.replace('100.00', '90.00'),
    )

    await vendor.apply()

    expect(vendor.campaigns.all.map(({ budget }) => budget)).toEqual([90, 100, 100])
    expect((await vendor.plan()).summary).toMatchObject({ blocked: 2, reduce: 0 })
  })

  it.each([
    ['maxCpc: "1.10"', 'maxCpc'],
    ['startDate: 2027-01-05', 'startDate'],
    ['period: monthly', 'period'],
  ])('names what a vendor cannot change, and calls nothing for it: %s', async (field, path) => {
    const vendor = await Vendor.open(
      fileOf(entry('A', 'maxCpc: "0.80"\nstartDate: 2027-01-04\nperiod: once')),
    )
    await vendor.apply()
    const writes = vendor.writes()
    vendor.file = vendor.file.replace(new RegExp(`${path}: .*`), field)

    const plan = await vendor.plan()
    await vendor.apply()

    expect(itemOf(plan, 'A')).toMatchObject({ action: 'blocked' })
    expect(itemOf(plan, 'A')?.reason).toContain(`${path}: `)
    expect(vendor.writes()).toBe(writes)
  })

  it('observes an adopted campaign, and writes to it once it is taken over', async () => {
    const adopted = (how: string) => entry('A', `campaignId: "48001"\nadopt: ${how}\n${CITY}`)
    const vendor = await Vendor.open(fileOf(adopted('observe')))
    vendor.campaigns.create('123', { name: 'By hand', budget: 70 })

    const observed = await vendor.apply()
    const plan = await vendor.plan()
    vendor.file = fileOf(adopted('takeover'))
    await vendor.apply()

    expect(observed).toMatchObject([{ outcome: 'adopted', campaignId: '48001' }])
    expect(plan.items).toEqual([])
    expect(plan.drift.join('\n')).toMatch(/budget: the file says 100.00, the service 70.00/)
    expect(vendor.campaigns.all).toHaveLength(1)
    expect(vendor.campaigns.all[0]).toMatchObject({ budget: 100 })
    expect(tokenIn(vendor.campaigns.all[0]?.name)).not.toBeNull()
    expect(await vendor.apply()).toEqual([])
  })
})
