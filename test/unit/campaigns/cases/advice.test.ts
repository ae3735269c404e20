import { describe, expect, it } from 'vitest'
import { readDesired } from '../../../../src/campaigns/desired.ts'
import { DAY } from '../../../../src/lib/clock.ts'
import { entry, fileOf, itemOf } from '../../../helpers/campaigns/reconciling.ts'
import { installed, opened } from '../../../helpers/campaigns/world.ts'

describe('advice to write what the service shows into the file', () => {
  it.each([
    ['name', { name: 'Renamed' }, 'name: Campaign A', 'name: {}'],
    ['endDate', { endDate: null }, 'endDate: 2037-03-31', 'endDate: {}'],
    ['budget', { budget: 120 }, 'budget: "100.00"', 'budget: "{}"'],
    ['status', { status: 3 }, 'status: running', 'status: {}'],
  ])('%s: the file then says so, and can be used', async (_, theirs, had, line) => {
    const { world, host } = await installed(
      fileOf(entry('A', 'endDate: 2037-03-31\nstatus: running')),
    )
    const campaign = world.campaign('48001')
    const token = campaign.name.replace('Campaign A', '')
    Object.assign(campaign, theirs, 'name' in theirs ? { name: theirs.name + token } : {})
    await host.daemon()

    const needs = (await host.plan()).findings.find(({ code }) => code === 'drift')?.needs
    const [, value = ''] = /write (.*?) into the file/.exec(needs ?? '') ?? []
    host.file = host.file.replace(had, line.replace('{}', value))
    await host.daemon()

    expect(value).not.toBe('')
    expect(readDesired(host.file).kind).toBe('desired')
    expect((await host.plan()).findings.filter(({ code }) => code === 'drift')).toEqual([])
  })

  it('name: without our mark it is as good, and the mark is written again', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    const { name } = world.campaign('48001')
    world.campaign('48001').name = 'Renamed'
    await host.daemon()

    host.file = host.file.replace('Campaign A', 'Renamed')
    await host.daemon()

    expect((await host.plan()).summary).toMatchObject({ held: 0, unchanged: 1 })
    expect(world.campaign('48001').name).toBe(name.replace('Campaign A', 'Renamed'))
  })

  it.each([
    ['a name that only lost our mark', { name: 'Campaign A' }],
    ['an amount with more places than the file has', { budget: 33.333 }],
    ['a state that the file does not have', { status: 2 }],
  ])('is not given for %s', async (_, theirs) => {
    const { world, host } = await installed(fileOf(entry('A', 'status: running')))
    Object.assign(world.campaign('48001'), theirs)
    await host.daemon()

    const drift = (await host.plan()).findings.find(({ code }) => code === 'drift')

    expect(drift?.needs).toBe(
      'feedsyncd campaigns resolve A --revert, or feedsyncd campaigns resolve A --accept',
    )
  })
})

describe('a campaign that we made, named under a second entry', () => {
  it('the advice leads on: without the first entry it is taken over', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    const second = entry('B', 'campaignId: "48001"')
    host.file = fileOf(entry('A'), second)
    const needs = itemOf(await host.plan(), 'B')?.held?.needs
    host.file = fileOf(second)

    const [taken] = await host.apply()

    expect(needs).toBe(
      'correct campaignId, or take the entry A out of the file if B takes its place',
    )
    expect(taken).toMatchObject({ key: 'B', campaignId: '48001', outcome: 'adopted' })
    expect(world.all).toHaveLength(1)
  })

  it('of an entry with a campaign of its own: only the id can be corrected', async () => {
    const { host } = await installed(fileOf(entry('A'), entry('B')))
    host.file = fileOf(entry('A'), entry('B', 'campaignId: "48001"'))

    expect(itemOf(await host.plan(), 'B')?.held?.needs).toBe('correct campaignId')
  })

  it('that was made by somebody else: the first entry can let it go', async () => {
    const { world, host } = opened(fileOf(entry('A', 'campaignId: "48001"')))
    world.make('Theirs', { budget: 100 })
    await host.apply()
    host.file = fileOf(entry('A'), entry('B', 'campaignId: "48001"'))

    expect(itemOf(await host.plan(), 'B')?.held?.needs).toBe(
      'correct campaignId, or: feedsyncd campaigns forget A',
    )
  })
})

describe('the advice of a guard that no limit satisfies is followed to its end', () => {
  it('a budget of nothing on the service: no percentage raises it', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    world.pass(2 * DAY)
    world.campaign('48001').budget = 0
    await host.daemon()
    await host.decide().settle('A', 'revert')
    const held = itemOf(await host.plan(), 'A')?.held
    world.campaign('48001').budget = 80
    await host.daemon()
    await host.decide().settle('A', 'revert')

    await host.daemon()

    expect(held?.needs).toBe('set a budget above 0 on the service first')
    expect(world.campaign('48001').budget).toBe(100)
  })

  it('a budget of nothing that the campaign had when it was taken over', async () => {
    const { world, host } = opened(fileOf(entry('A', 'campaignId: "48001"')))
    world.make('Campaign A', { budget: 0 })
    await host.apply()
    const held = itemOf(await host.plan(), 'A', 'guard')?.held
    world.campaign('48001').budget = 80

    await host.daemon()

    expect(held?.needs).toBe('set a budget above 0 on the service first')
    expect(world.campaign('48001').budget).toBe(100)
  })

  it('a budget that the service does not show', async () => {
    const { world, host } = opened(fileOf(entry('A', 'campaignId: "48001"')))
    world.make('Campaign A')
    world.shape = ({ budget, ...shown }) => shown
    await host.apply()
    const held = itemOf(await host.plan(), 'A')?.held
    host.file = host.file.replace('    budget: "100.00"\n', '')
    await host.daemon()

    expect(held?.needs).toBe('set the budget on the service, and leave it out of the entry')
    expect((await host.plan()).items).toEqual([])
  })

  it('another campaign without a budget: with one in its entry, the new one is created', async () => {
    const without = entry('A', 'campaignId: "48001"').replace('    budget: "100.00"\n', '')
    const { world, host } = opened(fileOf(without))
    world.make('Campaign A', { budget: null })
    await host.apply()
    host.file = fileOf(without, entry('B'))
    await host.daemon()
    const held = itemOf(await host.plan(), 'B')?.held
    host.file = fileOf(entry('A', 'campaignId: "48001"'), entry('B'))

    await host.daemon()

    expect(held?.needs).toContain('give campaign 48001 a budget, in its entry')
    expect(world.campaign('48001').budget).toBe(100)
    expect(world.campaign('48002').budget).toBe(100)
  })
})

describe('a campaign that somebody stopped on the service, against what its entry says', () => {
  const stopped = [
    ['paused', 'status: running', { status: 3 }],
    ['ended', 'endDate: 2037-03-31', { endDate: '2026-11-01T00:00:00Z' }],
  ] as const

  it.each(stopped)('%s: no advice to write what the file says already', async (_, line, theirs) => {
    const { world, host } = await installed(fileOf(entry('A', line)))
    Object.assign(world.campaign('48001'), theirs)

    const { findings } = await host.run()

    expect(findings).toMatchObject([
      { code: 'drift', needs: expect.stringMatching(/A --revert.*A --accept/) },
    ])
  })

  it.each(stopped)(
    '%s: a person lets it stay so, and nobody is asked again',
    async (_, line, theirs) => {
      const { world, host } = await installed(fileOf(entry('A', line)))
      Object.assign(world.campaign('48001'), theirs)
      await host.run()

      await host.decide().settle('A', 'accept')

      expect((await host.run()).findings).toEqual([])
    },
  )

  it('a raise waits for the pause, and its advice leads on', async () => {
    const { world, host } = await installed(fileOf(entry('A', 'status: running')))
    world.campaign('48001').status = 3
    host.file = fileOf(entry('A', 'status: running').replace('100.00', '140.00'))
    const held = itemOf(await host.plan(), 'A', 'state')?.held

    await host.decide().settle('A', 'revert')
    await host.daemon()

    expect(held?.needs).toMatch(/^feedsyncd campaigns resolve A --revert/)
    expect(world.campaign('48001')).toMatchObject({ status: 1, budget: 140 })
  })
})
