import { describe, expect, it } from 'vitest'
import type { FeedSide } from '../../../../src/campaigns/port.ts'
import { DAY, HOUR } from '../../../../src/lib/clock.ts'
import { entry, fileOf, itemOf } from '../../../helpers/campaigns/reconciling.ts'
import {
  createDirectly,
  failure,
  type Host,
  installed,
  opened,
  troubles,
  updateDirectly,
} from '../../../helpers/campaigns/world.ts'

const guards = (text: string) => `guards: { ${text} }\n`
const budget = (key: string, amount: string, fields = '') =>
  entry(key, fields).replace('100.00', amount)
const states = (list: string) => fileOf(entry('A', `targeting: { stateProvCodes: [${list}] }`))

/** A feed of so many postings of A, and so many of another id. */
const feedOf =
  (postings: number, others = 0): Host['feeds'] =>
  (): FeedSide => ({
    latest: [
      {
        ...{ feed: 'f', path: 'f', version: 1, uploadedAt: 0, postings: postings + others },
        ...{ records: '/a/b', spool: 'x', ids: { A: postings, X: others } },
      },
    ],
    absence: () => null,
    read: async (_fields, _needed, take) => {
      for (let n = 0; n < postings; n++)
        take({ externalCampaignId: 'A', requisitionId: `R${n}`, state: n % 2 ? 'ON' : 'MA' })
      return []
    },
  })

describe('from pinned requisitions alone to a filter', () => {
  it('narrowed on the service to one posting, then a state more in the file: it is no reduction', async () => {
    const { world, host } = await installed(states('MA'))
    world.book.knobs.echoTargeting = true
    world.campaign('48001').targeting = { requisitionIds: ['R1'] }
    host.feeds = feedOf(1000)
    host.file = states('MA, ON') + guards('maxShareOfFeed: 0.1')
    const plan = await host.plan()
    world.trouble = troubles({
      on: 'search',
      trouble: { kind: 'fail', failure: failure.temporary() },
    })

    await host.daemon()

    expect(itemOf(plan, 'A')).toMatchObject({ held: { code: 'conflict' } })
    expect(world.campaign('48001').targeting).toEqual({ requisitionIds: ['R1'] })
  })

  it('narrowed by a direct call: the file goes back by way of the guards', async () => {
    const { host } = await installed(states('MA'))
    await updateDirectly(host.person(), '48001', { targeting: { requisitionIds: ['R1'] } })

    const plan = await host.plan()

    expect(plan.summary).toMatchObject({ reduce: 0, update: 1 })
  })
})

describe('raisePercent counts from what was agreed', () => {
  it('adopted a day ago with less than the file says: somebody’s raise in between does not widen it', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.make('Campaign A', { budget: 20, targeting: { externalCampaignId: 'A' } })
    await host.daemon()
    await host.decide().adopt('A', '48001')
    await host.apply()
    world.pass(26 * HOUR)
    world.campaign('48001').budget = 520
    const lowered = await host.apply()
    host.file = fileOf(budget('A', '150.00'))

    await host.daemon()

    expect(lowered).toMatchObject([{ key: 'A', outcome: 'updated' }])
    expect(itemOf(await host.plan(), 'A')?.held?.reason).toContain('from 20.00 to 150.00')
    expect(world.campaign('48001').budget).toBe(100)
  })

  it('the same where the file takes it over by its id', async () => {
    const { world, host } = opened(fileOf(budget('A', '100.00', 'campaignId: "48001"')))
    world.make('Campaign A', { budget: 20, targeting: { externalCampaignId: 'A' } })
    await host.apply()
    world.pass(26 * HOUR)
    world.campaign('48001').budget = 520
    await host.daemon()
    host.file = fileOf(budget('A', '150.00', 'campaignId: "48001"'))

    await host.daemon()

    expect(itemOf(await host.plan(), 'A', 'guard')?.held?.reason).toContain('from 20.00 to 150.00')
    expect(world.campaign('48001').budget).toBe(100)
  })

  it('raised on the service alone, then more in the file and --revert: from what was agreed', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    world.pass(2 * DAY)
    world.campaign('48001').budget = 1000
    await host.daemon()
    host.file = fileOf(budget('A', '1500.00'))
    await host.daemon()
    await host.decide().settle('A', 'revert')

    await host.apply()

    expect(itemOf(await host.plan(), 'A')?.held?.reason).toContain('from 100.00 to 1500.00')
    expect(world.campaign('48001').budget).toBe(1000)
  })
})

describe('direct calls under the guards', () => {
  it('a blank targeting selects every posting', async () => {
    const { world, host } = await installed(fileOf(entry('A')) + guards('maxShareOfFeed: 0.1'))
    host.feeds = feedOf(5, 995)

    const answer = await updateDirectly(host.person(), '48001', { targeting: {} })

    expect(answer).toMatchObject({
      kind: 'refused',
      reason: 'guards.maxShareOfFeed is 0.1, it would select 1000 of 1000 postings',
    })
    expect(world.writes()).toHaveLength(1)
  })

  it('after a lost database: what carries the mark of an entry counts for maxExposure', async () => {
    const file = fileOf(entry('A'), entry('B')) + guards('maxExposure: "250.00"')
    const { world, host } = await installed(file)
    host.lose()
    await host.daemon()

    const answer = await createDirectly(
      host.person(),
      { name: 'Fair', budget: 100, targeting: { externalCampaignId: 'X' } },
      false,
    )

    expect(answer).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('all campaigns together might spend 300.00'),
    })
    expect(world.all).toHaveLength(2)
  })
})

describe('what the service does not show', () => {
  it('its status: `status: paused` is a brake, and goes while the search is down', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    world.shape = ({ status: _, ...shown }) => shown
    host.file = fileOf(entry('A', 'status: paused'))
    const plan = await host.plan()
    world.trouble = troubles({
      on: 'search',
      trouble: { kind: 'fail', failure: failure.temporary() },
    })

    await host.daemon()
    await host.daemon()

    expect(itemOf(plan, 'A')).toMatchObject({ spend: 'down', held: null })
    expect(world.campaign('48001').status).toBe(3)
    expect(world.writes()).toHaveLength(2)
  })

  it('a period that is not known here: what it may spend is not limited', async () => {
    const { world, host } = opened(fileOf(budget('A', '4000.00', 'campaignId: "48001"')))
    world.make('Weekly', { budget: 4000, period: 2, endDate: '2026-12-30T00:00:00Z' })

    const plan = await host.plan()

    expect(plan.exposure.before).toBe('unlimited')
  })
})

describe('maxShareOfFeed', () => {
  it('is not passed while an export is empty: its postings come back', async () => {
    const { world, host } = await installed(states('MA'))
    host.feeds = feedOf(1000, 100)
    host.file = states('MA, ON')
    const before = itemOf(await host.plan(), 'A')?.held?.reason
    host.feeds = feedOf(0)
    await host.daemon()
    const meanwhile = itemOf(await host.plan(), 'A')?.held?.reason
    host.feeds = feedOf(10, 1000)

    const { results } = await host.daemon()

    expect(before).toContain('it would select 1000 of 1100 postings')
    expect(meanwhile).toContain('cannot be checked: no posting is in the last uploads')
    expect(results).toMatchObject([{ key: 'A', outcome: 'updated' }])
    expect(world.writes()).toHaveLength(2)
  })
})

describe('maxExposure counts', () => {
  it('a new entry whose key is the id of another campaign', async () => {
    const both = (...keys: string[]) =>
      `${fileOf(...keys.map((key) => budget(key, '4000.00')))}${guards('maxExposure: "5000.00"')}`
    const { world, host } = await installed(both('X'))
    host.file = both('X', '"48001"')

    const plan = await host.plan()
    await host.daemon()

    expect(itemOf(plan, '48001')?.held?.reason).toContain('might spend 8000.00')
    expect(world.all).toHaveLength(1)
  })

  it('a budget below zero as one that is not known', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    await host.apply()
    world.make('Campaign B', { budget: -1 })
    const takesOver = budget('B', '100.00', 'campaignId: "48002"').replace(/ *budget: .*\n/, '')
    host.file = fileOf(budget('A', '140.00'), takesOver)
    await host.daemon()

    expect(itemOf(await host.plan(), 'A')?.held?.reason).toContain('48002')
    expect(world.campaign('48001').budget).toBe(100)
  })
})

describe('what the plan calls held is what apply holds', () => {
  const twelve = fileOf(budget('A', '1000.00', 'period: monthly'))
  const limit = guards('maxExposure: "13000.00"')

  it('a campaign that the file ends frees what it might have spent', async () => {
    const { world, host } = await installed(twelve + limit)
    host.file = `${fileOf(budget('B', '2000.00'))}removed: [{ externalCampaignId: A, endDate: 2026-12-05 }]\n${limit}`

    const plan = await host.plan()
    await host.daemon()

    expect(plan.summary).toMatchObject({ reduce: 1, create: 1, held: 0 })
    expect(plan.exposure).toMatchObject({ before: '12000.00', after: '3000.00' })
    expect(world.all).toHaveLength(2)
  })

  it('a budget lowered on an archived campaign may spend nothing, before as after', async () => {
    const { world, host } = await installed(twelve + limit)
    world.campaign('48001').status = 2
    const lower = budget('A', '900.00', 'period: monthly')
    host.file = fileOf(lower, budget('B', '3000.00')) + limit

    const plan = await host.plan()
    await host.daemon()

    expect(itemOf(plan, 'A')?.money).toEqual({ before: '0.00', after: '0.00' })
    expect(plan.summary).toMatchObject({ create: 1, held: 0 })
    expect(world.all).toHaveLength(2)
  })
})

it('guards.maxShareOfFeed is not passed by what is exactly its share', async () => {
  const { world, host } = opened(states('ON') + guards('maxShareOfFeed: 0.29'))
  host.feeds = feedOf(58, 42)

  await host.apply()

  expect(itemOf(await host.plan(), 'A')).toBeUndefined()
  expect(world.all).toHaveLength(1)
})

it('guards.createsPerDay: the advice to wait a day is followed to its end', async () => {
  const two = fileOf(entry('A'), entry('B'))
  const { world, host } = await installed(two + guards('createsPerDay: 1'))
  const needs = itemOf(await host.plan(), 'B')?.held?.needs
  world.pass(DAY)

  await host.daemon()
  host.file = fileOf(entry('A'), entry('B'), entry('C')) + guards('createsPerDay: 0')

  expect(needs).toBe('wait a day, or change the guard or the entry in the file')
  expect(world.all).toHaveLength(2)
  expect(itemOf(await host.plan(), 'C')?.held?.needs).toMatch(/^change the guard/)
})
