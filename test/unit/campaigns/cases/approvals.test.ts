import { describe, expect, it } from 'vitest'
import type { Plan } from '../../../../src/campaigns/plan.ts'
import { entry, fileOf } from '../../../helpers/campaigns/reconciling.ts'
import { installed, opened } from '../../../helpers/campaigns/world.ts'

const FILE = fileOf(entry('A'))
const DEAR = fileOf(entry('A').replace('100.00', '5000.00'), entry('B'))

describe('the first plan of a database', () => {
  it('an approved plan of an older file is over, and lets the daemon create nothing', async () => {
    const { world, host } = opened(FILE)
    const approved = await host.plan()
    host.file = DEAR

    const results = await host.apply({ approved })
    await host.daemon()

    expect(results).toMatchObject([{ key: 'A', outcome: 'stale' }])
    expect(host.store.account()?.approvedAt ?? null).toBeNull()
    expect(world.all).toEqual([])
  })

  it('an approved plan of this file lets the daemon go on', async () => {
    const { world, host } = opened(FILE)
    await host.apply({ approved: await host.plan() })
    host.file = fileOf(entry('A'), entry('B'))

    await host.daemon()

    expect(world.all).toHaveLength(2)
  })
})

describe('an approved plan that takes a campaign over', () => {
  it.each([
    ['somebody lowered it', { budget: 70 }],
    ['somebody set an end', { endDate: '2027-01-31T00:00:00Z' }],
  ])('%s since: it is not taken over, and the daemon writes nothing to it', async (_, change) => {
    const { world, host } = await installed(fileOf(entry('B')))
    const theirs = world.make('Old nurses', { budget: 90 })
    host.file = fileOf(entry('B'), entry('A', `campaignId: "${theirs.id}"\nendDate: none`))
    const plan = await host.plan()
    Object.assign(theirs, change)

    const results = await host.apply({ approved: plan })
    await host.daemon()

    expect(results.map(({ outcome }) => outcome)).toEqual(['stale', 'stale', 'stale'])
    expect(host.store.record('A')).toBeNull()
    expect(theirs).toMatchObject({ name: 'Old nurses', budget: 90, ...change })

    world.shape = ({ period: _, ...shown }) => shown
    const kept = host.store.keepPlan(await host.plan(), world.now)
    await host.apply({ approved: host.store.plan(kept) as Plan })
    expect(host.store.record('A')).toMatchObject({ campaignId: theirs.id })
  })
})
