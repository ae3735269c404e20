import { describe, expect, it } from 'vitest'
import { exitCodeOf } from '../../../src/campaigns/plan.ts'
import { DAY, HOUR } from '../../../src/lib/clock.ts'
import { entry, fileOf, states } from '../../helpers/campaigns/file.ts'
import { failure, installed, Killed, opened, troubles } from '../../helpers/campaigns/world.ts'

const refused = { kind: 'fail', failure: failure.refused() } as const
const updates = (world: { writes(): { id: string | null; body: object | null }[] }) =>
  world.writes().flatMap(({ id, body }) => (id === null ? [] : [[id, body]]))

/** changed returns an account with campaigns A and B, where the file lowers A, raises B and adds C. */
async function changed() {
  const given = await installed(fileOf(entry('A'), entry('B')))
  given.world.calls.splice(0)
  given.host.file = fileOf(entry('A', '', '90.00'), entry('B', '', '120.00'), entry('C'))
  return given
}

describe('apply sends', () => {
  it('reductions first, then raises, then creates, reads each campaign before and after, and sends nothing twice', async () => {
    const { world, host } = await changed()
    const { digest } = await host.plan()
    world.calls.splice(0)
    await host.send(digest)

    const order = world.calls.flatMap(({ kind, id }) => (kind === 'search' ? [] : `${kind} ${id}`))
    expect(order).toEqual([
      ...['get 48001', 'get 48002'],
      ...['get 48001', 'update 48001', 'get 48001'],
      ...['get 48002', 'update 48002', 'get 48002'],
      ...['create null', 'get 48003'],
    ])
    expect(updates(world)).toEqual([
      ['48001', { budget: 90 }],
      ['48002', { budget: 120 }],
    ])
    expect(await host.apply()).toEqual([])
  })

  it('the reductions of a campaign before its raises', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.file = fileOf(entry('A', 'endDate: 2027-03-31', '120.00'))
    await host.apply()

    expect(updates(world).map(([, body]) => body)).toEqual([
      { endDate: '2027-03-31T23:59:59Z' },
      { budget: 120 },
    ])
  })

  it('no raise and no create after a reduction failed', async () => {
    const { world, host } = await changed()
    world.trouble = troubles({ on: 'update', id: '48001', trouble: refused })

    expect(await host.apply()).toMatchObject([{ key: 'A', outcome: 'refused' }])
    expect(world.all.map(({ budget }) => budget)).toEqual([100, 100])
  })

  it('only the named entries, without a listing', async () => {
    const { world, host } = await changed()

    expect(await host.apply('B')).toMatchObject([{ key: 'B', outcome: 'done' }])
    expect(world.all.map(({ budget }) => budget)).toEqual([100, 120])
    expect(world.calls.filter(({ kind }) => kind === 'search')).toEqual([])
  })

  it('with --lower only reductions of bound campaigns, without a confirmation, and nothing twice', async () => {
    const { world, host } = await changed()
    world.make('Campaign D')
    host.file += entry('D', 'targeting: all\ncampaignId: "48003"', '10.00')

    expect(await host.lower()).toMatchObject([{ key: 'A', outcome: 'done' }])
    expect(updates(world)).toEqual([['48001', { budget: 90 }]])
    expect(await host.lower()).toEqual([])
  })

  it('a new name with the mark of the campaign', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.file = fileOf(entry('A').replace('Campaign A', 'Nurses'))
    await host.apply()

    expect(world.all[0]?.name).toMatch(/^Nurses \[#[0-9a-z]{10}\]$/)
  })
})

describe('apply sends nothing', () => {
  it('if the plan has changed', async () => {
    const { world, host } = await changed()
    const { digest } = await host.plan()
    world.campaign('48001').budget = 95

    expect(await host.send(digest)).toMatchObject({ kind: 'stale', results: [] })
    expect(world.writes()).toEqual([])
  })

  /** editedWithin changes the budget of A on the service between the look of an apply and its first write. */
  const editedWithin = async (budget: number) => {
    const { world, host } = await changed()
    const { digest } = await host.plan()
    world.calls.splice(0)
    world.trouble = () => {
      const reads = world.calls.filter(({ kind, id }) => kind === 'get' && id === '48001')
      if (reads.length === 2) world.campaign('48001').budget = budget
      return null
    }
    return { world, sent: await host.send(digest) }
  }

  it('to a campaign that changed after the plan, nor to others afterwards, and names the changed field', async () => {
    const { world, sent } = await editedWithin(95)

    expect(sent).toMatchObject({
      results: [
        {
          ...{ key: 'A', outcome: 'stale' },
          reason: 'budget changed on the service since it was planned: plan again',
        },
      ],
    })
    expect(world.writes()).toEqual([])
  })

  it('to a campaign that has the planned value by then, but to the others', async () => {
    const { world } = await editedWithin(90)

    expect(updates(world)).toEqual([['48002', { budget: 120 }]])
  })

  it('more after the file changed', async () => {
    const { world, host } = await changed()
    const { file } = host
    world.trouble = ({ kind }) => {
      if (kind === 'update') host.file = `${file}# saved\n`
      return null
    }

    expect(await host.apply()).toMatchObject([
      { key: 'A', outcome: 'done' },
      { key: 'B', outcome: 'stale', reason: 'the file changed meanwhile: plan again' },
    ])
  })

  it('more after a 429, whose result is unknown', async () => {
    const keys = Array.from({ length: 20 }, (_, n) => `K${n}`)
    const { world, host } = await installed(fileOf(...keys.map((key) => entry(key))))
    host.file = fileOf(...keys.map((key) => entry(key, '', '90.00')))
    const { length } = world.writes()
    world.trouble = troubles({
      ...{ on: 'update', trouble: { kind: 'fail', failure: failure.temporary(429) } },
    })

    const results = await host.apply()
    const sent = world.writes().length - length

    expect(results[0]).toMatchObject({ outcome: 'unknown', reason: 'answered 429' })
    expect(results.length).toBeLessThan(20)
    expect(sent).toBeGreaterThan(0)
    expect(sent).toBeLessThan(20)
  })
})

describe('a write', () => {
  const lower = async () => {
    const given = await installed(fileOf(entry('A')))
    given.host.file = fileOf(entry('A', '', '90.00'))
    given.world.calls.splice(0)
    return given
  }

  it('without an answer is not sent again if the service shows it, and the history says so', async () => {
    const { world, host } = await lower()
    world.trouble = troubles({ on: 'update', trouble: { kind: 'lost' } })

    expect(await host.apply()).toMatchObject([{ outcome: 'done' }])
    expect(updates(world)).toHaveLength(1)
    expect(host.store.history({ limit: 1 })).toMatchObject([
      { outcome: 'done', reason: 'seen on the service afterwards' },
    ])
  })

  it('that did not arrive is sent once more, and then reported', async () => {
    const { world, host } = await lower()
    world.trouble = troubles({
      ...{ on: 'update', trouble: { kind: 'fail', failure: failure.temporary() } },
    })

    expect(await host.apply()).toMatchObject([{ outcome: 'unknown', reason: 'answered 503' }])
    expect(updates(world)).toHaveLength(2)
  })

  it('that is accepted but not carried out is sent once more, then reported, and stays in the plan', async () => {
    const { world, host } = await lower()
    world.book.knobs.ignored = ['budget']

    expect(await host.apply()).toMatchObject([
      {
        outcome: 'not-as-sent',
        reason: 'the service accepted it, but shows another budget',
      },
    ])
    expect(updates(world)).toHaveLength(2)
    expect((await host.plan()).items).toMatchObject([{ key: 'A' }])
  })

  it('is checked by reading the campaign, not by its answer', async () => {
    const { world, host } = await lower()
    world.book.knobs.ignored = ['budget']
    world.shape = (shown, where) => (where === 'written' ? { ...shown, budget: 90 } : shown)

    expect(await host.apply()).toMatchObject([{ outcome: 'not-as-sent' }])
  })

  it('of a killed process has a row, and the next process ends that row and sends nothing if the write arrived', async () => {
    const { world, host } = await lower()
    world.trouble = troubles({ on: 'update', times: 1, trouble: { kind: 'die', when: 'after' } })
    await expect(host.apply()).rejects.toThrow(Killed)

    expect(host.store.sending()).toMatchObject([{ campaignId: '48001', body: { budget: 90 } }])
    expect(await host.apply()).toEqual([])
    expect(host.store.history({ limit: 1 })).toMatchObject([{ outcome: 'unknown' }])
  })

  it('has a row in the history with the person, the change and the values before', async () => {
    const { host } = await lower()
    const { digest } = await host.plan()
    await host.send(digest)

    expect(host.store.history({ key: 'A', limit: 1 })).toMatchObject([
      {
        ...{ action: 'update', campaignId: '48001', body: { budget: 90 }, before: { budget: 100 } },
        ...{ by: `person: apply --plan ${digest}`, outcome: 'done' },
      },
    ])
  })
})

describe('the plan', () => {
  it('writes nothing, and keeps its digest of eight characters as long as it has the same lines', async () => {
    const { world, host } = await changed()
    const first = await host.plan()
    world.pass(DAY)
    const later = await host.plan()
    host.file = fileOf(entry('A', '', '91.00'))
    const other = await host.plan()

    expect(first.digest).toMatch(/^[0-9a-f]{8}$/)
    expect(later.digest).toBe(first.digest)
    expect(other.digest).not.toBe(first.digest)
    expect(world.writes()).toEqual([])
  })

  it('ends with 0 without changes, 2 with changes, and 3 if an entry is blocked', async () => {
    const { host } = await installed(fileOf(entry('A')))
    const codes = [exitCodeOf(await host.plan())]
    host.file = fileOf(entry('A', '', '90.00'))
    codes.push(exitCodeOf(await host.plan()))
    host.file += entry('B', 'campaignId: "1"')
    codes.push(exitCodeOf(await host.plan()))

    expect(codes).toEqual([0, 2, 3])
  })

  it('reads a campaign by id if the listing does not show it yet', async () => {
    const { world, host } = opened(fileOf(entry('A', 'endDate: 2027-03-31')))
    world.book.knobs.listedAfterMs = HOUR
    await host.apply()

    expect((await host.plan()).entries).toMatchObject([{ state: 'in line' }])
  })

  it.each<[string, (shown: Record<string, unknown>) => Record<string, unknown>]>([
    ['a date without a zone', (shown) => ({ ...shown, endDate: '2027-03-31T23:59:59' })],
    ['no end', ({ endDate: _, ...shown }) => shown],
    [
      'values as text',
      (shown) => ({ ...shown, budget: Number(shown.budget).toFixed(2), status: 'Running' }),
    ],
    ['only the id', ({ id }) => ({ id })],
  ])('has no line if the service shows %s', async (_, shape) => {
    const { world, host } = opened(
      fileOf(entry('A', 'endDate: 2027-03-31\nperiod: once', '100.40')),
    )
    await host.apply()
    world.shape = shape

    expect((await host.plan()).items).toEqual([])
  })

  it('has no earlier value for a value that is not known, and counts its change as spending more', async () => {
    const { world, host } = opened(fileOf(entry('A', `campaignId: "48001"\n${states('MA')}`)))
    world.make('Campaign A', { budget: 100 })

    expect((await host.plan()).items).toMatchObject([
      { changes: [{ field: 'targeting', spend: 'up' }] },
    ])
    expect((await host.plan()).items[0]?.changes[0]).not.toHaveProperty('from')
  })
})
