import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE } from '../../../../src/lib/clock.ts'
import { entry, fileOf } from '../../../helpers/campaigns/reconciling.ts'
import { installed, troubles } from '../../../helpers/campaigns/world.ts'

const FILE = fileOf(entry('A'))

const late = { kind: 'lost', afterMs: 10 * MINUTE } as const

describe('the mark of a campaign that is there already', () => {
  it('is not used again after a lost database: the old campaign is not taken for the new one', async () => {
    const { world, host } = await installed(FILE)
    world.campaign('48001').status = 2
    host.lose()
    await host.daemon()
    await host.decide().isNew('A')
    world.trouble = troubles({ on: 'create', times: 1, trouble: late })

    const results = await host.apply()
    world.pass(HOUR)
    await host.daemon()

    expect(results).toMatchObject([{ key: 'A', outcome: 'unknown' }])
    expect(host.store.record('A')).toMatchObject({ campaignId: '48002' })
    expect(new Set(world.all.map(({ name }) => name)).size).toBe(2)
  })

  it('given up with `forget ID`: the new campaign of the entry has a mark of its own', async () => {
    const { world, host } = await installed(FILE)
    host.lose()
    await host.daemon()
    host.decide().forget('48001')
    await host.decide().isNew('A')
    world.trouble = troubles({ on: 'create', times: 1, trouble: late })

    await host.apply()
    world.pass(HOUR)
    await host.daemon()

    expect(host.store.record('A')).toMatchObject({ campaignId: '48002' })
  })
})
