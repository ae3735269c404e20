import { describe, expect, it } from 'vitest'
import { tokenOf, withToken } from '../../src/campaigns/token.ts'
import { entry, fileOf, Vendor } from './reconciling.ts'

const COUNT = 2_000

describe(`an account of ${COUNT} campaigns`, () => {
  it('needs no write, and as few reads as its pages allow', async () => {
    const keys = Array.from({ length: COUNT }, (_, n) => `K-${n}`)
    const guards = 'guards: { maxExposure: "900000.00", createsPerDay: 5000 }\n'
    const vendor = await Vendor.open(fileOf(...keys.map((key) => entry(key))) + guards, {
      pageSize: 1000,
    })
    {
      using store = vendor.store()
      store.atomically(() => {
        for (const key of keys) {
          const name = withToken(`Campaign ${key}`, tokenOf(vendor.configured, key))
          const { id } = vendor.campaigns.create('123', { name, budget: 100 })
          const applied = { name, budget: 1_000_000 }
          store.save({
            ...{ key, campaignId: id, origin: 'created', applied, pending: null },
            ...{ preventEnd: false, frozen: null },
          })
        }
      })
    }

    const plan = await vendor.plan()

    expect(plan.items).toEqual([])
    expect(plan.summary).toMatchObject({ unchanged: COUNT })
    expect(vendor.writes()).toBe(0)
    // Three pages that overlap by one, and one look at each status, whose totals are known by then.
    expect(vendor.account.calls('campaign-search')).toBe(6)
  })
})
