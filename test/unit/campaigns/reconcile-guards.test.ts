import { describe, expect, it } from 'vitest'
import { openAccount } from '../../helpers/campaigns/account.ts'
import { entry, fileOf, itemOf, Vendor } from '../../helpers/campaigns/reconciling.ts'

describe('a create that did not succeed', () => {
  it('is sent again when a proxy on the way refused it', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    const { faults } = vendor.account.sandbox
    const refused = faults.add({
      at: 'service',
      kind: 'answer',
      status: 407,
      route: 'campaign-create',
    })

    const [first] = await vendor.apply()
    refused.remove()
    const [second] = await vendor.apply()

    expect([first?.outcome, second?.outcome]).toEqual(['failed', 'created'])
    expect(vendor.campaigns.all).toHaveLength(1)
  })

  it('is sent again when nobody listened, and made once', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    const nobody = await openAccount()
    await nobody.sandbox.close()
    const { api } = vendor
    vendor.api = { ...api, create: nobody.api.create }

    const [first] = await vendor.apply()
    const planned = await vendor.plan()
    vendor.api = api
    const [second] = await vendor.apply()

    expect([first?.outcome, second?.outcome]).toEqual(['failed', 'created'])
    expect(itemOf(planned, 'A')).toMatchObject({ action: 'create' })
    expect(vendor.campaigns.all).toHaveLength(1)
  })

  it.each([400, 422])(
    'is sent again after %i by a person alone, or when the entry changes',
    async (status) => {
      const vendor = await Vendor.open(fileOf(entry('A')))
      const body = '{"message":"that name is taken"}'
      const fault = { at: 'service', kind: 'answer', status, body, times: 1 } as const
      vendor.account.sandbox.faults.add({ ...fault, route: 'campaign-create' })

      const [refused] = await vendor.apply()
      await vendor.daemon()
      const plan = await vendor.plan()
      vendor.file = vendor.file.replace('Campaign A', 'Another A')
      const [created] = await vendor.apply()

      expect(refused?.reason).toContain('that name is taken')
      expect(itemOf(plan, 'A')).toMatchObject({ held: null, approval: true })
      expect(created).toMatchObject({ outcome: 'created' })
      expect(vendor.account.calls('campaign-create')).toBe(2)
    },
  )

  it.each([500, 502, 503, 429, 408])('is sent once when it is answered %i', async (status) => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    vendor.account.sandbox.faults.add({
      ...{ at: 'service', kind: 'answer', status, route: 'campaign-create' },
    })

    for (let n = 0; n < 3; n++) await vendor.apply()

    expect(vendor.account.calls('campaign-create')).toBe(1)
    expect(itemOf(await vendor.plan(), 'A')).toMatchObject({ held: { code: 'unknown' } })
  })

  it('is found again when it shows up late', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')), { listedAfterMs: 600_000 })
    const fault = { at: 'service', kind: 'commit-drop', how: 'rst', times: 1 } as const
    vendor.account.sandbox.faults.add({ ...fault, route: 'campaign-create' })

    const [first] = await vendor.apply()
    vendor.account.pass(700_000)
    const [second] = await vendor.apply()

    expect([first?.outcome, second?.outcome]).toEqual(['unknown', 'adopted'])
    expect(vendor.account.calls('campaign-create')).toBe(1)
  })
})

describe('the guards on money', () => {
  const guards = (text: string) => `guards: { ${text} }\n`

  it('let a raise use what a reduction frees, and never pass the limit between two calls', async () => {
    const limit = guards('maxExposure: "200.00"')
    const vendor = await Vendor.open(fileOf(entry('A'), entry('B')) + limit)
    await vendor.apply()
    vendor.file =
      fileOf(entry('A').replace('100.00', '140.00'), entry('B').replace('100.00', '60.00')) + limit

    const results = await vendor.apply()

    expect(results.map(({ key }) => key)).toEqual(['B', 'A'])
    expect(vendor.campaigns.all.map(({ budget }) => budget)).toEqual([140, 60])
  })

  it('hold a raise that rests on a reduction which failed', async () => {
    const limit = guards('maxExposure: "200.00"')
    const vendor = await Vendor.open(fileOf(entry('A'), entry('B')) + limit)
    await vendor.apply()
    vendor.file =
      fileOf(entry('A').replace('100.00', '140.00'), entry('B').replace('100.00', '60.00')) + limit
    vendor.account.sandbox.faults.add({
      ...{ at: 'service', kind: 'answer', status: 422, route: 'campaign-update', times: 1 },
    })

    const results = await vendor.apply()

    expect(results.map(({ outcome }) => outcome)).toEqual(['failed'])
    expect(vendor.campaigns.all[0]?.budget).toBe(100)
  })

  it.each([
    ['100.00', '151.00', '', 'guards.raisePercent is 50'],
    ['100.00', '140.00', 'maxBudget: "120.00"', 'guards.maxBudget is 120.00'],
    ['100.00', '140.00', 'maxExposure: "120.00"', 'guards.maxExposure is 120.00'],
  ])('refuse %s -> %s with {%s}, and change no value to fit', async (from, to, text, why) => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    await vendor.apply()
    vendor.file = fileOf(entry('A').replace(from, to)) + guards(text)

    const plan = await vendor.plan()
    await vendor.apply()

    expect(itemOf(plan, 'A')?.held?.reason).toContain(why)
    expect(vendor.campaigns.all[0]?.budget).toBe(100)
  })

  it('limit the creates of a day, and create nothing without a budget', async () => {
    const file = fileOf(entry('A'), entry('B'), entry('C').replace('budget: "100.00"', ''))
    const vendor = await Vendor.open(file + guards('createsPerDay: 1'))

    await vendor.apply()
    await vendor.apply()
    const plan = await vendor.plan()

    expect(vendor.campaigns.all).toHaveLength(1)
    expect(itemOf(plan, 'B')?.held?.reason).toContain('guards.createsPerDay is 1')
    expect(itemOf(plan, 'C')?.held?.reason).toBeDefined()
  })

  it('let the brake through: an earlier end and a lower budget are never held', async () => {
    const tight = guards('maxBudget: "1.00", maxExposure: "1.00", raisePercent: 0')
    const vendor = await Vendor.open(fileOf(entry('A', 'endDate: 2027-03-31')))
    await vendor.apply()
    vendor.file = fileOf(entry('A', 'endDate: 2027-01-31').replace('100.00', '90.00')) + tight

    const [result] = await vendor.apply()

    expect(result).toMatchObject({ outcome: 'updated' })
    expect(vendor.campaigns.all[0]).toMatchObject({ budget: 90, endDate: '2027-01-31T00:00:00Z' })
  })
})
