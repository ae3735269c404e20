import { describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../../../src/lib/clock.ts'
import { entry, fileOf } from '../../../helpers/campaigns/reconciling.ts'
import { failure, installed, opened, troubles } from '../../../helpers/campaigns/world.ts'

const states = (list: string) => fileOf(entry('A', `targeting: { stateProvCodes: [${list}] }`))

/** A campaign for MA, an hour ago; reads by id show its targeting. */
async function withoutTargetingInLists() {
  const { world, host } = opened(states('MA'))
  world.book.knobs.echoTargeting = true
  world.shape = ({ targeting, ...shown }, where) =>
    where === 'listed' ? shown : { ...shown, targeting }
  await host.apply()
  world.pass(HOUR)
  return { world, host }
}

describe('a list that shows less than a read by id does', () => {
  it('ids and names alone: a budget that was raised on the service is reported', async () => {
    const { world, host } = opened(fileOf(entry('A'), entry('B')))
    world.shape = (shown, where) =>
      where === 'listed' ? { id: shown.id, name: shown.name } : shown
    await host.apply()
    world.pass(HOUR)
    world.campaign('48002').budget = 9999

    const run = await host.run()

    expect(run.findings).toMatchObject([{ code: 'drift', key: 'B' }])
  })

  it('no targeting: one that was widened on the service is reported', async () => {
    const { world, host } = await withoutTargetingInLists()
    world.campaign('48001').targeting = { externalCampaignId: 'A' }

    const run = await host.run()

    expect(run.findings).toMatchObject([{ code: 'drift', key: 'A' }])
  })

  it('while the service limits calls: it is as it is listed, and nothing waits', async () => {
    const { world, host } = await withoutTargetingInLists()
    await host.daemon()
    world.trouble = troubles({
      on: 'get',
      trouble: { kind: 'fail', failure: failure.temporary(429) },
    })

    const run = await host.run()

    expect(run.waiting).toEqual([])
  })

  it('no successor is made while nobody can read whether its campaign has stopped', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.shape = ({ status, ...shown }, where) =>
      where === 'listed' ? shown : { ...shown, status }
    await host.apply()
    world.pass(HOUR)
    await host.decide().isNew('A')
    world.trouble = troubles({
      on: 'create',
      times: 1,
      trouble: { kind: 'fail', failure: failure.refused() },
    })
    await host.apply()
    world.campaign('48001').status = 1
    world.trouble = troubles({
      on: 'get',
      id: '48001',
      trouble: { kind: 'fail', failure: failure.temporary(429) },
    })
    world.pass(HOUR)

    await host.apply()

    expect(world.all.map(({ id }) => id)).toEqual(['48001'])
  })

  it('what no answer shows costs one read for all campaigns', async () => {
    const { world, host } = await installed(
      fileOf(...['A', 'B', 'C'].map((key) => entry(key, 'targeting: { stateProvCodes: [MA] }'))),
    )
    world.calls.length = 0

    await host.daemon()

    expect(world.calls.filter(({ kind }) => kind === 'get')).toHaveLength(1)
  })
})

describe('a targeting that somebody blanks on a service that shows it', () => {
  it('is reported, and written again when a person says so', async () => {
    const { world, host } = opened(states('MA'))
    world.book.knobs.echoTargeting = true
    await host.apply()
    world.pass(HOUR)
    world.campaign('48001').targeting = null
    const { findings } = await host.run()
    await host.decide().settle('A', 'revert')

    await host.daemon()

    expect(findings).toMatchObject([{ code: 'drift', key: 'A' }])
    expect(world.campaign('48001').targeting).toMatchObject({ stateProvCodes: ['MA'] })
  })

  it('shown as null by a service that never shows it: a widening passes the guards all the same', async () => {
    const { world, host } = opened(states('MA'))
    world.shape = (shown) => ({ ...shown, targeting: null })
    await host.apply()
    await host.decide().checked('A')
    await host.decide().settle('A', 'accept')
    world.pass(HOUR)
    host.file = states('MA, ON')

    const plan = await host.plan()

    expect(plan.summary.reduce).toBe(0)
  })
})

describe('an end that a late list shows a day later', () => {
  it('is no form of the new one: moved back on the service, it is reported', async () => {
    const until = (end: string) => fileOf(entry('A', `endDate: ${end}`))
    const { world, host } = await installed(until('2026-12-31'))
    const old = structuredClone(world.all)
    world.listed = () => old
    host.file = until('2026-12-30')
    await host.daemon()
    world.pass(MINUTE)
    await host.daemon()
    world.listed = null
    world.pass(HOUR)
    world.campaign('48001').endDate = '2026-12-31T00:00:00Z'

    const run = await host.run()

    expect(run.findings).toMatchObject([{ code: 'drift', key: 'A' }])
  })
})

describe('a service that leaves out what is null', () => {
  const withoutNulls = (shown: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== null))
  const until = fileOf(entry('A', 'endDate: 2026-12-31'))

  it('an end that somebody takes away there is reported, and written again when a person says so', async () => {
    const { world, host } = opened(until)
    world.shape = withoutNulls
    await host.apply()
    world.pass(HOUR)
    await host.daemon()
    world.campaign('48001').endDate = null
    const { findings } = await host.run()
    await host.decide().settle('A', 'revert')

    await host.daemon()

    expect(findings).toMatchObject([{ code: 'drift', key: 'A' }])
    expect(world.campaign('48001').endDate).toBe('2026-12-31T00:00:00Z')
  })

  it('an answer that shows other nulls says nothing of a field that it lacks', async () => {
    const { world, host } = await installed(until)
    await host.daemon()
    world.shape = ({ endDate, ...shown }) => shown

    const { findings } = await host.run()

    expect(findings).toEqual([])
  })

  /** Installed on it, and what reads by id leave out from then on. */
  const partial = async (fields: string, left: readonly string[]) => {
    const { world, host } = opened(fileOf(entry('A', fields)))
    world.shape = withoutNulls
    await host.apply()
    world.pass(2 * DAY)
    world.shape = (shown, where) =>
      withoutNulls(
        where === 'read'
          ? Object.fromEntries(Object.entries(shown).filter(([field]) => !left.includes(field)))
          : shown,
      )
    return { world, host }
  }

  it.each([
    ['budget', 'budget: "100.00"', 'budget: "4000.00"'],
    ['endDate', 'endDate: 2026-12-31', 'endDate: 2036-12-31'],
    ['maxCpc', 'maxCpc: "1.00"', 'maxCpc: "9.00"'],
  ])('and then the %s too: a raise is no reduction for that', async (field, before, after) => {
    const { world, host } = await partial(field === 'budget' ? '' : before, [field])
    host.file = host.file.replace(before, after)
    const plan = await host.plan()
    world.trouble = troubles({
      on: 'search',
      trouble: { kind: 'fail', failure: failure.temporary() },
    })

    await host.daemon()

    expect(plan.summary.reduce).toBe(0)
    expect(world.writes()).toHaveLength(1)
  })

  it.each([
    ['autoBidLevel', 'autoBidLevel: accelerated', 'autoBidLevel: standard', 'standard'],
    ['cpc', 'cpc: "2.00"', 'cpc: "1.00"', 1],
  ] as const)(
    'and then the %s too: a reduction of it goes before anything else',
    async (field, before, after, written) => {
      const { world, host } = await partial(before, [field])
      host.file = host.file.replace(before, after)
      world.trouble = troubles({
        on: 'search',
        trouble: { kind: 'fail', failure: failure.temporary() },
      })

      await host.daemon()

      expect(world.campaign('48001')[field]).toBe(written)
    },
  )

  it.each([
    ['budget', (file: string) => file.replace('100.00', '120.00')],
    ['targeting', (file: string) => file.replace('[MA]', '[MA, ON]')],
  ])(
    'and then the %s too: a raise without an answer is taken back once the file goes back',
    async (field, raised) => {
      const { world, host } = opened(fileOf(entry('A', 'targeting: { stateProvCodes: [MA] }')))
      world.book.knobs.echoTargeting = true
      world.shape = withoutNulls
      await host.apply()
      const before = host.file
      world.pass(2 * DAY)
      world.shape = ({ [field]: _, ...shown }) => withoutNulls(shown)
      world.trouble = troubles({ on: 'update', times: 1, trouble: { kind: 'lost' } })
      host.file = raised(before)
      await host.daemon()
      host.file = before
      world.pass(5 * MINUTE)

      await host.daemon()

      expect(world.campaign('48001')).toMatchObject({
        budget: 100,
        targeting: { stateProvCodes: ['MA'] },
      })
    },
  )

  it('and one read that shows less than the next: our write changed nothing beside what it should', async () => {
    const { world, host } = await partial('endDate: 2026-12-31', [])
    let reads = 0
    world.shape = ({ endDate, startDate, ...shown }, where) =>
      withoutNulls(where === 'read' && reads++ === 0 ? shown : { ...shown, endDate, startDate })
    host.file = host.file.replace('100.00', '90.00')

    const run = await host.run()

    expect(world.campaign('48001').budget).toBe(90)
    expect(run.waiting).toEqual([])
  })

  it('what lists show and reads by id never do has not changed there', async () => {
    const { world, host } = opened(fileOf(entry('A', 'autoBidLevel: accelerated')))
    world.shape = ({ autoBidLevel, ...shown }, where) =>
      withoutNulls(where === 'read' ? shown : { ...shown, autoBidLevel })
    await host.apply()
    world.pass(HOUR)
    await host.daemon()
    world.campaign('48001').budget = 9999

    const { findings } = await host.run()

    expect(findings).toMatchObject([
      { reason: expect.stringContaining('budget was changed on the service') },
    ])
  })
})

describe('a targeting that may be there, on a service that shows each as null', () => {
  it('from a process that died while it widened: it is taken back once the file goes back', async () => {
    const { world, host } = await installed(states('MA'))
    world.trouble = troubles({ on: 'update', times: 1, trouble: { kind: 'die', when: 'after' } })
    host.file = states('MA, ON')
    await expect(host.daemon()).rejects.toThrow()
    world.shape = (shown) => ({ ...shown, targeting: null })
    host.file = states('MA')
    world.pass(5 * MINUTE)

    await host.daemon()

    expect(world.campaign('48001').targeting).toMatchObject({ stateProvCodes: ['MA'] })
  })
})
