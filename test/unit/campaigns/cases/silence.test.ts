import { describe, expect, it } from 'vitest'
import { readDesired } from '../../../../src/campaigns/desired.ts'
import { exportCampaigns } from '../../../../src/campaigns/export.ts'
import { HOUR, MINUTE } from '../../../../src/lib/clock.ts'
import { campaignConditions } from '../../../../src/ops/campaign-conditions.ts'
import { listCampaigns } from '../../../../src/service/campaign-listing.ts'
import { forever } from '../../../helpers/campaigns/account.ts'
import { entry, fileOf, findingOf, itemOf } from '../../../helpers/campaigns/reconciling.ts'
import {
  failure,
  installed,
  Killed,
  opened,
  troubles,
  World,
} from '../../../helpers/campaigns/world.ts'

const removed = (key: string, endDate: string) =>
  `removed: [{ externalCampaignId: ${key}, endDate: ${endDate} }]\n`

describe('nothing is silent', () => {
  it('budget raised on the service from 100 to 9,999: said by the look, and by monitoring', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    world.campaign('48001').budget = 9999

    const run = await host.run()

    expect(run.findings).toMatchObject([
      { code: 'drift', key: 'A', reason: expect.stringContaining('from 100.00 to 9999.00') },
    ])
    expect(campaignConditions(run)).toMatchObject([{ event: 'campaign-waiting', campaign: 'A' }])
    expect(world.campaign('48001').budget).toBe(9999)
  })

  it('what a person changed there can be put back, or stay, by one command', async () => {
    const { world, host } = await installed(fileOf(entry('A'), entry('B')))
    for (const one of world.all) one.budget = 80

    await host.decide().settle('A', 'revert')
    await host.decide().settle('B', 'accept')
    await host.daemon()
    const plan = await host.plan()
    world.campaign('48002').budget = 70

    expect(world.all.map(({ budget }) => budget)).toEqual([100, 70])
    expect(plan.findings).toMatchObject([{ code: 'kept', key: 'B', isReported: false }])
    expect((await host.plan()).findings).toMatchObject([{ code: 'drift', key: 'B' }])
  })

  it.each([
    ['paused', { status: 3 }, 'is paused on the service'],
    ['archived', { status: 2 }, 'is archived on the service'],
    ['over', { endDate: '2026-11-01T00:00:00Z' }, 'is over since 2026-11-01'],
  ])('a dead entry (%s): said, with what goes on', async (_, change, why) => {
    const { world, host } = await installed(fileOf(entry('A')))
    Object.assign(world.campaign('48001'), change)

    const run = await host.run()

    expect(run.findings?.map(({ reason }) => reason).join()).toContain(why)
    expect(run.findings?.every(({ needs }) => needs !== null)).toBe(true)
  })

  it('an entry deleted from the file goes on spending: said with the line to paste', async () => {
    const { world, host } = await installed(fileOf(entry('A'), entry('B')))
    host.file = fileOf(entry('A'))

    const found = findingOf(await host.plan(), 'unlisted', 'B')
    const line = /removed: (- \{.*\})/.exec(found?.needs ?? '')?.[1] ?? ''
    host.file = `${fileOf(entry('A'))}removed:\n  ${line}\n`
    await host.daemon()

    expect(found).toMatchObject({
      maySpend: '100.00',
      text: expect.stringContaining('still running'),
    })
    expect(world.campaign('48002').endDate).toBe('2026-12-01T00:00:00Z')
  })

  it('running campaigns in no entry: said with what they may spend, until a person puts them aside', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    const theirs = world.make('Old fair', { budget: 70 })

    const run = await host.run()
    host.decide().forget(theirs.id)
    const after = await host.run()

    expect(run.findings).toMatchObject([{ code: 'unmanaged', maySpend: '70.00' }])
    expect(after.findings).toEqual([])
  })

  it('person narrows targeting where it is echoed: mentioned, not reverted', async () => {
    const world = World.open()
    world.book.knobs.echoTargeting = true
    const host = world.host(fileOf(entry('A', 'targeting: { stateProvCodes: [MA, ON] }')))
    await host.apply()
    world.campaign('48001').targeting = { externalCampaignId: 'A', stateProvCodes: ['MA'] }

    const plan = await host.plan()
    await host.daemon()

    expect(plan.findings).toMatchObject([
      { code: 'drift', key: 'A', text: expect.stringContaining('targeting') },
    ])
    expect(world.campaign('48001').targeting).toMatchObject({ stateProvCodes: ['MA'] })
  })

  it('person reopens an ended campaign: said, and not ended again', async () => {
    const { world, host } = await installed(fileOf(entry('A'), entry('B')))
    host.file = fileOf(entry('A')) + removed('B', '2026-12-02')
    await host.daemon()
    world.campaign('48002').endDate = '2027-06-01T00:00:00Z'

    for (let n = 0; n < 3; n++) await host.daemon()

    expect(world.campaign('48002').endDate).toBe('2027-06-01T00:00:00Z')
    expect(findingOf(await host.plan(), 'drift', 'B')?.text).toContain('2027-06-01')
  })

  it('what is to end and is gone: the advice is nothing that makes it anew', async () => {
    const { world, host } = await installed(fileOf(entry('A'), entry('B')))
    world.all.splice(1, 1)
    host.file = fileOf(entry('A')) + removed('B', '2026-12-02')

    const held = itemOf(await host.plan(), 'B')?.held
    host.decide().forget('B')

    expect(held).toMatchObject({ code: 'lost', needs: expect.stringMatching(/forget B$/) })
    expect((await host.plan()).items).toEqual([])
  })

  it.each(['revert', 'accept'] as const)(
    'a reopened campaign that the file ends: its advice resolve --%s can be followed',
    async (how) => {
      const { world, host } = await installed(fileOf(entry('A'), entry('B')))
      host.file = fileOf(entry('A')) + removed('B', '2026-12-02')
      await host.daemon()
      world.campaign('48002').endDate = null

      const said = findingOf(await host.plan(), 'drift', 'B')?.needs
      const decided = await host.decide().settle('B', how)
      await host.apply()

      expect(said).toMatch(/^move it from removed: to campaigns:, or: .*--revert, or .*--accept$/)
      expect(decided.kind).toBe('done')
      expect(world.campaign('48002').endDate).toBe(how === 'revert' ? '2026-12-02T00:00:00Z' : null)
      expect(findingOf(await host.plan(), 'drift', 'B')).toBeUndefined()
    },
  )

  it('own late write: taken for ours, and no change by somebody', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.file = fileOf(entry('A').replace('100.00', '120.00'))
    world.trouble = troubles({
      on: 'update',
      times: 1,
      trouble: { kind: 'lost', afterMs: 3 * HOUR },
    })
    await host.daemon()
    host.file = fileOf(entry('A'))
    await host.daemon()

    world.pass(4 * HOUR)
    const run = await host.run()

    expect(run.findings).toEqual([])
    expect(world.campaign('48001').budget).toBe(100)
  })

  it('refused once by a gateway: tried again by the next apply, and by the daemon after a day', async () => {
    const { world, host } = opened(fileOf(entry('A'), entry('B')))
    world.trouble = troubles({
      on: 'create',
      times: 2,
      trouble: { kind: 'fail', failure: failure.refused() },
    })
    await host.apply()

    await host.daemon()
    const early = world.all.length
    await host.apply()

    expect(early).toBe(0)
    expect(world.all).toHaveLength(2)
  })

  it('period and start date: the advice is followed to its end, with a successor of the same key', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.file = fileOf(entry('A', 'period: monthly'))
    const held = itemOf(await host.plan(), 'A')?.held
    expect(held).toMatchObject({
      code: 'fixed',
      needs: expect.stringContaining('campaigns create A --new'),
    })

    await host.decide().isNew('A')
    await host.daemon()
    await host.daemon()
    const plan = await host.plan()

    expect(world.all).toMatchObject([
      { id: '48001', status: 3 },
      { id: '48002', status: 1, period: 1 },
    ])
    expect(plan.summary).toMatchObject({ held: 0, unchanged: 1 })
    expect(plan.findings).toEqual([])
  })

  it('an entry moved back from removed: its advice reopens it, or makes a successor', async () => {
    const { world, host } = await installed(fileOf(entry('A'), entry('B')))
    host.file = `version: 1\n${removed('A', '2026-12-02').replace(']', ', { externalCampaignId: B, endDate: 2026-12-02 }]')}`
    await host.daemon()
    world.pass(5 * 24 * HOUR)
    host.file = fileOf(entry('A'), entry('B'))
    const plan = await host.plan()

    host.file = fileOf(entry('A', 'endDate: none'), entry('B'))
    await host.daemon()
    await host.decide().isNew('B')
    await host.daemon()

    expect(findingOf(plan, 'idle', 'A')?.needs).toMatch(/endDate: none.*campaigns create A --new/)
    expect(world.all.map(({ endDate }) => endDate)).toEqual([null, '2026-12-02T00:00:00Z', null])
    expect((await host.plan()).findings).toEqual([])
  })

  it.each(['before', 'after'] as const)(
    'kill -9 %s an update: it is in the history all the same',
    async (when) => {
      const { world, host } = await installed(fileOf(entry('A')))
      host.file = fileOf(entry('A').replace('100.00', '90.00'))
      world.trouble = troubles({ on: 'update', times: 1, trouble: { kind: 'die', when } })

      await expect(host.daemon()).rejects.toThrow(Killed)
      const [line] = host.store.history({ limit: 1 })
      await host.daemon()
      const [, , ...settled] = host.store.history({ limit: 9 }).toReversed()

      expect(line).toMatchObject({
        action: 'update',
        body: { budget: 90 },
        before: { budget: 100 },
        outcome: 'sending',
      })
      expect(world.campaign('48001').budget).toBe(90)
      expect(settled.every(({ outcome }) => outcome !== 'sending')).toBe(true)
    },
  )

  it('an export plans to unchanged, and nothing is written when it is applied', async () => {
    const world = World.open()
    world.book.knobs.echoTargeting = true
    world.make('Nurses  2027', {
      budget: 1500.5,
      period: 1,
      maxCpc: 0.8,
      targeting: { externalCampaignId: 'NUR', stateProvCodes: ['MA'] },
    })
    world.make('Drivers [old]', { endDate: '2027-03-31T00:00:00', status: 3 })
    world.make('Nurses  2027', { budget: 7 })
    const host = world.host('')
    const listing = await listCampaigns(host.parts().api, world.clock, forever)
    if (listing.kind === 'failure') throw new Error('not listed')
    const { text } = exportCampaigns(listing.campaigns.values(), [])

    expect(readDesired(text)).toMatchObject({ kind: 'desired' })
    host.file = text
    const plan = await host.plan()
    await host.apply()

    expect(plan.summary).toMatchObject({ unchanged: 3, held: 0, update: 0, reduce: 0 })
    expect(world.writes()).toEqual([])
    expect((await host.plan()).items).toEqual([])
    expect(host.store.records().map(({ key }) => key)).toEqual([
      'NUR',
      'campaign-48002',
      'campaign-48003',
    ])
  })

  it('a campaign that the service shows an hour after it was made: nobody is alerted meanwhile', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.listed = () => []
    world.trouble = troubles({ on: 'get', trouble: { kind: 'fail', failure: failure.missing() } })
    await host.apply()

    const first = await host.run()
    world.pass(50 * MINUTE)
    const meanwhile = campaignConditions(await host.run())
    world.pass(11 * MINUTE)
    const later = campaignConditions(await host.run())

    expect(first.waiting).toMatchObject([{ key: 'A', code: 'lost', passes: true }])
    expect(meanwhile).toEqual([])
    expect(later).toMatchObject([{ event: 'campaign-waiting', campaign: 'A' }])
  })
})
