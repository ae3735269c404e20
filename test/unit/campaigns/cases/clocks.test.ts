import { describe, expect, it } from 'vitest'
import { DAY, HOUR } from '../../../../src/lib/clock.ts'
import { entry, fileOf } from '../../../helpers/campaigns/reconciling.ts'
import { failure, installed, troubles } from '../../../helpers/campaigns/world.ts'

const AHEAD = 3000 * DAY
const never = { kind: 'fail', failure: failure.temporary() } as const

describe('a clock that ran ahead and was set right', () => {
  it('a create without an answer: its hour counts from the first word on, and not until that year', async () => {
    const { world, host } = await installed(fileOf(entry('B')))
    host.file = fileOf(entry('B'), entry('K'))
    world.trouble = troubles({ on: 'create', times: 1, trouble: never })
    world.now += AHEAD
    await host.daemon()
    world.now -= AHEAD

    const early = await host.decide().isNew('K')
    world.pass(HOUR)
    const said = await host.decide().isNew('K')
    await host.daemon()

    expect(early).toMatchObject({
      isEarly: true,
      hint: expect.stringContaining(new Date(world.now).toISOString()),
    })
    expect(said).toMatchObject({ kind: 'done' })
    expect(host.store.record('K')).not.toBeNull()
  })

  it('a campaign that was missing then: it is gone after an hour in which nothing shows it', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    const [one] = world.all.splice(0)
    world.now += AHEAD
    await host.daemon()
    world.now -= AHEAD

    const early = await host.decide().isNew('A')
    await host.daemon()
    world.pass(HOUR)
    const said = await host.decide().isNew('A')
    await host.daemon()

    expect(early).toMatchObject({ kind: 'refused', isEarly: true })
    expect(said).toMatchObject({ kind: 'done' })
    expect(host.store.record('A')).toMatchObject({ campaignId: '48002', past: [one?.id] })
  })

  it('a raise that was sent then: it counts as one of the last 24 hours for no longer than that', async () => {
    const costing = (amount: string) => fileOf(entry('A').replace('100.00', amount))
    const { world, host } = await installed(fileOf(entry('A')))
    world.now += AHEAD
    host.file = costing('140.00')
    await host.daemon()
    world.now -= AHEAD
    world.pass(2 * DAY)
    host.file = costing('180.00')

    await host.daemon()

    expect(world.campaign('48001').budget).toBe(180)
  })

  it('a create that was refused then: after a day it needs no approval', async () => {
    const { world, host } = await installed(fileOf(entry('B')))
    host.file = fileOf(entry('B'), entry('K'))
    const refused = { kind: 'fail', failure: failure.refused() } as const
    world.trouble = troubles({ on: 'create', times: 1, trouble: refused })
    world.now += AHEAD
    await host.daemon()
    world.now -= AHEAD
    world.pass(2 * DAY)

    await host.daemon()

    expect(host.store.record('K')).not.toBeNull()
  })
})
