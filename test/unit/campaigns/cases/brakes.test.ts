import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE } from '../../../../src/lib/clock.ts'
import { entry, fileOf, itemOf } from '../../../helpers/campaigns/reconciling.ts'
import {
  failure,
  installed,
  opened,
  type Trouble,
  troubles,
  World,
} from '../../../helpers/campaigns/world.ts'

const removed = (key: string, endDate = '2026-12-02') =>
  `removed: [{ externalCampaignId: ${key}, endDate: ${endDate} }]\n`
const lower = (file: string) => file.replace('100.00', '40.00')

describe('a reduction arrives', () => {
  it('endDate added later to a campaign that we made', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    world.shape = ({ endDate: _, ...shown }) => shown
    host.file = fileOf(entry('A', 'endDate: 2027-01-31'))

    await host.daemon()
    await host.daemon()

    expect(world.campaign('48001').endDate).toBe('2027-01-31T00:00:00Z')
    expect(world.writes()).toHaveLength(2)
  })

  it('removed while the create is unknown: it is ended once it is found', async () => {
    const { world, host } = opened(fileOf(entry('A'), entry('B')))
    world.trouble = troubles({
      on: 'create',
      times: 1,
      trouble: { kind: 'lost', afterMs: 5 * MINUTE },
    })
    await host.apply()
    host.file = fileOf(entry('B')) + removed('A')

    await host.daemon()
    world.pass(10 * MINUTE)
    await host.daemon()
    await host.daemon()

    const late = world.all.find(({ name }) => name.startsWith('Campaign A'))
    expect(late?.endDate).toBe('2026-12-02T00:00:00Z')
  })

  it('key renamed in the file: nothing stops, and the reduction goes', async () => {
    const { world, host } = await installed(fileOf(entry('A'), entry('B')))
    host.file = lower(fileOf(entry('NEW', 'campaignId: "48001"'), entry('B')))

    await host.daemon()
    const reduced = world.campaign('48001').budget
    const [adopted] = await host.apply()
    const plan = await host.plan()

    expect(reduced).toBe(40)
    expect(adopted).toMatchObject({ key: 'NEW', campaignId: '48001', outcome: 'adopted' })
    expect(plan.summary).toMatchObject({ held: 0, unchanged: 2 })
    expect(world.all).toHaveLength(2)
  })

  it('of a campaign that is taken over: what the plan shows goes with its one apply', async () => {
    const world = World.open()
    const theirs = world.make('Theirs', { budget: 80 })
    const host = world.host(lower(fileOf(entry('A', `campaignId: "${theirs.id}"`))))

    const plan = await host.plan()
    const results = await host.apply({ approved: plan })

    expect(itemOf(plan, 'A')?.money ?? plan.exposure.before).toBe('80.00')
    expect(results.map(({ outcome }) => outcome)).not.toContain('stale')
    expect(theirs.budget).toBe(40)
    expect((await host.plan()).items).toEqual([])
  })

  it('with one field of it refused: the others are lowered, and the refusal is said', async () => {
    const wide = 'maxCpc: "2.00"\ntargeting: { stateProvCodes: [MA, RI] }'
    const narrow = 'maxCpc: "1.00"\ntargeting: { stateProvCodes: [MA] }'
    const { world, host } = await installed(fileOf(entry('A', wide)))
    world.trouble = ({ kind, body }) =>
      kind === 'update' && body !== null && 'maxCpc' in body
        ? { kind: 'fail', failure: failure.refused(400) }
        : null
    host.file = lower(fileOf(entry('A', narrow)))

    const [result] = await host.apply()

    expect(world.campaign('48001')).toMatchObject({
      budget: 40,
      targeting: { stateProvCodes: ['MA'] },
    })
    expect(result).toMatchObject({ outcome: 'failed', reason: 'maxCpc: answered 400' })
  })

  it('is written again when the lost first try of an answered raise undoes it', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    const parts = host.parts.bind(host)
    host.parts = () => {
      const all = parts()
      const update: typeof all.api.update = async (...call) => {
        const answer = await all.api.update(...call)
        return answer.kind === 'ok' ? { ...answer, mayArriveAgain: true } : answer
      }
      return { ...all, api: { ...all.api, update } }
    }
    host.file = fileOf(entry('A')).replace('100.00', '140.00')
    await host.daemon()
    host.parts = parts
    host.file = fileOf(entry('A')).replace('100.00', '60.00')
    const lowered = await host.run()
    world.campaign('48001').budget = 140

    await host.daemon()

    expect(lowered.owesReduction).toBe(true)
    expect(world.campaign('48001').budget).toBe(60)
    expect((await host.plan()).findings).toEqual([])
  })

  it('of an end that is shown in no form that can be read', async () => {
    const { world, host } = opened(fileOf(entry('A', 'endDate: 2027-03-31')))
    world.shape = ({ endDate, ...shown }) => ({ ...shown, endDate: Date.parse(String(endDate)) })
    await host.apply()
    host.file = fileOf(entry('A', 'endDate: 2027-01-31'))

    await host.daemon()
    await host.daemon()
    const [found] = (await host.plan()).findings

    expect(world.campaign('48001').endDate).toBe('2027-01-31T00:00:00Z')
    expect(world.writes()).toHaveLength(2)
    expect(found?.text).toContain(`to ${Date.UTC(2027, 0, 31)};`)
  })

  it('that could not be read or written is owed, so that it is tried again soon', async () => {
    const { world, host } = await installed(fileOf(entry('A'), entry('B')))
    const down = { kind: 'fail', failure: failure.temporary() } as const
    const first = fileOf(entry('A'), entry('B'))
    const runs = []
    for (const on of ['search', 'get', 'update'] as const) {
      world.trouble = troubles({ on, trouble: down })
      host.file = first.replaceAll('100.00', `${60 - runs.length}.00`)
      runs.push((await host.run()).owesReduction)
    }

    expect(runs).toEqual([false, true, true])
    expect(world.all.map(({ budget }) => budget)).toEqual([60, 60])
  })

  it('a campaign that is listed and cannot be read by its id: the plan says so, and offers no write', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    world.trouble = troubles({
      on: 'get',
      trouble: { kind: 'fail', failure: failure.refused(400) },
    })
    host.file = lower(fileOf(entry('A')))

    const plan = await host.plan()

    expect(plan.items).toMatchObject([
      { key: 'A', held: { code: 'later', reason: 'answered 400' } },
    ])
    expect(plan.summary).toMatchObject({ reduce: 0, held: 1 })
  })

  it('finished entries cleaned out of the file: the others are not stopped', async () => {
    const keys = [...'ABCDEFGHIJ']
    const { world, host } = await installed(
      fileOf(...keys.map((key) => entry(key, 'endDate: 2026-12-10'))),
    )
    host.file = fileOf(
      ...keys.map((key, n) => entry(key, n < 6 ? 'endDate: 2027-12-10' : 'endDate: 2026-12-10')),
    )
    await host.apply()
    world.pass(12 * 24 * HOUR)
    host.file = fileOf(
      ...keys
        .slice(0, 6)
        .map((key) => entry(key, 'endDate: 2027-12-10').replace('100.00', '120.00')),
    )

    await host.daemon()

    expect(world.all.slice(0, 6).map(({ budget }) => budget)).toEqual(Array(6).fill(120))
  })

  it('a file that lost entries of running campaigns: reductions go, and nothing is raised', async () => {
    const keys = [...'ABCDEFGHIJ']
    const { world, host } = await installed(fileOf(...keys.map((key) => entry(key))))
    host.file = fileOf(
      entry('A').replace('100.00', '40.00'),
      entry('B').replace('100.00', '120.00'),
    )

    await host.daemon()
    const plan = await host.plan()

    expect(world.campaign('48001').budget).toBe(40)
    expect(world.campaign('48002').budget).toBe(100)
    expect(itemOf(plan, 'B')?.held?.reason).toContain(
      'the file lists 2 of the 10 managed campaigns',
    )
  })

  it('a raise without an answer, then lowered: it goes at once, and the late raise is taken back', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.file = fileOf(entry('A').replace('100.00', '150.00'))
    world.trouble = troubles({
      on: 'update',
      times: 1,
      trouble: { kind: 'lost', afterMs: 20 * MINUTE },
    })
    await host.daemon()
    host.file = fileOf(entry('A').replace('100.00', '60.00'))

    await host.daemon()
    const lowered = world.campaign('48001').budget
    world.pass(30 * MINUTE)
    const raised = world.campaign('48001').budget
    await host.daemon()
    const plan = await host.plan()

    expect([lowered, raised, world.campaign('48001').budget]).toEqual([60, 150, 60])
    expect(plan.findings).toEqual([])
  })

  it.each<[string, Parameters<typeof troubles>[0]]>([
    ['search down', { on: 'search', trouble: { kind: 'fail', failure: failure.temporary(500) } }],
    [
      'one foreign id (403)',
      { on: 'get', id: '48002', trouble: { kind: 'fail', failure: failure.credentials() } },
    ],
    [
      'one campaign cannot be written',
      { on: 'update', id: '48002', trouble: { kind: 'fail', failure: failure.refused() } },
    ],
    [
      'creates limited (429)',
      { on: 'create', trouble: { kind: 'fail', failure: failure.temporary(429) } },
    ],
  ])('with %s', async (_, rule) => {
    const { world, host } = await installed(fileOf(entry('A'), entry('B')))
    world.trouble = troubles(rule)
    host.file = fileOf(
      entry('A').replace('100.00', '40.00'),
      entry('B').replace('100.00', '30.00'),
      entry('C'),
    )
    const before = world.calls.length

    await host.daemon()

    expect(world.campaign('48001').budget).toBe(40)
    const until = world.calls
      .slice(before)
      .findIndex(({ kind, id }) => kind === 'update' && id === '48001')
    expect(until).toBeLessThan(6)
  })

  it('with a twin, a rounding service, a cut name in the listing, or a doubt', async () => {
    const { world, host } = await installed(fileOf(entry('A').replace('100.00', '100.40')))
    world.book.create('123', { ...world.campaign('48001'), id: '49000' })
    world.shape = (shown, where) => ({
      ...shown,
      budget: typeof shown.budget === 'number' ? Math.round(shown.budget) : null,
      name: where === 'listed' ? String(shown.name).slice(0, 5) : shown.name,
    })
    world.book.knobs.sideEffect = { endDate: '2027-01-01T00:00:00Z' }
    host.file = fileOf(entry('A').replace('100.00', '90.60'))
    await host.daemon()
    host.file = fileOf(entry('A').replace('100.00', '90.20'))

    await host.daemon()

    expect(world.campaign('48001').budget).toBe(90.2)
  })

  it('429 from the second create on: one entry is unknown, the others wait for the next look', async () => {
    const { world, host } = opened(fileOf(...[...'ABCDEFGHIJ'].map((key) => entry(key))))
    let creates = 0
    world.trouble = ({ kind }): Trouble | null =>
      kind === 'create' && ++creates > 1 ? { kind: 'fail', failure: failure.temporary(429) } : null

    await host.apply()
    const calls = world.calls.length
    const plan = await host.plan()
    world.trouble = () => null
    await host.daemon()

    expect(calls).toBeLessThan(25)
    expect(plan.summary).toMatchObject({ create: 8, unknown: 1 })
    expect(world.all).toHaveLength(9)
  })

  it('of 300 campaigns at once, although 20 of them cannot be read', async () => {
    const keys = Array.from({ length: 300 }, (_, n) => `K${n}`)
    const guard = 'guards: { maxExposure: "90000.00", createsPerDay: 5000 }\n'
    const { world, host } = await installed(fileOf(...keys.map((key) => entry(key))) + guard)
    world.trouble = ({ kind, id }) =>
      kind !== 'search' && Number(id) < 48_021
        ? { kind: 'fail', failure: failure.temporary() }
        : null
    host.file = host.file.replaceAll('"100.00"', '"10.00"')

    await host.daemon()

    expect(world.all.slice(20).every(({ budget }) => budget === 10)).toBe(true)
  })

  it('a targeting that is narrowed goes without a guard', async () => {
    const states = (list: string) => fileOf(entry('A', `targeting: { stateProvCodes: [${list}] }`))
    const { world, host } = await installed(states('MA, ON, RI'))
    world.trouble = troubles({
      on: 'search',
      trouble: { kind: 'fail', failure: failure.temporary() },
    })
    host.file = `${states('MA')}guards: { maxBudget: "1.00", maxExposure: "1.00", raisePercent: 0 }\n`

    await host.daemon()

    expect(world.campaign('48001').targeting).toMatchObject({ stateProvCodes: ['MA'] })
  })

  it('an archived campaign listed under removed has ended: nothing is sent for it until somebody resumes it', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    world.campaign('48001').status = 2
    world.trouble = troubles({
      on: 'update',
      times: 1,
      trouble: { kind: 'fail', failure: failure.refused(409) },
    })
    host.file = 'version: 1\nremoved: [{ externalCampaignId: A, endDate: 2026-12-02 }]\n'

    const run = await host.run()
    const sent = world.writes().length
    Object.assign(world, { trouble: () => null })
    world.campaign('48001').status = 1
    await host.run()

    expect(run).toMatchObject({ waiting: [], findings: [], owesReduction: false, pending: 0 })
    expect(sent).toBe(1)
    expect(world.campaign('48001').endDate).toBe('2026-12-02T00:00:00Z')
  })
})
