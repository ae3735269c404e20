import { describe, expect, it } from 'vitest'
import { exportCampaigns } from '../../../src/campaigns/export.ts'
import { adoptedRecord } from '../../../src/campaigns/record.ts'
import { tokenOf, withToken } from '../../../src/campaigns/token.ts'
import { DAY } from '../../../src/lib/clock.ts'
import { entry, fileOf, IDENTITY, Vendor } from '../../helpers/campaigns/reconciling.ts'
import { installed, World } from '../../helpers/campaigns/world.ts'

const COUNT = 10_000

describe('taking over many campaigns', () => {
  it('reads the records as often as for a few', async () => {
    const readsFor = async (count: number) => {
      const world = World.open()
      const all = Array.from({ length: count }, (_, n) => world.make(`Campaign K${n}`))
      const entries = all.map(({ id }, n) => entry(`K${n}`, `campaignId: "${id}"`))
      const host = world.host(fileOf(...entries).replaceAll('100.00', '50.00'))
      let reads = 0
      host.wrap = (store) => ({
        ...store,
        records: () => {
          reads++
          return store.records()
        },
      })
      const results = await host.apply()
      expect(results).toHaveLength(count)
      return reads
    }

    expect(await readsFor(40)).toBe(await readsFor(2))
  })
})

describe('taking over what was exported', () => {
  it('reads no campaign by its id', async () => {
    const world = World.open()
    const all = Array.from({ length: 20 }, (_, n) => world.make(`K${n}`, { budget: 50 }))
    const host = world.host(
      exportCampaigns(
        world.all.map((one) => ({ ...one, other: {} })),
        [],
      ).text,
    )

    const results = await host.apply()

    expect(results).toHaveLength(all.length)
    expect(world.calls.filter(({ kind }) => kind !== 'search')).toEqual([])
    expect((await host.plan()).summary).toMatchObject({ unchanged: all.length })
  })
})

describe('many new entries beside many campaigns that are not in the file any more', () => {
  it('looks through those campaigns as often as for one new entry', async () => {
    const over = entry('OLD', 'endDate: 2026-12-02')
    const { world, host } = await installed(fileOf(over))
    world.pass(30 * DAY)
    let reads = 0
    host.wrap = (store) => ({
      ...store,
      records: () =>
        store.records().map((record) => {
          const { name, ...written } = record.written
          const get = () => {
            reads++
            return name
          }
          return { ...record, written: Object.defineProperty(written, 'name', { get }) }
        }),
    })
    const readsFor = async (count: number) => {
      host.file = fileOf(...Array.from({ length: count }, (_, n) => entry(`N${n}`)))
      reads = 0
      const { items } = await host.plan()
      expect(items.filter(({ action }) => action === 'create')).toHaveLength(count)
      return reads
    }

    expect(await readsFor(40)).toBe(await readsFor(1))
  })
})

describe(`an account of ${COUNT} campaigns`, () => {
  it('needs no write, and as few reads as its pages allow', async () => {
    const keys = Array.from({ length: COUNT }, (_, n) => `K-${n}`)
    const guards = 'guards: { maxExposure: "9000000.00", createsPerDay: 5000 }\n'
    const vendor = await Vendor.open(fileOf(...keys.map((key) => entry(key))) + guards, {
      pageSize: 1000,
    })
    {
      using store = vendor.store()
      store.atomically(() => {
        for (const key of keys) {
          const name = withToken(`Campaign ${key}`, tokenOf(IDENTITY, key))
          const { id } = vendor.campaigns.create('123', { name, budget: 100 })
          const campaign = { id, accountId: '123', name, other: {} }
          const written = { name, budget: 1_000_000 }
          store.save({ ...adoptedRecord(key, campaign), origin: 'created', written })
        }
      })
    }

    const plan = await vendor.plan()

    expect(plan.items).toEqual([])
    expect(plan.summary).toMatchObject({ unchanged: COUNT })
    expect(vendor.writes()).toBe(0)
    // Eleven pages that overlap by one, and one look at each status, whose totals are known by then.
    expect(vendor.account.calls('campaign-search')).toBe(14)
  })
})
