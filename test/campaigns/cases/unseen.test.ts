import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE } from '../../../src/lib/clock.ts'
import { entry, fileOf } from '../reconciling.ts'
import { installed, opened } from '../world.ts'

const states = (list: string) => fileOf(entry('A', `targeting: { stateProvCodes: [${list}] }`))

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
    const { world, host } = opened(states('MA'))
    world.book.knobs.echoTargeting = true
    world.shape = ({ targeting, ...shown }, where) =>
      where === 'listed' ? shown : { ...shown, targeting }
    await host.apply()
    world.pass(HOUR)
    world.campaign('48001').targeting = { externalCampaignId: 'A' }

    const run = await host.run()

    expect(run.findings).toMatchObject([{ code: 'drift', key: 'A' }])
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
})
