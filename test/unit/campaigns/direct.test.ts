import { describe, expect, it } from 'vitest'
import { createDirectly, updateDirectly } from '../../../src/campaigns/direct.ts'
import { Recorder } from '../../../src/campaigns/recorder.ts'
import { HOUR } from '../../../src/lib/clock.ts'
import { forever, granted } from '../../helpers/campaigns/account.ts'
import { entry, fileOf, states } from '../../helpers/campaigns/file.ts'
import {
  failure,
  type Host,
  installed,
  opened,
  troubles,
  type World,
} from '../../helpers/campaigns/world.ts'

function toolsOf(world: World, host: Host) {
  const { clock } = world
  const { store } = host
  const by = 'maria: campaigns update'
  return {
    api: world.api(),
    store,
    clock,
    recorder: new Recorder({ store, clock, actor: 'person', by }),
  }
}
const there = async (world: World, id: string) => granted(await world.api().get(id, forever))

describe('a direct call', () => {
  it('has a row in the history, with the person and the values before, and the next plan knows its value', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    const campaign = await there(world, '48001')

    granted(await updateDirectly({ campaign, body: { budget: 70 } }, toolsOf(world, host), forever))

    expect(host.store.history({ key: 'A', limit: 1 })).toMatchObject([
      {
        ...{ campaignId: '48001', action: 'update', body: { budget: 70 } },
        ...{ before: { budget: 100 }, by: 'maria: campaigns update', outcome: 'done' },
      },
    ])
    expect((await host.plan()).items).toMatchObject([{ changes: [{ from: '70.00' }] }])
  })

  it('makes the entry differ if it widens the targeting', async () => {
    const { world, host } = await installed(fileOf(entry('A', states('MA'))))
    const targeting = { externalCampaignId: 'A' }

    const campaign = await there(world, '48001')
    await updateDirectly({ campaign, body: { targeting } }, toolsOf(world, host), forever)

    expect((await host.plan()).items).toMatchObject([{ changes: [{ field: 'targeting' }] }])
  })

  it('is unknown without an answer, and the daemon then sends the file’s targeting after an hour', async () => {
    const { world, host } = await installed(fileOf(entry('A', states('MA'))))
    const campaign = await there(world, '48001')
    const targeting = { externalCampaignId: 'A' }
    world.trouble = troubles({ on: 'update', times: 1, trouble: { kind: 'lost' } })

    await updateDirectly({ campaign, body: { targeting } }, toolsOf(world, host), forever)
    world.pass(HOUR)

    expect(host.store.history({ limit: 1 })).toMatchObject([{ outcome: 'unknown' }])
    expect(await host.daemon()).toMatchObject([{ outcome: 'done' }])
    expect(world.campaign('48001').targeting).toMatchObject({ stateProvCodes: ['MA'] })
  })

  it('binds no campaign, and a create without an answer makes the entry unknown', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.trouble = troubles({
      ...{ on: 'create', times: 1, trouble: { kind: 'fail', failure: failure.temporary() } },
    })
    const body = { name: 'Fair', targeting: { externalCampaignId: 'A' } }

    await createDirectly(body, toolsOf(world, host), forever)
    const [held] = (await host.plan()).entries
    granted(await createDirectly({ ...body, name: 'Fair 2' }, toolsOf(world, host), forever))

    expect(held?.state).toBe('unknown')
    expect(host.store.bindings()).toEqual([])
  })
})
