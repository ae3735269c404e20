import { describe, expect, it } from 'vitest'
import { markOf } from '../../../src/campaigns/mark.ts'
import type { Plan } from '../../../src/campaigns/plan.ts'
import { HOUR } from '../../../src/lib/clock.ts'
import { entry, fileOf, states } from '../../helpers/campaigns/file.ts'
import { failure, IDENTITY, installed, opened, troubles } from '../../helpers/campaigns/world.ts'

const entryOf = (plan: Plan, key = 'A') => plan.entries.find((one) => one.key === key)
const marked = (key: string) => `Campaign ${key} [#${markOf(IDENTITY, key)}]`
const echo = (targeting: unknown) => targeting
const bound = 'targeting: all\ncampaignId: "48001"'

describe('an entry finds its campaign', () => {
  it('by campaignId in the file, under any name, and gives it a new name without a mark', async () => {
    const { world, host } = opened(fileOf(entry('A', bound)))
    world.make('Old fair')

    const { items } = await host.plan()
    await host.apply()

    expect(items).toMatchObject([{ key: 'A', campaignId: '48001', action: 'bind' }])
    expect(host.store.binding('A')).toMatchObject({ campaignId: '48001', accountId: IDENTITY })
    // A bind adds no mark: a person created this campaign.
    expect(world.campaign('48001').name).toBe('Campaign A')
  })

  it('by its binding in the database, even after a rename on the service', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    world.campaign('48001').name = 'Something else'

    expect((await host.plan()).items).toMatchObject([
      { campaignId: '48001', action: 'update', changes: [{ field: 'name' }] },
    ])
  })

  it('as the only live campaign whose shown targeting carries its id', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.book.knobs.echo = echo
    world.make('Old', { targeting: { externalCampaignId: 'A' }, status: 2 })
    world.make('Young', { targeting: { externalCampaignId: 'A' } })
    world.make('Other', { targeting: { externalCampaignId: 'a' } })

    expect((await host.plan()).items).toMatchObject([{ campaignId: '48002', action: 'bind' }])
  })

  it('as the only live campaign with our mark, if the service does not show targeting', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.make(marked('A'), { endDate: '2026-01-01T00:00:00Z' })
    world.make(marked('A'), { status: 3 })

    expect((await host.plan()).items).toMatchObject([{ campaignId: '48002', action: 'bind' }])
  })

  it('by campaignId after its key was renamed, with no change but the id in the targeting, and then has nothing to send', async () => {
    const { host } = await installed(fileOf(entry('A')))
    host.file = fileOf(
      entry('B', `name: Campaign A\n${bound}`).replace('name: Campaign B\n    ', ''),
    )

    const { items } = await host.plan()
    await host.apply()

    expect(items).toMatchObject([
      { key: 'B', campaignId: '48001', action: 'bind', changes: [{ field: 'targeting' }] },
    ])
    expect(host.store.bindings()).toMatchObject([{ key: 'B', campaignId: '48001' }])
    expect(await host.apply()).toEqual([])
  })

  it('and the same apply binds it and sends its changes, which count as spending more', async () => {
    const { world, host } = opened(fileOf(entry('A', `${states('MA')}\ncampaignId: "48001"`)))
    world.make('Campaign A')

    const { items } = await host.plan()
    const results = await host.apply()

    expect(items[0]?.changes.map(({ field, spend }) => [field, spend])).toEqual([
      ['budget', 'up'],
      ['targeting', 'up'],
    ])
    expect(results).toMatchObject([
      { action: 'bind', outcome: 'done' },
      { action: 'update', outcome: 'done' },
    ])
    expect(world.campaign('48001')).toMatchObject({
      ...{ budget: 100, targeting: { externalCampaignId: 'A', stateProvCodes: ['MA'] } },
    })
  })

  it('and all binds are one transaction, before anything is sent', async () => {
    const { world, host } = opened(
      fileOf(entry('A', bound), entry('B', bound.replace('48001', '48002'))),
    )
    world.make('Campaign A')
    world.make('Campaign B')
    let saves = 0
    host.wrap = (store) => ({
      ...store,
      save: (binding) => {
        if (++saves === 2) throw new Error('a full disk')
        store.save(binding)
      },
    })

    await expect(host.apply()).rejects.toThrow('a full disk')
    host.restart()

    expect(host.store.bindings()).toEqual([])
    expect(world.writes()).toEqual([])
  })
})

describe('an entry is blocked and names one next step', () => {
  const blocked = async (given: ReturnType<typeof opened>, key = 'A') => {
    const before = given.world.writes().length
    const plan = await given.host.plan()
    await given.host.apply()
    expect(given.world.writes()).toHaveLength(before)
    expect(entryOf(plan, key)?.state).toBe('blocked')
    return `${entryOf(plan, key)?.reason} -> ${entryOf(plan, key)?.next}`
  }

  it('if two campaigns fit it', async () => {
    const given = opened(fileOf(entry('A')))
    given.world.make(marked('A'))
    given.world.make(marked('A'))

    expect(await blocked(given)).toMatch(
      /^2 campaigns fit this entry: 48001 .*, 48002 .* -> write campaignId: "48001" into the entry A/,
    )
  })

  it('if its campaign carries the mark of another entry', async () => {
    const given = opened(fileOf(entry('A', bound)))
    given.world.make(marked('B'))

    expect(await blocked(given)).toMatch(
      /^the name of campaign 48001 carries the mark of another entry.* -> correct campaignId/,
    )
  })

  it('if the campaign with its id carries the mark of another entry', async () => {
    const given = opened(fileOf(entry('A')))
    given.world.book.knobs.echo = echo
    given.world.make(marked('B'), { targeting: { externalCampaignId: 'A' } })

    expect(await blocked(given)).toContain('carries the mark of another entry')
  })

  it('if its campaignId names the campaign of another entry', async () => {
    const given = await installed(fileOf(entry('A')))
    given.host.file = fileOf(entry('A'), entry('B', bound))

    expect(await blocked(given, 'B')).toBe(
      'campaign 48001 belongs to the entry A -> correct campaignId in the entry B',
    )
  })

  it('if its campaign is gone', async () => {
    const given = await installed(fileOf(entry('A')))
    given.world.all.splice(0)

    expect(await blocked(given)).toBe('campaign 48001 is gone -> feedsyncd campaigns forget A')
  })

  it('if its campaign is archived', async () => {
    const given = await installed(fileOf(entry('A', '', '90.00')))
    given.world.campaign('48001').status = 2

    expect(await blocked(given)).toMatch(/is archived -> feedsyncd campaigns forget A$/)
  })

  it.each([
    ['of another account', { accountId: '9' }, /belongs to the account 9/],
    ['with another start', { startDate: '2020-01-01T00:00:00Z' }, /starts at 2020-01-01/],
    ['with another mark', { name: marked('Z') }, /carries the mark of another entry/],
  ])('if the service shows a campaign %s under its id', async (_, other, why) => {
    const given = await installed(fileOf(entry('A')))
    given.host.file = fileOf(entry('A', '', '90.00'))
    given.world.shape = (shown) => ({ ...shown, ...other })

    expect(await blocked(given)).toMatch(why)
  })

  it.each([
    ['period', 'once', 'monthly'],
    ['startDate', '2026-12-05', '2026-12-06'],
  ])('if %s differs, because the service does not change it', async (field, before, after) => {
    const given = await installed(fileOf(entry('A', `${field}: ${before}`)))
    given.host.file = fileOf(entry('A', `${field}: ${after}`, '200.00'))

    expect(await blocked(given)).toBe(
      `the service does not change ${field} after creation: the campaign has ${before}, the file says ${after} -> write ${field}: ${before} in the entry A`,
    )
  })

  it('if its campaign cannot be read', async () => {
    const given = await installed(fileOf(entry('A')))
    given.world.all.splice(0)
    given.world.trouble = troubles({
      ...{ on: 'get', trouble: { kind: 'fail', failure: failure.temporary() } },
    })

    expect(await blocked(given)).toBe(
      'campaign 48001 cannot be read: answered 503 -> feedsyncd campaigns plan',
    )
  })

  it('if the listing is not complete, because its campaign might be missing there', async () => {
    const given = opened(fileOf(entry('A')))
    given.world.book.knobs.fromCache = true

    expect(await blocked(given)).toMatch(/^the listing is not complete/)
  })
})

describe('a forgotten campaign', () => {
  it('is not bound again by its mark, and its key gets no second campaign', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.forget('A')

    expect(entryOf(await host.plan())).toMatchObject({
      ...{ state: 'blocked', reason: expect.stringContaining('was forgotten and is still live') },
      next: 'end the campaign on the service, or write campaignId: "48001" into the entry A',
    })
    expect(await host.apply()).toEqual([])
    expect(world.all).toHaveLength(1)
  })

  it('can be bound again by campaignId', async () => {
    const { host } = await installed(fileOf(entry('A')))
    host.forget('A')
    host.file = fileOf(entry('A', bound))

    expect(await host.apply()).toMatchObject([{ action: 'bind' }, { action: 'update' }])
  })

  it('can have a successor after it is archived', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    world.campaign('48001').status = 2
    host.forget('A')

    expect(await host.apply()).toMatchObject([{ action: 'create', campaignId: '48002' }])
  })

  it('blocks its entry even if a late listing does not show it, or if it cannot be read', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.book.knobs.listedAfterMs = HOUR
    await host.apply()
    host.forget('A')

    expect(entryOf(await host.plan())?.reason).toContain('was forgotten')
    world.trouble = troubles({
      ...{ on: 'get', trouble: { kind: 'fail', failure: failure.temporary() } },
    })
    expect(entryOf(await host.plan())?.reason).toMatch(
      /^the forgotten campaign 48001 cannot be read/,
    )
  })

  it('is also the earlier campaign of an entry that a person binds to another, and is reported as a second one', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    world.make('Campaign A2')
    host.file = fileOf(entry('A', bound.replace('48001', '48002')))

    await host.apply()

    expect([...host.store.released()]).toEqual([['48001', 'A']])
    expect(host.store.bindings()).toMatchObject([{ key: 'A', campaignId: '48002' }])
    expect((await host.plan()).findings).toMatchObject([{ code: 'twin', campaignId: '48001' }])
  })
})
