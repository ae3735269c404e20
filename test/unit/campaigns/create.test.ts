import { describe, expect, it } from 'vitest'
import { markOf } from '../../../src/campaigns/mark.ts'
import type { Plan } from '../../../src/campaigns/plan.ts'
import { HOUR, MINUTE } from '../../../src/lib/clock.ts'
import { entry, fileOf, states } from '../../helpers/campaigns/file.ts'
import {
  failure,
  IDENTITY,
  installed,
  Killed,
  NO_FEEDS,
  opened,
  type Trouble,
  troubles,
} from '../../helpers/campaigns/world.ts'

const only = ({ entries: [first] }: Plan) => first
const once = (trouble: Trouble) => troubles({ on: 'create', times: 1, trouble })

describe('a new entry', () => {
  it('creates its campaign with one request, exactly as the plan says, and then has nothing to send', async () => {
    const { world, host } = opened(fileOf(entry('A', `endDate: 2027-03-31\n${states('MA')}`)))

    const { items } = await host.plan()
    const results = await host.apply()

    expect(items).toMatchObject([
      {
        ...{ key: 'A', campaignId: null, action: 'create', postings: null },
        changes: [
          { field: 'name', from: null, to: 'Campaign A' },
          { field: 'budget', from: null, to: '100.00' },
          { field: 'endDate', from: null, to: '2027-03-31' },
          { field: 'targeting', from: null, to: { stateProvCodes: ['MA'] } },
        ],
      },
    ])
    expect(results).toMatchObject([{ action: 'create', campaignId: '48001', outcome: 'done' }])
    expect(world.writes()).toMatchObject([
      {
        body: {
          ...{ name: `Campaign A [#${markOf(IDENTITY, 'A')}]`, budget: 100 },
          ...{ endDate: '2027-03-31T23:59:59Z' },
          targeting: { externalCampaignId: 'A', stateProvCodes: ['MA'] },
        },
      },
    ])
    expect(await host.apply()).toEqual([])
    expect(await host.daemon()).toEqual([])
  })

  it.each(['name', 'budget', 'targeting'])(
    'is not created without %s, and has the next step',
    async (field) => {
      const { world, host } = opened(fileOf(entry('A').replace(RegExp(` *${field}: .*\n`), '')))

      expect(only(await host.plan())).toMatchObject({
        ...{ state: 'blocked', reason: `a campaign is not created without ${field}` },
        next: `write ${field}: into the entry A`,
      })
      await host.apply()
      expect(world.all).toEqual([])
    },
  )

  it('is blocked while a live campaign has its name, with a bind as its next step, and is new after that one is archived', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    const fair = world.make('campaign  A')

    expect(only(await host.plan())).toMatchObject({
      state: 'blocked',
      next: expect.stringContaining('write campaignId: "48001" into the entry A'),
    })
    fair.status = 2
    expect(only(await host.plan())?.state).toBe('new')
  })

  it('is blocked while a live campaign has its mark, even if another entry names that campaign', async () => {
    const { world, host } = opened(fileOf(entry('A'), entry('B', 'campaignId: "48001"')))
    world.make(`Fair [#${markOf(IDENTITY, 'A')}]`)

    expect(only(await host.plan())).toMatchObject({
      state: 'blocked',
      reason: expect.stringContaining('carries our mark and is still live'),
    })
  })

  it('is blocked for an hour after an old database was restored, and is created afterwards', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    const backup = host.backup()
    await host.daemon()
    host.restore(backup, 'database')
    host.file = fileOf(entry('A'), entry('B'))

    expect((await host.plan()).entries[1]).toMatchObject({
      ...{ state: 'blocked', reason: expect.stringContaining('was restored from an older copy') },
    })
    await host.daemon()
    world.pass(HOUR + MINUTE)
    expect(await host.apply()).toMatchObject([{ key: 'B', action: 'create' }])
  })

  it('comes with a warning in the first hour of a database, which does not change the digest', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    const fresh = await host.plan()
    await host.daemon()
    world.pass(HOUR)
    const old = await host.plan()

    expect(fresh.warning).toMatch(/^this database is new: .* might not be listed yet$/)
    expect(old.warning).toBeNull()
    expect(fresh.digest).toBe(old.digest)
  })
})

describe('a create without a known result', () => {
  it.each<[string, Trouble]>([
    ['its answer was lost', { kind: 'lost' }],
    ['the answer was a 503', { kind: 'fail', failure: failure.temporary() }],
  ])('is unknown and not repeated if %s', async (_, trouble) => {
    const { world, host } = opened(fileOf(entry('A')))
    world.trouble = once(trouble)

    expect(await host.apply()).toMatchObject([{ action: 'create', outcome: 'unknown' }])
    expect(world.writes()).toHaveLength(1)
  })

  it('is found by its mark and bound without a change, and its entry is then in line', async () => {
    const { world, host } = opened(fileOf(entry('A', states('MA'))))
    world.trouble = once({ kind: 'lost' })
    await host.apply()

    const { items } = await host.plan()
    expect(items).toMatchObject([{ campaignId: '48001', action: 'bind', changes: [] }])
    expect(await host.apply()).toMatchObject([{ action: 'bind', outcome: 'done' }])
    expect((await host.plan()).entries).toMatchObject([{ state: 'in line' }])
    expect(host.store.openCreations()).toEqual([])
  })

  it('is unknown for an hour, in which the plan has a next step and apply sends nothing, and is then created again', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.trouble = once({ kind: 'fail', failure: failure.temporary() })
    await host.apply()

    expect(only(await host.plan())).toMatchObject({
      ...{
        state: 'unknown',
        reason: expect.stringContaining('created again after 2026-12-01T13:00:00'),
      },
      next: expect.stringMatching(/^wait; .* write its campaignId into the entry A$/),
    })
    expect(await host.apply()).toEqual([])
    world.pass(HOUR + 1)
    expect(await host.apply()).toMatchObject([{ action: 'create', outcome: 'done' }])
    expect(world.all).toHaveLength(1)
  })

  it('is no longer open after a person binds the campaign that the file names', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.book.knobs.listedAfterMs = HOUR
    world.trouble = once({ kind: 'lost' })
    await host.apply()
    host.file = fileOf(entry('A', 'targeting: all\ncampaignId: "48001"'))

    expect(await host.apply()).toMatchObject([{ action: 'bind' }])
    expect(host.store.openCreations()).toEqual([])
  })

  it('has a row if its process was killed, makes its entry unknown, and is ended by the next process', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.trouble = once({ kind: 'die', when: 'before' })

    await expect(host.apply()).rejects.toThrow(Killed)

    expect(host.store.sending()).toMatchObject([{ action: 'create', outcome: 'sending' }])
    expect(only(await host.plan())?.state).toBe('unknown')
    await host.daemon()
    expect(host.store.openCreations()).toMatchObject([
      { outcome: 'unknown', reason: 'the process ended while it sent the request' },
    ])
  })

  it('stays unknown and binds nothing if the answer names a campaign that existed before', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.make('Fair')
    world.shape = (shown, where) => (where === 'written' ? { ...shown, id: '48001' } : shown)

    expect(await host.apply()).toMatchObject([
      { outcome: 'unknown', reason: expect.stringContaining('which existed before') },
    ])
    expect(host.store.bindings()).toEqual([])
  })

  it('stays unknown if the created campaign does not carry our mark, and blocks its entry even two hours later', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.book.knobs.nameLength = 4

    expect(await host.apply()).toMatchObject([
      { outcome: 'unknown', reason: expect.stringContaining('does not carry our mark') },
    ])
    world.pass(2 * HOUR)
    expect(only(await host.plan())).toMatchObject({
      ...{ state: 'blocked', next: expect.stringContaining('write campaignId: "48001"') },
    })
  })
})

it('a refused create is reported, and the next apply sends it again', async () => {
  const { world, host } = opened(fileOf(entry('A')))
  world.trouble = once({ kind: 'fail', failure: failure.refused() })

  expect(await host.apply()).toMatchObject([{ outcome: 'refused', reason: 'answered 422' }])
  expect(await host.apply()).toMatchObject([{ outcome: 'done' }])
})

it('an apply sends no more creates after a 429', async () => {
  const { world, host } = opened(fileOf(entry('A'), entry('B'), entry('C')))
  const trouble = { kind: 'fail', failure: failure.temporary(429) } as const
  world.trouble = ({ kind, body }) =>
    kind === 'create' && String(body?.name).startsWith('Campaign B') ? trouble : null

  expect(await host.apply()).toMatchObject([
    { key: 'A', outcome: 'done' },
    { key: 'B', outcome: 'unknown' },
  ])
})

it('an entry is in line if the service shows its own form of the targeting right after the create', async () => {
  const { world, host } = opened(fileOf(entry('A', 'targeting: { jobTitles: [nurse] }')))
  world.book.knobs.echo = () => ({ externalCampaignId: 'A', jobTitles: 'Nurse (all)' })
  host.feeds = () => NO_FEEDS
  await host.apply()

  expect((await host.plan()).entries).toMatchObject([{ state: 'in line' }])
})
