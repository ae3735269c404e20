import { describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../../src/lib/clock.ts'
import { entry, fileOf, itemOf, Vendor } from '../../helpers/campaigns/reconciling.ts'

const budget = (amount: string, key = 'A') => entry(key).replace('100.00', amount)

describe('several raises within a day', () => {
  it('are measured against the budget of a day ago, while a cut goes through', async () => {
    const vendor = await Vendor.open(fileOf(budget('100.00'), budget('50.00', 'B')))
    await vendor.apply()
    vendor.file = fileOf(budget('140.00'), budget('50.00', 'B'))
    await vendor.apply()
    vendor.account.pass(HOUR)

    vendor.file = fileOf(budget('190.00'), budget('40.00', 'B'))
    const results = await vendor.apply()
    const plan = await vendor.plan()

    expect(results).toMatchObject([{ key: 'B', outcome: 'updated' }])
    expect(itemOf(plan, 'A')?.held?.reason).toBe(
      'guards.raisePercent is 50, the budget would go from 100.00 to 190.00 within 24 hours',
    )
    expect(vendor.campaigns.all.map((one) => one.budget)).toEqual([140, 40])
  })

  it('are measured anew after that day', async () => {
    const vendor = await Vendor.open(fileOf(budget('100.00')))
    await vendor.apply()
    vendor.file = fileOf(budget('140.00'))
    await vendor.apply()
    vendor.account.pass(DAY)

    vendor.file = fileOf(budget('190.00'))

    expect(await vendor.apply()).toMatchObject([{ outcome: 'updated' }])
  })
})

describe('after a PUT whose outcome is not known', () => {
  const WIDE = 'targeting: { stateProvCodes: [MA, RI] }'
  const NARROW = 'targeting: { stateProvCodes: [MA] }'

  async function uncertain() {
    const vendor = await Vendor.open(fileOf(entry('A', WIDE)))
    await vendor.apply()
    const fault = { at: 'service', kind: 'drop', point: 'headers', how: 'rst' } as const
    vendor.account.sandbox.faults.add({ ...fault, route: 'campaign-update', times: 4 })
    vendor.file = fileOf(entry('A', NARROW))
    expect(await vendor.apply()).toMatchObject([{ outcome: 'unknown' }])
    return vendor
  }

  it('the same values are sent again at once', async () => {
    const vendor = await uncertain()

    expect(await vendor.apply()).toMatchObject([{ outcome: 'updated' }])
    expect(vendor.campaigns.all[0]?.targeting?.stateProvCodes).toEqual(['MA'])
  })

  it('other values wait for two minutes, so that the late one cannot land on top of them', async () => {
    const vendor = await uncertain()
    vendor.file = fileOf(entry('A', WIDE))
    const updates = vendor.account.calls('campaign-update')

    const early = await vendor.plan()
    await vendor.apply()
    const before = vendor.account.calls('campaign-update')
    vendor.account.pass(2 * MINUTE)
    const late = await vendor.apply()

    expect(itemOf(early, 'A')?.held?.reason).toMatch(
      /^an earlier write may still arrive; nothing else/,
    )
    expect(before).toBe(updates)
    expect(late).toMatchObject([{ outcome: 'updated' }])
  })
})
