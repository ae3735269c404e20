import { describe, expect, it } from 'vitest'
import { exportCampaigns } from '../../../../src/campaigns/export.ts'
import { DAY, HOUR, MINUTE } from '../../../../src/lib/clock.ts'
import { listCampaigns } from '../../../../src/service/campaign-listing.ts'
import { forever } from '../../../helpers/campaigns/account.ts'
import { entry, fileOf, itemOf } from '../../../helpers/campaigns/reconciling.ts'
import {
  failure,
  installed,
  Killed,
  opened,
  troubles,
  type World,
} from '../../../helpers/campaigns/world.ts'

const FILE = fileOf(entry('A'))

const creates = (world: World) => world.calls.filter(({ kind }) => kind === 'create').length
const running = (world: World) => world.all.filter(({ status }) => status === 1)

describe('one word, one successor', () => {
  it('a successor whose create had no answer is not made again, however often the daemon looks', async () => {
    const { world, host } = await installed(FILE)
    await host.decide().isNew('A')
    world.trouble = troubles({ on: 'create', trouble: { kind: 'lost', afterMs: 10 * MINUTE } })

    for (let n = 0; n < 4; n++) {
      await host.daemon()
      world.pass(2 * MINUTE)
    }
    const held = itemOf(await host.plan(), 'A')?.held
    world.pass(20 * MINUTE)
    const found = await host.daemon()

    expect(creates(world)).toBe(2)
    expect(held).toMatchObject({
      code: 'unknown',
      needs: expect.stringContaining('campaigns create A --new'),
    })
    expect(found.results).toMatchObject([{ key: 'A', outcome: 'adopted', campaignId: '48002' }])
    expect(world.all.map(({ status }) => status)).toEqual([3, 1])
  })

  it('a process that dies while it makes a successor leaves one, and not two', async () => {
    const { world, host } = await installed(FILE)
    await host.decide().isNew('A')
    world.listed = (all) => all.slice(0, 1)
    world.trouble = troubles({ on: 'create', times: 1, trouble: { kind: 'die', when: 'after' } })

    await expect(host.daemon()).rejects.toThrow(Killed)
    await expect(host.daemon()).resolves.toMatchObject({ kind: 'looked' })
    world.pass(2 * MINUTE)
    await host.apply()

    expect(creates(world)).toBe(2)
    expect(running(world)).toHaveLength(1)
  })

  it('a successor that never arrived is made once a person says so again, an hour later', async () => {
    const { world, host } = await installed(FILE)
    await host.decide().isNew('A')
    const never = { kind: 'fail', failure: failure.temporary() } as const
    world.trouble = troubles({ on: 'create', times: 1, trouble: never })
    await host.daemon()

    const early = await host.decide().isNew('A')
    world.pass(HOUR)
    const said = await host.decide().isNew('A')
    await host.daemon()

    expect(early).toMatchObject({ kind: 'refused', isEarly: true })
    expect(said).toMatchObject({ kind: 'done' })
    expect(world.all.map(({ status }) => status)).toEqual([3, 1])
    expect((await host.plan()).items).toEqual([])
  })

  it.each([
    ['not shown', ({ status: _, ...shown }: Record<string, unknown>) => shown],
    ['shown as a word', (shown: Record<string, unknown>) => ({ ...shown, status: 'Active' })],
  ])('the status is %s: the campaign is paused before its successor is made', async (_, shape) => {
    const { world, host } = await installed(FILE)
    world.shape = shape
    world.trouble = troubles({
      on: 'update',
      trouble: { kind: 'fail', failure: failure.refused() },
    })
    await host.decide().isNew('A')

    await host.daemon()
    await host.daemon()
    const before = world.all.length
    world.trouble = () => null
    await host.daemon()

    expect(before).toBe(1)
    expect(world.campaign('48001').status).toBe(3)
  })

  it('the status is never shown: an accepted pause counts, and the successor is made', async () => {
    const { world, host } = await installed(FILE)
    world.shape = ({ status: _, ...shown }) => shown
    await host.decide().isNew('A')

    await host.daemon()
    await host.daemon()

    expect(world.all.map(({ status }) => status)).toEqual([3, 1])
  })

  it('one 404 by id while lists show the campaign: no successor is made beside it', async () => {
    const { world, host } = await installed(FILE)
    await host.decide().isNew('A')
    const missing = { kind: 'fail', failure: failure.missing() } as const
    world.trouble = troubles({ on: 'get', trouble: missing })

    await host.daemon()
    const held = itemOf(await host.plan(), 'A')?.held
    world.pass(2 * HOUR)
    await host.daemon()
    const before = world.all.length
    world.trouble = () => null
    await host.daemon()
    await host.daemon()

    expect(before).toBe(1)
    expect(held).toMatchObject({ code: 'later', passes: true })
    expect(world.all.map(({ status }) => status)).toEqual([3, 1])
  })

  it('nothing shows the campaign for an hour: its successor is made then, and not before', async () => {
    const { world, host } = await installed(FILE)
    await host.decide().isNew('A')
    world.all.splice(0)

    await host.daemon()
    const before = creates(world)
    world.pass(HOUR)
    await host.daemon()

    expect(before).toBe(1)
    expect(world.all).toMatchObject([{ id: '48002', status: 1 }])
  })
})

describe('a successor that could not be made', () => {
  const WEEKLY = 'startDate: 2026-12-02'
  const guards = (text: string) => `${fileOf(entry('A'))}guards: { ${text} }\n`

  it.each<[string, string, string]>([
    ['starts in the past', fileOf(entry('A', `${WEEKLY}\nperiod: monthly`)), 'startDate'],
    ['has no budget any more', FILE.replace('    budget: "100.00"\n', ''), 'without a budget'],
    ['has a budget above the guard', guards('maxBudget: "90.00"'), 'guards.maxBudget is 90.00'],
    ['ends in the past', fileOf(entry('A', 'endDate: 2026-12-01')), 'is past'],
    ['would pass maxExposure beside it', guards('maxExposure: "150.00"'), 'archive'],
    ['has nothing to select by', FILE.replace('    allPostings: true\n', ''), 'no targeting'],
  ])('the entry %s: that is said, and its campaign goes on', async (_, file, why) => {
    const { world, host } = await installed(fileOf(entry('A', WEEKLY)))
    world.pass(20 * DAY)
    host.file = file

    const said = await host.decide().isNew('A')
    await host.daemon()

    expect(said).toMatchObject({ kind: 'refused' })
    expect(JSON.stringify(said)).toContain(why)
    expect(world.all).toMatchObject([{ status: 1 }])
  })

  it('another campaign might be the successor: the guards are asked all the same', async () => {
    const { world, host } = opened(guards('maxExposure: "150.00"'))
    world.make('Somebody’s own')
    await host.daemon()
    await host.decide().isNew('A')
    await host.apply()

    const said = await host.decide().isNew('A')
    await host.daemon()

    expect(said).toMatchObject({ kind: 'refused', reason: expect.stringContaining('maxExposure') })
    expect(world.all.map(({ status }) => status)).toEqual([1, 1])
  })

  it('the advice leads on: archived on the service, its successor is made', async () => {
    const { world, host } = await installed(FILE)
    host.file = guards('maxExposure: "150.00"')
    await host.decide().isNew('A')
    world.campaign('48001').status = 2

    const said = await host.decide().isNew('A')
    await host.daemon()

    expect(said).toMatchObject({ kind: 'done' })
    expect(world.all.map(({ status }) => status)).toEqual([2, 1])
  })

  it('another database made its campaign: the word is enough for the successor', async () => {
    const { world, host } = await installed(FILE)
    host.lose()
    await host.look('report')
    await host.decide().adopt('A', '48001')
    await host.apply()
    host.file = fileOf(entry('A', 'period: monthly'))
    const advice = itemOf(await host.plan(), 'A', 'fixed')?.held?.needs

    await host.decide().isNew('A')
    await host.apply()

    expect(advice).toContain('campaigns create A --new')
    expect(world.all).toMatchObject([
      { status: 3, period: null },
      { status: 1, period: 1 },
    ])
  })

  it('a twin of its campaign was put beside it: the word says that it is no successor', async () => {
    const { world, host } = await installed(FILE)
    world.make(world.campaign('48001').name, { status: 3 })

    await host.decide().isNew('A')
    await host.daemon()

    expect(world.all.map(({ status }) => status)).toEqual([3, 3, 1])
  })

  it('its campaign carries the mark of another entry: nothing would be stopped, and the word says so', async () => {
    const { world, host } = await installed(FILE)
    world.campaign('48001').name = 'Theirs [#0123456789]'

    expect(await host.decide().isNew('A')).toMatchObject({
      kind: 'refused',
      hint: expect.stringContaining('campaigns forget A'),
    })
    expect(host.store.record('A')).toMatchObject({ succeeding: false })

    host.decide().forget('A')
    await host.decide().isNew('A')
    await host.daemon()
    expect(world.all).toMatchObject([{ name: 'Theirs [#0123456789]', status: 1 }, { status: 1 }])
  })
})

it('an export leaves out the campaign that a successor took the place of, and plans to unchanged', async () => {
  const { world, host } = await installed(fileOf(entry('A')))
  world.make('Hand made [#0123456789]')
  await host.decide().isNew('A')
  await host.apply()
  const listing = await listCampaigns(host.parts().api, world.clock, forever)
  if (listing.kind === 'failure') throw new Error('not listed')

  host.file = exportCampaigns(listing.campaigns.values(), host.store.records()).text
  const plan = await host.plan()

  expect(world.all.map(({ status }) => status)).toEqual([3, 1, 1])
  expect(plan.items.map(({ action, campaignId }) => [action, campaignId])).toEqual([
    ['adopt', '48002'],
  ])
  expect(plan.summary).toMatchObject({ held: 0, unchanged: 2 })
})
