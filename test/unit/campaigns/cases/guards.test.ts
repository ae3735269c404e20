import { describe, expect, it } from 'vitest'
import { NOTHING_DESIRED } from '../../../../src/campaigns/desired.ts'
import type { FeedSide } from '../../../../src/campaigns/port.ts'
import { DAY, HOUR } from '../../../../src/lib/clock.ts'
import { campaignConditions } from '../../../../src/ops/campaign-conditions.ts'
import { forever } from '../../../helpers/campaigns/account.ts'
import { entry, fileOf, itemOf } from '../../../helpers/campaigns/reconciling.ts'
import {
  createDirectly,
  failure,
  installed,
  opened,
  troubles,
  World,
} from '../../../helpers/campaigns/world.ts'

const guards = (text: string) => `guards: { ${text} }\n`
const budget = (key: string, amount: string, fields = '') =>
  entry(key, fields).replace('100.00', amount)

describe('never past a guard', () => {
  it('plan said "held", guard edited, apply 1: refused, since an approval covers its own writes', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.file = fileOf(budget('A', '400.00'))
    const plan = await host.plan()
    host.file += guards('raisePercent: 1000')

    const results = await host.apply({ approved: plan })

    expect(itemOf(plan, 'A')?.held).toMatchObject({ code: 'guard' })
    expect(results).toMatchObject([
      { key: 'A', outcome: 'stale', reason: 'the file changed since the plan was made' },
    ])
    expect(world.campaign('48001').budget).toBe(100)
  })

  it('the file changed since the plan: nothing of the plan is sent', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.file = fileOf(budget('A', '140.00'))
    const plan = await host.plan()
    host.file = fileOf(budget('A', '145.00'))

    const results = await host.apply({ approved: plan })

    expect(results).toMatchObject([
      { outcome: 'stale', reason: 'the file changed since the plan was made' },
    ])
    expect(world.campaign('48001').budget).toBe(100)
  })

  it.each<[string, (shown: Record<string, unknown>) => Record<string, unknown>]>([
    ['as it is', (shown) => shown],
    ['as text', (shown) => ({ ...shown, budget: String(shown.budget) })],
  ])(
    'one entry lowered, renamed and widened: apply N sends all of it, with budgets shown %s',
    async (_, shape) => {
      const file = (amount: string, name: string, states: string) =>
        fileOf(budget('A', amount, `targeting: { stateProvCodes: [${states}] }`)).replace(
          'Campaign A',
          name,
        )
      const { world, host } = opened(file('100.00', 'Old', 'MA'))
      world.shape = shape
      await host.apply()
      host.file = file('40.00', 'New', 'MA, RI')

      const results = await host.apply({ approved: await host.plan() })

      expect(results.map(({ outcome }) => outcome)).toEqual(['updated', 'updated', 'updated'])
      expect((await host.plan()).items).toEqual([])
    },
  )

  it('the reduction of an entry fails: its own raise waits', async () => {
    const { world, host } = await installed(
      fileOf(entry('A', 'targeting: { stateProvCodes: [MA] }')),
    )
    host.file = fileOf(budget('A', '40.00', 'targeting: { stateProvCodes: [MA, RI] }'))
    const approved = await host.plan()
    world.trouble = ({ kind, body }) =>
      kind === 'update' && body?.budget === 40 ? { kind: 'fail', failure: failure.refused() } : null

    await host.apply({ approved })

    expect(world.campaign('48001').targeting).toMatchObject({ stateProvCodes: ['MA'] })
  })

  it('reduction stale, raise that rested on it: not sent', async () => {
    const limit = guards('maxExposure: "200.00"')
    const { world, host } = await installed(fileOf(entry('A'), entry('B')) + limit)
    host.file = fileOf(budget('A', '140.00'), budget('B', '60.00')) + limit
    const plan = await host.plan()
    world.trouble = troubles({
      on: 'update',
      id: '48002',
      trouble: { kind: 'lost', afterMs: 10 * HOUR },
    })

    const results = await host.apply({ approved: plan })

    expect(plan.summary).toMatchObject({ reduce: 1, update: 1 })
    expect(results).toMatchObject([
      { key: 'B', outcome: 'unknown' },
      { key: 'A', outcome: 'stale' },
    ])
    expect(world.campaign('48001').budget).toBe(100)
  })

  it('a raise uses what a reduction frees, once that was read', async () => {
    const limit = guards('maxExposure: "200.00"')
    const { world, host } = await installed(fileOf(entry('A'), entry('B')) + limit)
    host.file = fileOf(budget('A', '140.00'), budget('B', '60.00')) + limit

    const results = await host.apply()

    expect(results.map(({ key }) => key)).toEqual(['B', 'A'])
    expect(world.all.map(({ budget: now }) => now)).toEqual([140, 60])
  })

  it('create without an answer: it is counted', async () => {
    const world = World.open()
    const limit = guards('maxExposure: "150.00"')
    const host = world.host(fileOf(entry('A')) + limit)
    world.trouble = troubles({
      on: 'create',
      times: 1,
      trouble: { kind: 'lost', afterMs: 10 * HOUR },
    })
    await host.apply()
    host.file = fileOf(entry('A'), entry('B')) + limit

    await host.apply()

    expect(itemOf(await host.plan(), 'B')?.held?.reason).toContain('guards.maxExposure')
    expect(world.all).toEqual([])
  })

  it('an adopted campaign is raised on the service, lowered by the file, raised by it: against what it was adopted with', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.lose()
    await host.decide().adopt('A', '48001')
    world.campaign('48001').budget = 520
    host.file = fileOf(budget('A', '160.00'))
    const lowered = await host.apply()
    host.file = fileOf(budget('A', '200.00'))

    const plan = await host.plan()

    expect(lowered).toMatchObject([{ key: 'A', outcome: 'updated' }])
    expect(itemOf(plan, 'A')?.held).toMatchObject({
      code: 'guard',
      reason: expect.stringContaining('from 100.00 to 200.00 within 24 hours'),
    })
  })

  it('names cut in lists, database lost: what may be the campaign of an entry counts', async () => {
    const { world, host } = await installed(fileOf(entry('A'), entry('B')))
    world.shape = (shown, where) =>
      where === 'listed' ? { ...shown, name: String(shown.name).slice(0, 14) } : shown
    host.lose()
    host.file = fileOf(entry('A'), entry('B'), entry('C')) + guards('maxExposure: "250.00"')
    await host.decide().adopt('A', '48001')
    await host.decide().isNew('C')

    await host.apply()

    const held = itemOf(await host.plan(), 'C')?.held
    expect(held?.reason).toContain('all campaigns together might spend 300.00')
    expect(world.all).toHaveLength(2)
  })

  it('listing and reads without budget: raisePercent holds', async () => {
    const { world, host } = await installed(
      fileOf(entry('A').replace('    budget: "100.00"\n', '')),
    )
    expect(world.all).toEqual([])
    const theirs = world.make('Theirs', { budget: 100 })
    world.shape = ({ budget: _, ...shown }) => shown
    host.file = fileOf(entry('A', `campaignId: "${theirs.id}"`)).replace('100.00', '900.00')

    const plan = await host.plan()
    await host.apply()

    expect(itemOf(plan, 'A', 'guard')?.held?.reason).toContain(
      'the service does not show its budget',
    )
    expect(theirs.budget).toBe(100)
  })

  it('listing an hour late: maxExposure is not passed twice', async () => {
    const limit = guards('maxExposure: "250.00"')
    const { world, host } = await installed(fileOf(entry('A'), entry('B')) + limit)
    const old = world.all.map((one) => ({ ...one }))
    world.listed = () => old
    host.file = fileOf(budget('A', '150.00'), entry('B')) + limit
    await host.apply()
    host.file = fileOf(budget('A', '150.00'), budget('B', '150.00')) + limit

    await host.apply()

    expect(world.all.map(({ budget: now }) => now)).toEqual([150, 100])
    expect(itemOf(await host.plan(), 'B')?.held?.reason).toContain('300.00')
  })

  it('`plan` beside `apply`: the window of 24 hours stays', async () => {
    const { world, host } = await installed(fileOf(budget('A', '1000.00')))
    host.file = fileOf(budget('A', '1500.00'))
    await host.plan()
    await host.apply()
    host.file = fileOf(budget('A', '2250.00'))

    const plan = await host.plan()
    await host.plan()
    await host.apply()
    world.pass(25 * HOUR)
    await host.apply()

    expect(itemOf(plan, 'A')?.held?.reason).toContain('from 1000.00 to 2250.00 within 24 hours')
    expect(world.writes().map(({ body }) => body?.budget)).toEqual([1000, 1500, 2250])
  })

  it('a raise by somebody on the service does not widen the window of 24 hours', async () => {
    const { world, host } = await installed(fileOf(budget('A', '80.00')))
    world.pass(26 * HOUR)
    world.campaign('48001').budget = 580
    host.file = fileOf(budget('A', '110.00'))
    await host.daemon()
    host.file = fileOf(budget('A', '140.00'))

    await host.apply()

    expect(world.campaign('48001').budget).toBe(110)
    expect(itemOf(await host.plan(), 'A')?.held?.reason).toContain('from 80.00 to 140.00')
  })

  it('ends in the past: such an entry is not created, and does not count as nothing', async () => {
    const { world, host } = opened(fileOf(entry('A', 'endDate: 2026-11-30')))

    await host.apply()

    expect(itemOf(await host.plan(), 'A')?.held?.reason).toContain(
      'endDate 2026-11-30T00:00:00Z is past',
    )
    expect(world.all).toEqual([])
  })

  it('an end moved later counts with every month until it', async () => {
    const limit = guards('maxExposure: "500.00"')
    const { world, host } = await installed(
      fileOf(entry('A', 'period: monthly\nendDate: 2027-02-28')) + limit,
    )
    host.file = fileOf(entry('A', 'period: monthly\nendDate: 2027-09-30')) + limit

    const plan = await host.plan()
    await host.apply()

    expect(plan.exposure.before).toBe('400.00')
    expect(itemOf(plan, 'A')?.held?.reason).toContain('guards.maxExposure is 500.00')
    expect(world.campaign('48001').endDate).toBe('2027-02-28T00:00:00Z')
  })

  it('share of postings by a field that no posting has: the guard holds', async () => {
    const world = World.open()
    const host = world.host(
      fileOf(entry('A', 'targeting: { stateProvCodes: [MA] }')) + guards('maxShareOfFeed: 0.5'),
    )
    const side: FeedSide = {
      latest: [
        {
          feed: 'f',
          path: 'f',
          version: 1,
          uploadedAt: world.now,
          postings: 200,
          records: '/a/b',
          spool: 'x',
          ids: { A: 200 },
        },
      ],
      absence: () => null,
      read: async () => ['f: no posting has state; map it under feeds[].fields'],
    }
    host.feeds = () => side

    await host.apply()

    expect(itemOf(await host.plan(), 'A')?.held?.reason).toContain(
      'guards.maxShareOfFeed cannot be checked: f: no posting has state',
    )
    expect(world.all).toEqual([])
  })

  it('held by another guard: alerts tell it again; by the same one with other numbers: they do not', async () => {
    const { host } = await installed(fileOf(entry('A')))
    const marks: unknown[] = []
    for (const amount of ['400.00', '450.00', '9999.00']) {
      host.file = fileOf(budget('A', amount))
      marks.push(campaignConditions(await host.run())[0]?.mark)
    }

    expect(marks).toEqual([
      'held guard raisePercent',
      'held guard raisePercent',
      'held guard maxBudget',
    ])
  })

  it('share of postings by a direct create without an id: every posting that it selects counts', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    const side: FeedSide = {
      latest: [
        {
          ...{ feed: 'f', path: 'f', version: 1, uploadedAt: world.now, postings: 200 },
          ...{ records: '/a/b', spool: 'x', ids: { X: 200 } },
        },
      ],
      absence: () => null,
      read: async (_fields, _needed, take) => {
        for (let n = 0; n < 200; n++) take({ externalCampaignId: 'X', state: 'MA' })
        return []
      },
    }
    host.feeds = () => side
    const parts = { ...host.parts(), desired: NOTHING_DESIRED, by: 'person: test', signal: forever }
    const body = { name: 'All of MA', budget: 50, targeting: { stateProvCodes: ['MA'] } }

    expect(await createDirectly(parts, body, false)).toMatchObject({
      kind: 'refused',
      reason: 'guards.maxShareOfFeed is 0.5, it would select 200 of 200 postings',
    })
    expect(world.all).toEqual([])
  })

  it('["nurse, RN"] approved: ["nurse", "RN"] is another write, and not sent', async () => {
    const titles = (list: string) =>
      fileOf(entry('A', `targeting: { stateProvCodes: [MA], jobTitles: ${list} }`))
    const { host, world } = await installed(titles('[cook]'))
    host.file = titles('["nurse, RN"]')
    const plan = await host.plan()
    const item = itemOf(plan, 'A')
    host.file = titles('["nurse", "RN"]')
    // Even a file with the same digest does not send another value with the same text.
    const results = await host.apply({ approved: { ...plan, fileSha256: host.file } })

    expect(item?.changes[0]).toMatchObject({ after: '"nurse, RN"' })
    expect(item?.body).toMatchObject({ targeting: { jobTitles: ['nurse, RN'] } })
    expect(results).toMatchObject([{ outcome: 'stale' }])
    expect(world.campaign('48001').targeting).toMatchObject({ jobTitles: ['cook'] })
  })

  it('a widening that was planned with --allow-widen is applied', async () => {
    const { host, world } = await installed(
      fileOf(entry('A', 'targeting: { stateProvCodes: [MA], jobTitles: [cook] }')),
    )
    host.file = fileOf(entry('A', 'targeting: { stateProvCodes: [MA] }'))

    const held = await host.plan()
    const refused = await host.apply({ approved: held })
    const plan = await host.plan(['A'])
    const [done] = await host.apply({ approved: plan })

    expect(itemOf(held, 'A')?.held).toMatchObject({
      code: 'widen',
      needs: expect.stringContaining('--allow-widen A'),
    })
    expect(refused).toEqual([])
    expect(done).toMatchObject({ outcome: 'updated' })
    expect(world.campaign('48001').targeting).toMatchObject({ jobTitles: [] })
  })

  it('an item whose campaign changed since is stale, and says what changed', async () => {
    const { host, world } = await installed(fileOf(entry('A')))
    host.file = fileOf(budget('A', '120.00'))
    const plan = await host.plan()
    world.campaign('48001').budget = 110

    const [result] = await host.apply({ approved: plan })

    expect(result).toMatchObject({
      outcome: 'stale',
      reason: expect.stringContaining('it was changed on the service to 110.00'),
    })
    expect(world.campaign('48001').budget).toBe(110)
  })

  it('a bid goes up and down like a budget, and is read back', async () => {
    const { host, world } = await installed(fileOf(entry('A', 'maxCpc: "0.80"')))
    host.file = fileOf(entry('A', 'maxCpc: "0.60"\nautoBidLevel: standard\nstatus: paused'))
    await host.apply()
    const lowered = { ...world.campaign('48001') }
    host.file = fileOf(entry('A', 'maxCpc: "0.90"\npaidCpaGoal: "12.50"\nstatus: running'))
    await host.apply()

    expect(lowered).toMatchObject({ maxCpc: 0.6, autoBidLevel: 'standard', status: 3 })
    expect(world.campaign('48001')).toMatchObject({ maxCpc: 0.9, paidCpaGoal: 12.5, status: 1 })
    expect((await host.plan()).items).toEqual([])
  })
})

describe('what the service does not allow changing after creation', () => {
  const flight = (start: string, end: string) =>
    fileOf(entry('A', `startDate: ${start}\nendDate: ${end}`))

  it('the next flight under the same key: the campaign that is over does not spend before that flight', async () => {
    const { world, host } = await installed(flight('2026-12-02', '2026-12-31'))
    world.pass(50 * DAY)
    host.file = flight('2027-03-01', '2027-03-31')

    await host.daemon()
    const plan = await host.plan()

    expect(world.campaign('48001').endDate).toBe('2026-12-31T00:00:00Z')
    expect(plan.items.map(({ held }) => held?.code)).toEqual(['fixed', 'fixed'])
    expect(plan.items.map(({ held }) => held?.needs)).toEqual(
      Array(2).fill(
        'write 2026-12-02 into the file, or: feedsyncd campaigns create A --new stops campaign 48001 and makes a successor as the file says',
      ),
    )
  })

  it('a sum for once in place of a monthly one: it is not spent each month, and less goes at once', async () => {
    const { world, host } = await installed(fileOf(budget('A', '1000.00', 'period: monthly')))
    host.file = fileOf(budget('A', '1400.00', 'period: once\nendDate: 2027-02-28'))

    await host.daemon()

    expect(world.campaign('48001')).toMatchObject({ budget: 1000, endDate: '2027-02-28T00:00:00Z' })
  })

  it('the advice is followed either way: the raise goes, or a successor is made', async () => {
    const first = flight('2026-12-02', '2026-12-31')
    const { world, host } = await installed(first)
    host.file = flight('2026-12-02', '2027-03-31').replace('12-02', '12-05')
    await host.daemon()

    host.file = flight('2026-12-02', '2027-03-31')
    await host.daemon()
    expect(world.campaign('48001').endDate).toBe('2027-03-31T00:00:00Z')

    host.file = flight('2027-03-01', '2027-04-30')
    await host.decide().isNew('A')
    await host.daemon()
    expect(world.all).toMatchObject([
      { status: 3, endDate: '2027-03-31T00:00:00Z' },
      { status: 1, startDate: '2027-03-01T00:00:00Z', endDate: '2027-04-30T00:00:00Z' },
    ])
  })
})
