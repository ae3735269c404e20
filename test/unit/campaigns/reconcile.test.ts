import { describe, expect, it } from 'vitest'
import { exitCodeOf } from '../../../src/campaigns/plan.ts'
import { tokenIn, tokenOf } from '../../../src/campaigns/token.ts'
import {
  entry,
  fileOf,
  findingOf,
  IDENTITY,
  itemOf,
  Vendor,
} from '../../helpers/campaigns/reconciling.ts'

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
    expect(tokenIn(made?.name)).toBe(tokenOf(IDENTITY, 'A'))
    expect(made).toMatchObject({ budget: 100, targeting: { externalCampaignId: 'A' } })
    expect(again.items).toEqual([])
    expect(exitCodeOf(again)).toBe(0)
  })

  it('writes a lower budget, a wider targeting and a new name, each once', async () => {
    const vendor = await Vendor.open(fileOf(entry('A', CITY), entry('B')))
    await vendor.apply()
    vendor.file = fileOf(
      entry('A', CITIES).replace('100.00', '90.00'),
      entry('B').replace('Campaign B', 'Other'),
    )

    const results = await vendor.apply()
    const again = await vendor.plan()

    expect(results.map(({ outcome }) => outcome)).toEqual(['updated', 'updated', 'updated'])
    expect(vendor.campaigns.all[0]).toMatchObject({ budget: 90 })
    expect(again.items).toEqual([])
    expect(again.summary.unchanged).toBe(2)
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

    expect(itemOf(plan, 'A')?.held?.needs).toContain('campaigns adopt A 48001')
    expect(vendor.campaigns.all).toMatchObject([{ name: 'Campaign A', budget: 7 }])
  })

  it.each([['substring'], ['case-fold'], ['exact']] as const)(
    'gives the same when the service searches names by %s',
    async (nameRule) => {
      const vendor = await Vendor.open(fileOf(entry('A')), { nameRule })

      await vendor.apply()
      vendor.campaigns.create('123', { name: 'Campaign A and more' })
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
    expect(itemOf(plan, 'B')).toMatchObject({ held: { code: expect.any(String) } })
    expect(vendor.campaigns.all[0]).toMatchObject({ budget: 90 })
    expect(vendor.account.calls('campaign-create')).toBe(1)
  })

  it('finds the list whatever its field is called, and writes nothing where two could be it', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')), { listField: 'rows' })
    await vendor.apply()
    vendor.campaigns.knobs.secondList = true
    vendor.file = vendor.file.replace('100.00', '90.00')

    const looked = await vendor.look('apply')

    expect(looked).toMatchObject({
      kind: 'failure',
      reason: expect.stringContaining('campaigns.listField'),
    })
    // A reduction needs no list.
    expect(vendor.campaigns.all).toMatchObject([{ budget: 90 }])
  })

  it('creates nothing where the service shows its campaigns in another order each time', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')), { pageSize: 4, unsorted: true })
    for (let n = 0; n < 12; n++) vendor.campaigns.create('123', { name: `x${n}` })

    const plan = await vendor.plan()
    await vendor.apply()

    expect(plan.listing.complete).toBe(false)
    expect(itemOf(plan, 'A')?.held?.reason).toContain('the listing is not complete')
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
    expect(plan.findings.map(({ text }) => text).join('\n')).toMatch(
      /budget was changed on the service from 100.00 to 50.00/,
    )
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
    expect(itemOf(await vendor.plan(), 'A')?.held?.needs).toContain('--allow-widen A')
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
    expect(findingOf(await vendor.plan(), 'unlisted', 'B')?.text).toContain('still running')

    vendor.file += 'removed: [{ externalCampaignId: B, endDate: 2026-12-05 }]\n'
    expect(await vendor.apply()).toMatchObject([{ key: 'B', outcome: 'updated' }])
    expect(vendor.campaigns.all[1]).toMatchObject({ endDate: '2026-12-05T00:00:00Z' })
    expect(await vendor.apply()).toEqual([])
  })

  it('writes nothing for another account than the database knows', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    await vendor.apply()
    vendor.configured = 'https://service.example 999'
    vendor.file = vendor.file.replace('100.00', '90.00')

    expect((await vendor.plan()).stopped?.reason).toContain('the database belongs to the account')
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

    expect(itemOf(plan, 'A')?.held?.needs).toContain('adopt A 48001')
    expect(itemOf(plan, 'B')?.held?.reason).toContain('it may be there already')
    expect(vendor.campaigns.all).toHaveLength(1)
  })

  it('never makes a campaign again that the service does not find', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    await vendor.apply()
    vendor.campaigns.remove('48001')

    const plan = await vendor.plan()
    await vendor.apply()

    expect(itemOf(plan, 'A')).toMatchObject({ campaignId: '48001', held: { code: 'lost' } })
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
    vendor.file = vendor.file.replace('90.00', '95.00')
    await vendor.apply()

    expect(result?.reason).toContain('a write changed endDate as well')
    expect(itemOf(still, 'A')).toMatchObject({ held: { code: expect.any(String) } })
    expect(itemOf(still, 'A')?.held?.needs).toContain('resolve A --checked')
    expect(vendor.campaigns.all[0]).toMatchObject({ budget: 90 })
  })

  it.each([false, true])(
    'freezes a campaign that was made with another budget than sent (answer lost: %s)',
    async (isLost) => {
      const vendor = await Vendor.open(fileOf(entry('A')))
      const { api } = vendor
      const { sandbox } = vendor.account
      const inCents: typeof api.create = ({ budget = 0, ...body }, signal) =>
        api.create({ ...body, budget: budget * 100 }, signal)
      vendor.api = { ...api, create: inCents }
      const fault = { at: 'service', kind: 'commit-drop', how: 'rst', times: 1 } as const
      if (isLost) sandbox.faults.add({ ...fault, route: 'campaign-create' })

      await vendor.apply()
      const told = await vendor.run()
      vendor.file = vendor.file.replace('100.00', '110.00')
      await vendor.apply()

      const reason = 'the service shows another budget than was sent'
      expect(told.waiting).toMatchObject([{ key: 'A', reason }])
      expect(told.waiting[0]?.needs).toContain('resolve A --checked')
      // Less than what is there is a reduction, and goes.
      expect(vendor.campaigns.all).toMatchObject([{ budget: 110 }])
    },
  )

  it('freezes a campaign whose new budget is neither what was sent nor what it was', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    await vendor.apply()
    const { api } = vendor
    const inCents: typeof api.update = (id, { budget, ...body }, signal) =>
      api.update(id, { ...body, budget: (budget ?? 0) * 100 }, signal)
    vendor.api = { ...api, update: inCents }
    vendor.file = vendor.file.replace('100.00', '90.00')

    const [result] = await vendor.apply()
    await vendor.apply()

    const reason = 'the service shows another budget than was sent'
    expect(result).toMatchObject({ outcome: 'updated', reason })
    expect(itemOf(await vendor.plan(), 'A')).toMatchObject({ held: { code: 'doubt', reason } })
    expect(vendor.account.calls('campaign-update')).toBe(1)
  })

  it('tries a change again that the service does not show yet, and freezes nothing for it', async () => {
    const vendor = await Vendor.open(fileOf(entry('A')))
    await vendor.apply()
    const { api } = vendor
    vendor.api = { ...api, update: (id, _body, signal) => api.update(id, {}, signal) }
    vendor.file = vendor.file.replace('100.00', '90.00')

    const [first] = await vendor.apply()
    vendor.api = api
    const [second] = await vendor.apply()

    expect([first?.outcome, second?.outcome]).toEqual(['unknown', 'updated'])
    expect(vendor.campaigns.all).toMatchObject([{ budget: 90 }])
  })

  it('does an approved reduction whatever else changed there, and no raise whose campaign changed', async () => {
    const vendor = await Vendor.open(fileOf(entry('A'), entry('B'), entry('C')))
    await vendor.apply()
    const [a, b, c] = [entry('A'), entry('B'), entry('C')]
    vendor.file = fileOf(
      a.replace('100.00', '90.00'),
      b.replace('100.00', '120.00'),
      c.replace('100.00', '120.00'),
    )
    const approved = await vendor.plan()
    for (const n of [0, 1])
      Object.assign(vendor.campaigns.all[n] ?? {}, { endDate: '2027-01-01T00:00:00Z' })

    const results = await vendor.apply({ approved })

    expect(results.map(({ key, outcome }) => [key, outcome])).toEqual([
      ['A', 'updated'],
      ['C', 'updated'],
      ['B', 'stale'],
    ])
    expect(vendor.campaigns.all.map(({ budget }) => budget)).toEqual([90, 100, 120])
  })

  it('refuses an approved item whose postings changed with a new feed', async () => {
    const vendor = await Vendor.open(fileOf(entry('A'), entry('B')))
    vendor.upload(['A', 'B', 'C', 'C'])
    const approved = await vendor.plan()
    vendor.upload(['A', 'A', 'B', 'C', 'C'])

    const results = await vendor.apply({ approved })

    expect(results.map(({ key, outcome }) => [key, outcome])).toEqual([
      ['B', 'created'],
      ['A', 'stale'],
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

  it('cuts a paused campaign and an archived one, and raises none', async () => {
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

    expect(vendor.campaigns.all.map(({ budget }) => budget)).toEqual([90, 100, 90])
    expect((await vendor.plan()).summary).toMatchObject({ held: 1, reduce: 0 })
  })
})
