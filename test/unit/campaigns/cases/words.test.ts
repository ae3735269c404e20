import { describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../../../src/lib/clock.ts'
import { entry, fileOf, itemOf } from '../../../helpers/campaigns/reconciling.ts'
import {
  createDirectly,
  failure,
  type Host,
  installed,
  opened,
  troubles,
} from '../../../helpers/campaigns/world.ts'

const neverMade = troubles({
  on: 'create',
  trouble: { kind: 'fail', failure: failure.temporary() },
})

/** `campaigns create` of a person; its name carries no mark. */
const direct = (host: Host, key: string, name = `Fair ${key}`) =>
  createDirectly(host.person(), { name, budget: 50, targeting: { externalCampaignId: key } }, false)

describe('a create without an answer, and campaigns of others', () => {
  it('a direct create without a mark: no campaign of others is called the one that it made', async () => {
    const { world, host } = await installed(fileOf(entry('B')))
    world.make('Spring fair', { budget: 4000 })
    world.trouble = neverMade
    await direct(host, 'K')
    world.trouble = () => null
    host.file = fileOf(entry('B'), entry('K'))

    const early = await host.decide().isNew('K')
    world.pass(HOUR)
    const said = await host.decide().isNew('K')
    await host.daemon()

    expect(early).toMatchObject({ kind: 'refused', isEarly: true })
    expect(said).toMatchObject({ kind: 'done' })
    expect(world.all.map(({ name }) => name.slice(0, 11))).toEqual([
      ...['Campaign B ', 'Spring fair', 'Campaign K '],
    ])
  })

  it('a mark that somebody copied into another name: the campaign of that entry is not taken for it', async () => {
    const { world, host } = await installed(fileOf(entry('B')))
    world.trouble = neverMade
    await direct(host, 'K', world.campaign('48001').name)
    world.trouble = () => null
    host.file = fileOf(entry('B'), entry('K'))
    world.pass(HOUR)

    expect(await host.decide().isNew('K')).toMatchObject({ kind: 'done' })
  })

  it('another campaign is adopted meanwhile: nothing of what the create sent counts as written there', async () => {
    const { world, host } = opened(fileOf(entry('A', 'targeting: { stateProvCodes: [MA] }')))
    const old = world.make('Old nurses', { budget: 100, targeting: {} })
    await host.daemon()
    await host.decide().isNew('A')
    world.trouble = neverMade
    await host.apply()
    world.trouble = () => null
    world.pass(2 * HOUR)

    await host.decide().adopt('A', old.id)
    const record = host.store.record('A')
    const { items } = await host.plan()
    await host.apply()

    expect(record).toMatchObject({ origin: 'adopted', written: {}, targeting: null, token: null })
    expect(host.newestCreate('A')).toMatchObject({ outcome: 'given-up' })
    expect(items.map(({ body }) => Object.keys(body ?? {}))).toEqual([['name'], ['targeting']])
    expect(world.campaign(old.id).targeting).toMatchObject({ stateProvCodes: ['MA'] })
    expect(world.all).toHaveLength(1)
  })

  it('the campaign that the create made is adopted by hand: its mark proves what was written', async () => {
    const { world, host } = opened(fileOf(entry('A', 'targeting: { stateProvCodes: [MA] }')))
    world.listed = () => []
    world.trouble = troubles({ on: 'create', times: 1, trouble: { kind: 'lost' } })
    await host.apply()

    await host.decide().adopt('A', '48001')
    const plan = await host.plan()

    expect(host.store.record('A')).toMatchObject({
      origin: 'recovered',
      written: { budget: 1000000 },
    })
    expect(host.newestCreate('A')).toMatchObject({ outcome: 'done', campaignId: '48001' })
    expect(plan.items).toEqual([])
  })
})

describe('create --new was said too soon', () => {
  it('a new entry is taken out of the file, and comes back days later: it waits again', async () => {
    const { world, host } = await installed(fileOf(entry('B')))
    world.make('Campaign A')
    const both = fileOf(entry('B'), entry('A'))
    host.file = both
    await host.decide().isNew('A')

    host.file = fileOf(entry('B'))
    await host.daemon()
    world.pass(5 * DAY)
    host.file = both
    await host.daemon()

    expect(itemOf(await host.plan(), 'A')?.held).toMatchObject({ code: 'absence' })
    expect(world.all).toHaveLength(2)
  })

  it('a successor was asked for, and the entry is taken out: the campaign goes on when it comes back', async () => {
    const both = fileOf(entry('A'), entry('B'))
    const { world, host } = await installed(both)
    await host.decide().isNew('A')

    host.file = fileOf(entry('B'))
    await host.run('report')
    world.pass(5 * DAY)
    host.file = both
    await host.daemon()

    expect(world.all.map(({ status }) => status)).toEqual([1, 1])
    expect((await host.plan()).items).toEqual([])
    expect(host.store.history({ key: 'A', limit: 1 })).toMatchObject([
      { action: 'decision', why: 'the entry is not in the file, so it is not made anew' },
    ])
  })

  it('the entry is taken out while its successor has no answer: that one is still looked for', async () => {
    const both = fileOf(entry('A'), entry('B'))
    const { world, host } = await installed(both)
    await host.decide().isNew('A')
    const late = { kind: 'lost', afterMs: 10 * MINUTE } as const
    world.trouble = troubles({ on: 'create', trouble: late })
    await host.daemon()

    host.file = fileOf(entry('B'))
    await host.daemon()
    world.pass(HOUR)
    await host.daemon()

    expect(host.store.record('A')).toMatchObject({ campaignId: '48003', past: ['48001'] })
    expect(host.newestCreate('A')).toMatchObject({ outcome: 'done' })
  })

  it('the entry gets another key while its successor has no answer: no other one is made for that key', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    await host.decide().isNew('A')
    const late = { kind: 'lost', afterMs: 10 * MINUTE } as const
    world.trouble = troubles({ on: 'create', trouble: late })
    await host.daemon()
    host.file = fileOf(entry('NEW', 'campaignId: "48001"'))

    for (let n = 0; n < 3; n++) await host.apply()

    expect(world.calls.filter(({ kind }) => kind === 'create')).toHaveLength(2)
    expect(host.store.record('NEW')).toMatchObject({ campaignId: '48001', succeeding: false })
  })

  it('adopt KEY ID with its own campaign takes the word back', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    await host.decide().isNew('A')

    const said = await host.decide().adopt('A', '48001')
    await host.daemon()
    const again = await host.decide().adopt('A', '48001')

    expect(said).toMatchObject({ kind: 'done', campaignId: '48001' })
    expect(again).toMatchObject({ kind: 'refused' })
    expect(world.all.map(({ status }) => status)).toEqual([1])
    expect(host.store.record('A')).toMatchObject({ succeeding: false, origin: 'created' })
    expect((await host.plan()).items).toEqual([])
  })

  it('adopt KEY ID while the successor has no answer ends the wait for it', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    await host.decide().isNew('A')
    world.trouble = neverMade
    await host.daemon()

    await host.decide().adopt('A', '48001')
    const plan = await host.plan()

    expect(host.newestCreate('A')).toMatchObject({ outcome: 'given-up' })
    expect(plan.summary.unknown).toBe(0)
    expect(plan.exposure.before).toBe('100.00')
  })
})

describe('create --new that would lead nowhere', () => {
  it('the entry names its campaign: the edit is asked for before anything is paused or made', async () => {
    const file = fileOf(entry('A', 'campaignId: "48001"'))
    const { world, host } = await installed(fileOf(entry('A')))
    host.file = file
    await host.daemon()

    const said = await host.decide().isNew('A')
    await host.daemon()
    host.file = fileOf(entry('A'))
    const again = await host.decide().isNew('A')

    expect(said).toMatchObject({
      kind: 'refused',
      reason: 'the entry names campaign 48001',
      hint: 'take campaignId out of the entry, then say it again',
    })
    expect(again.kind).toBe('done')
    expect(world.all.map(({ status }) => status)).toEqual([1])
  })

  it('the entry names its campaign after the word: no successor is made that nothing could be written to', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    await host.decide().isNew('A')
    host.file = fileOf(entry('A', 'campaignId: "48001"'))
    for (let n = 0; n < 3; n++) await host.daemon()
    const held = itemOf(await host.plan(), 'A')?.held

    expect(held).toMatchObject({
      code: 'conflict',
      needs: expect.stringContaining('take campaignId out of the entry'),
    })
    expect(world.all).toHaveLength(1)
    await host.decide().adopt('A', '48001')
    expect((await host.plan()).summary.held).toBe(0)
  })

  it('forget KEY while its create has no answer: it is no campaign, and nothing is given up', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.trouble = neverMade
    await host.apply()

    const said = host.decide().forget('A')

    expect(said).toMatchObject({
      kind: 'refused',
      reason: 'whether a campaign of A was created is not known',
      hint: expect.stringContaining('campaigns create A --new'),
    })
    expect(host.store.others()).toEqual([])
  })
})

describe('a direct create that was answered', () => {
  it('its key becomes an entry: our own history has the campaign, and no second one is made', async () => {
    const { world, host } = await installed(fileOf(entry('B')))
    await direct(host, 'K')
    host.file = fileOf(entry('B'), entry('K'))

    await host.daemon()
    const held = itemOf(await host.plan(), 'K')?.held

    expect(world.all).toHaveLength(2)
    expect(held).toMatchObject({
      code: 'absence',
      needs: expect.stringContaining('campaigns adopt K 48002'),
    })
    expect(await host.decide().isNew('K')).toMatchObject({ kind: 'done' })
    await host.daemon()
    expect(world.all).toHaveLength(3)
  })

  it('while lists do not show it yet, its entry waits; after an hour it is gone', async () => {
    const { world, host } = await installed(fileOf(entry('B')))
    await direct(host, 'K')
    world.listed = (all) => all.slice(0, 1)
    host.file = fileOf(entry('B'), entry('K'))

    await host.daemon()
    const held = itemOf(await host.plan(), 'K')?.held
    const before = world.all.length
    world.pass(HOUR)
    await host.daemon()

    expect(held).toMatchObject({ code: 'later', reason: expect.stringContaining('48002') })
    expect([before, world.all.length]).toEqual([2, 3])
  })
})
